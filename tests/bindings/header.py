#!/usr/bin/env python3
"""header.py CC CXX...: mpi.h compiles under every standard that it promises, and each constant has the ABI's value.

Further arguments are pairs of a C and a C++ compiler; one that is not installed is skipped with a word.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ABI = json.loads((ROOT / "abi/mpi-abi.json").read_text())
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", "-c"]

USE = """
#include <mpi.h>
int use(void);
int use(void) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Status status;
  status.MPI_TAG = MPI_ANY_TAG;
  return MPI_Barrier(comm) + PMPI_Barrier(comm) + status.MPI_TAG + (MPI_COMM_DUP_FN != MPI_COMM_NULL_COPY_FN);
}
"""

OWN_FINT = USE + """
typedef long MPI_Fint;
MPI_Fint MPI_Comm_c2f(MPI_Comm comm);
MPI_Fint MPI_Comm_c2f(MPI_Comm comm) { return MPI_Comm_toint(comm); }
"""


def constants():
    """A program that compares, because a handle as an integer is no constant expression to the letter."""
    lines = []

    def equal(expression, value):
        lines.append(f'  wrong += differs("{expression}", (long long)({expression}), (long long)({value}));')

    for c in ABI["constants"]:
        pointer = (c.get("type") or "").endswith("*") or c.get("type") in ABI["handles"]
        value = c["value"]
        if value.startswith("MPI_"):  # another name of the same handle
            equal(f"(intptr_t){c['name']}", f"(intptr_t){value}")
        else:
            equal(f"(intptr_t){c['name']}" if pointer else c["name"], value)
    for position, field in enumerate(("MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "MPI_internal")):
        equal(f"offsetof(MPI_Status, {field})", 4 * position)
    equal("sizeof(MPI_Status)", 32)
    for name, size in (("MPI_Aint", "sizeof(intptr_t)"), ("MPI_Offset", 8), ("MPI_Count", 8)):
        equal(f"sizeof({name})", size)
        equal(f"({name})-1 < 0", 1)
    for handle in ABI["handles"]:
        equal(f"sizeof({handle})", "sizeof(void*)")
    return """#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
static int differs(const char* what, long long is, long long should) {
  if (is != should) printf("%s is %lld, not %lld\\n", what, is, should);
  return is != should;
}
int main(void) {
  int wrong = 0;
""" + "\n".join(lines) + "\n  return wrong != 0;\n}\n"


def compiles(compiler, options, suffix, text, run=False):
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "use" + suffix), f"{folder}/use"
        source.write_text(text)
        done = subprocess.run([compiler, *options, str(source), "-o", program], capture_output=True, text=True)
        if run and done.returncode == 0:
            done = subprocess.run([program], stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
            done.stderr = done.stdout
    print(f"{'ok' if done.returncode == 0 else 'FAILED'}  {compiler} {options[0]}")
    if done.returncode != 0:
        print(done.stderr)
    return done.returncode == 0


good, seen = True, 0
for cc, cxx in zip(sys.argv[1::2], sys.argv[2::2]):
    if not shutil.which(cc) or not shutil.which(cxx):
        print(f"skipped: {cc}, {cxx} are not installed")
        continue
    seen += 1
    for standard in ("gnu89", "c99", "c11", "c17"):
        good &= compiles(cc, [f"-std={standard}", *STRICT], ".c", USE)
    for standard in ("c++98", "c++11", "c++14", "c++17", "c++20"):
        good &= compiles(cxx, [f"-std={standard}", *STRICT], ".cpp", USE)
    good &= compiles(cc, ["-std=c99", "-DHEDDLE_NO_FINT", *STRICT], ".c", OWN_FINT)
    good &= compiles(cc, ["-std=c99", f"-I{ROOT / 'include'}"], ".c", constants(), run=True)
sys.exit(0 if good and seen else 1)
