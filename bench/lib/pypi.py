"""Packages from PyPI, each in a virtual environment of its own under .cache: nothing is installed where others see it."""

import pathlib
import subprocess
import sys
import venv

CACHE = pathlib.Path(__file__).resolve().parent.parent.parent / ".cache"


def install(name, version, home, otherwise):
    """`home`, with that version in it; `otherwise` tells what to do where there is no way to PyPI."""
    ready = home / f"ready-{version}"
    if not ready.exists():
        print(f"installing {name} {version} from PyPI into {home}", file=sys.stderr, flush=True)
        venv.create(home, with_pip=True, clear=True)
        done = subprocess.run([home / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                               f"{name}=={version}"])
        if done.returncode != 0:
            sys.exit(f"pip could not install {name}=={version}, see its message above; {otherwise}")
        ready.touch()
    return home
