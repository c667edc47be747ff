#!/usr/bin/env python3
"""exports.py LIBRARY CC CXX: the library exports what portals4.h declares and no other name; the header is C and C++; each
function and each kind of event is in some program of this folder, and docs/portals.md shows the program that is tested."""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
library, cc, cxx = sys.argv[1:]
header = (ROOT / "include/portals4.h").read_text()
programs = "\n".join(path.read_text() for path in HERE.glob("*.[ch]"))

declared = set(re.findall(r"^(?:int|void) (Ptl\w+)\(", header, re.M))
exported = {line.split()[2].split("@")[0]
            for line in subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                                       text=True).stdout.splitlines() if line.split()[1] != "A"}
events = re.findall(r"^  (PTL_EVENT_\w+)(?: = 0)?,?(?= |$)", header, re.M)
counts = {"functions": (len(declared), 55), "events": (len(events), 16)}
for enum, expected in (("ptl_op_t", 18), ("ptl_datatype_t", 14)):
    body = re.search(r"typedef enum PTL_OPEN_ENUM \{([^{}]*)\} " + enum, header)[1]
    counts[enum] = (len(re.findall(r"^  PTL_\w+", body, re.M)), expected)

wrong = [f"{name}: declared, but not exported" for name in sorted(declared - exported)]
wrong += [f"{name}: exported, but not declared" for name in sorted(exported - declared)]
wrong += [f"{name}: in no program" for name in [*sorted(declared), *events] if not re.search(rf"\b{name}\b", programs)]
wrong += [f"{len_} {what}, not {expected}" for what, (len_, expected) in counts.items() if len_ != expected]
if "[libportals.so.4]" not in subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout:
    wrong.append("the library's name is not libportals.so.4")
if (HERE / "example.c").read_text().partition("*/\n")[2] not in (ROOT / "docs/portals.md").read_text():
    wrong.append("the program in docs/portals.md is not example.c")
for compiler, language in ((cc, "-std=c99"), (cxx, "-std=c++11")):
    done = subprocess.run([compiler, language, "-Wall", "-Wextra", "-pedantic", "-Werror", "-x", "c" if language == "-std=c99" else "c++",
                           "-fsyntax-only", str(ROOT / "include/portals4.h")], capture_output=True, text=True)
    if done.returncode != 0:
        wrong.append(done.stderr)

print("\n".join(wrong))
print(f"{len(exported)} names exported, {len(declared)} declared")
sys.exit(1 if wrong else 0)
