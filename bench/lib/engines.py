"""The same library once for each of its matching engines: what is compared are then these, and not libraries.

Which engines there are depends on the build: each one is asked for by the smallest program, and what MPI_Init does not know
is left out by name.
"""

import dataclasses
import os
import sys

import processes
from suites import BENCH, POINT_TIMEOUT, program_path

SOURCE = "startup/empty.c"
ALL = ("adaptive", "list", "array_list", "vector", "fuzzy8", "fuzzy16", "hash", "grid", "tail_queue")


def under(heddle, engine):
    variables = {**heddle.variables, "HEDDLE_MATCHING": engine}
    return dataclasses.replace(heddle, name=engine, title=engine, variables=variables)


def starts(library, program):
    outcome = processes.run(library.launch(1, program), {**os.environ, **library.variables}, POINT_TIMEOUT)
    if outcome.failure:
        why = next((text for text in outcome.stderr.splitlines() if "HEDDLE_MATCHING=" in text), outcome.failure)
        why = why[max(0, why.find("HEDDLE_MATCHING=")):]
        print(f"bench/run: without the engine {library.name}: {why}", file=sys.stderr)
    return not outcome.failure


def find(wanted, heddle, work):
    """`wanted` is `all`, or engines by comma; a parameter may follow an engine, as in `array_list:8`."""
    program = program_path(work, heddle, SOURCE)
    heddle.compile(BENCH / SOURCE, program)
    names = ALL if wanted == "all" else dict.fromkeys(wanted.split(","))
    found = [library for library in (under(heddle, name) for name in names) if starts(library, program)]
    if not found:
        sys.exit("bench/run: none of these engines is there")
    return found
