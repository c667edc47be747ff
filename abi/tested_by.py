#!/usr/bin/env python3
"""Holds abi/missing.txt to its word: a procedure that is not in it is called by a test.

  abi/tested_by.py         names each procedure that is neither missing nor called in tests/; exit 1 if there is one
  abi/tested_by.py NAME    the tests that call this procedure
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = re.compile(r"\bP?(MPI_[A-Z][A-Za-z0-9_]*)\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)



def preprocessed(source):
    """What the compiler sees of the file itself, so that names which a macro pastes together count."""
    done = subprocess.run(["cc", "-E", f"-I{ROOT / 'include'}", str(source)], capture_output=True, text=True)
    kept, own = [], False
    for line in done.stdout.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = marker[1].startswith(str(ROOT / "tests"))
        elif own:
            kept.append(line)
    return "\n".join(kept)


# The sweep of bad input calls everything, and looks at no result.
SWEEP = ROOT / "tests/bindings/generated"

callers = {}
for source in sorted((ROOT / "tests").rglob("*")):
    if source.parent != SWEEP and source.suffix in (".c", ".cpp"):
        text = preprocessed(source) if source.suffix == ".c" else source.read_text()
        for name in NAME.findall(COMMENT.sub(" ", text)):
            callers.setdefault(name, set()).add(str(source.relative_to(ROOT)))

if len(sys.argv) > 1:
    print("\n".join(sorted(callers.get(sys.argv[1], {"no test calls it"}))))
    sys.exit(0 if sys.argv[1] in callers else 1)

missing = set((ROOT / "abi/missing.txt").read_text().split())
names = [f["name"] for f in json.loads((ROOT / "abi/mpi-abi.json").read_text())["functions"]]
untested = [n for n in names if n not in missing and n not in callers]
for name in untested:
    print(f"{name}: no test calls it; add one, or put it back into abi/missing.txt")
print(f"{len(names) - len(missing)} procedures are there, {len(untested)} of them untested, {len(missing)} missing")
sys.exit(1 if untested else 0)
