"""For the check_* scripts: the project's source files, and many commands at once."""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def tracked(*suffixes, generated=True):
    """Files that git knows or would add, by suffix."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.splitlines()
    return sorted(pathlib.Path(name) for name in set(listed)
                  if name.endswith(suffixes) and (ROOT / name).is_file() and (generated or not is_generated(name)))


def is_generated(name):
    return "/generated/" in name or name == "include/mpi.h"


def layers():
    """Lowest first, as cmake/layers.cmake has them."""
    for line in (ROOT / "cmake/layers.cmake").read_text().splitlines():
        if line.startswith("set(HEDDLE_LAYERS "):
            return line[len("set(HEDDLE_LAYERS "):].rstrip(")").split()
    sys.exit("cmake/layers.cmake has no line set(HEDDLE_LAYERS ...)")


def run_all(jobs):
    """[(name, command)] → the names that failed, each with its output printed. As many at once as there are cores."""
    def run(job):
        name, command = job
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return (name, done.stdout) if done.returncode else None

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        failed = [result for result in pool.map(run, jobs) if result]
    for name, output in failed:
        print(f"{name}:\n{output}")
    return [name for name, _ in failed]


# Folders whose every source clang compiles (scripts/check_thread_safety).
LIBRARY = ("src", "overlay", "launcher", "tools")

# Debian has it apart from other headers.
PMIX = [f"-I{path.parent}" for path in sorted(pathlib.Path("/usr/lib").glob("*/pmix2/include/pmix.h"))]
INCLUDES = ["-Isrc", "-Iinclude", "-Ilauncher", "-Itools", "-Itests", "-Ibench/patterns", "-Ioverlay", "-D_GNU_SOURCE",
            '-DHEDDLE_VERSION="0"', '-DHEDDLE_LIBDIR="lib"', *PMIX]
