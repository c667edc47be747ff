#!/usr/bin/env python3
"""exports.py LIBRARY: the library exports the names of the ABI and of mpix.h and no other, each MPI_ name weak beside PMPI_."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
abi = {f["name"] for f in json.loads((ROOT / "abi/mpi-abi.json").read_text())["functions"]}
functions = len(abi)
abi |= set(re.findall(r"\bMPIX_\w+(?=\()", (ROOT / "include/mpix.h").read_text()))  # what Heddle offers beyond it

symbols = {}
for line in subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True, capture_output=True,
                           text=True).stdout.splitlines():
    address, kind, name = line.split()
    symbols[name.split("@")[0]] = (address, kind)

wrong = [f"{n}: not exported" for f in sorted(abi) for n in (f, "P" + f) if n not in symbols]
wrong += [f"{n}: exported, but not of the ABI" for n in sorted(symbols)
          if n not in abi and not (n[:1] == "P" and n[1:] in abi)]
for name in sorted(abi & symbols.keys()):
    if symbols[name][1] != "W":
        wrong.append(f"{name}: not weak ({symbols[name][1]})")
    if symbols.get("P" + name, ("", ""))[1] != "T":
        wrong.append(f"P{name}: not a plain function")
    if symbols[name][0] != symbols.get("P" + name, ("", ""))[0]:
        wrong.append(f"{name}: not the same function as P{name}")

# Nothing inside goes by way of a name that a tool may have taken.
for line in subprocess.run(["readelf", "-rW", sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines():
    if match := re.search(r"\bP?MPIX?_\w+", line):
        wrong.append(f"the library itself calls {match[0]} by its name")

# What a system may lack is loaded when it is asked for.
for line in subprocess.run(["readelf", "-d", sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines():
    if "(NEEDED)" in line and re.search("hwloc|fabric|pmi", line):
        wrong.append(f"the library cannot be loaded without {line.split('[')[1].rstrip(']')}")

print("\n".join(wrong))
print(f"{len(symbols)} names exported, {2 * len(abi)} in the ABI and in mpix.h")
sys.exit(1 if wrong or functions != 664 else 0)
