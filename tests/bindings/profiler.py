#!/usr/bin/env python3
"""profiler.py tool|calls FILE: writes a C file about every procedure that mpi.h declares.

  tool    a profiling library: each MPI_ procedure counts itself, and passes on to PMPI_
  calls   a table of the procedures: its name, and a function that calls it with zeroes
"""

import pathlib
import re
import sys

HEADER = pathlib.Path(__file__).resolve().parents[2] / "include/mpi.h"
PROTOTYPE = re.compile(r"^((?!static )\w[\w ]*?)(\*?) (MPI_\w+)\((.*)\);", re.M)


def parameters(text):
    """(name, declaration) of each; nameless where it is the ellipsis."""
    return [(None if one == "..." else re.search(r"(\w+)(?:\[[^\]]*\])*$", one)[1], one)
            for one in text.split(", ") if one != "void"]


def procedures():
    return [(returns.strip() + star, name, parameters(args))
            for returns, star, name, args in PROTOTYPE.findall(HEADER.read_text())]


def tool():
    out = ["#include <mpi.h>", "", '#include "profiler.h"', ""]
    for i, (returns, name, args) in enumerate(procedures()):
        declared = ", ".join(declaration for _, declaration in args) or "void"
        passed = ", ".join(arg for arg, _ in args if arg)
        out.append(f"{returns} {name}({declared}) {{\n  profiler_enter({i});\n  {returns} returned_ = P{name}({passed});\n"
                   "  profiler_leave();\n  return returned_;\n}")
    return out


def calls():
    out = ["#include <mpi.h>", "", '#include "profiler.h"', ""]
    table = []
    for _, name, args in procedures():
        zeroes = ", ".join("0" for arg, _ in args if arg)
        out.append(f"static void call_{name}(void) {{ {name}({zeroes}); }}")
        table.append(f'    {{"{name}", call_{name}}},')
    return [*out, "const struct procedure profiler_procedures[] = {", *table, "};",
            f"const int profiler_count = {len(table)};"]


what, path = sys.argv[1:]
lines = {"tool": tool, "calls": calls}[what]()
if len(procedures()) != 664:
    sys.exit(f"profiler.py: mpi.h declares {len(procedures())} procedures, expected 664")
pathlib.Path(path).write_text("\n".join(lines) + "\n")
