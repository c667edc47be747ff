"""More messages than a receiver may keep: what flow control costs and whom it stops, and how much memory a flood takes.

`flow` runs the workloads of bench/flow over three message layers: the two of the paper over Heddle's libportals, and one over
MPI, for each library. All have the same room, ROOM, of which the peers know nothing. A baseline that does not end is a
result: that is what it cannot do.

`flood` runs tests/programs/flood.c, which checks every byte: rank 0 waits for what each of the others sends
last, and takes everything else afterwards. The figure is how much its memory has grown by, at most.
"""

import dataclasses
import re
import sys

import processes
import steadiness
import suites

FEW_HEADERS, FEW_BYTES = 1000, 1 << 20
ROOM = {"HEDDLE_UNEXPECTED_HEADERS": str(FEW_HEADERS), "HEDDLE_UNEXPECTED_BYTES": str(FEW_BYTES)}
BASELINES = ("credits", "recovery")


def is_meant(row):
    """A library that does not get there is not stuck: the row is a baseline's."""
    return row["metric"].startswith(tuple(f"flow-{layer}-" for layer in BASELINES))


def with_room(library):
    return dataclasses.replace(library, variables={**library.variables, **ROOM})


class Flow(suites.Programs):
    BYTES = "1024"
    WORKLOADS = (("pairs", 2, "20000"), ("flood", 16, "5000"), ("turns", 16, "5000"), ("last", 16, "5000"), ("slow", 16, "2000"))

    def __init__(self):
        super().__init__("flow", "flow control beside static credit and recovery with a barrier: time, memory, messages", None)

    @staticmethod
    def layers(library):
        return ("mpi", *BASELINES) if library.name == "heddle" else ("mpi",)

    @staticmethod
    def source(layer):
        return f"flow/flow-{layer}.c"  # its program's name is that

    def build(self, library, work):
        for layer in self.layers(library):
            compile_it = library.compile if layer == "mpi" else library.compile_portals
            folder = suites.BENCH / "flow"
            compile_it(folder / "flow.c", suites.program_path(work, library, self.source(layer)), folder / f"{layer}.c")

    def run(self, library, work, cpus, samples, watch):
        for workload, ranks, messages in self.WORKLOADS:
            if ranks > len(cpus):  # who waits for whom is what takes the time, not a line
                watch = steadiness.Unwatched()
            for layer in self.layers(library):
                program = suites.Program(self.source(layer), ranks, (messages, self.BYTES), (workload,))
                self.run_program(program, with_room(library), work, cpus, samples, watch)


class Flood:
    name, what = "flood", "a flood of unexpected messages from 1 and from 15 ranks: by how much the receiver's memory grows"
    TIMEOUT = 60  # seconds
    SOURCE = suites.BENCH.parent / "tests/programs/flood.c"
    POINTS = (
        *((2, 200_000, size, way) for way in ("order", "reverse") for size in (8, 1024, 4096)),
        *((16, 20_000, size, "order") for size in (8, 1024, 4096)),
    )

    def __init__(self):
        self.given_up = set()

    def build(self, library, work):
        library.compile(self.SOURCE, suites.program_path(work, library, self.SOURCE))

    def run(self, library, work, cpus, samples, _):
        for point in self.POINTS:
            self.run_point(point, library, work, cpus, samples, "flood")
            if library.name == "heddle":
                self.run_point(point, with_room(library), work, cpus, samples, "few", "disables", "1")

    def run_point(self, point, library, work, cpus, samples, what, *more):
        ranks, messages, size, way = point
        metric = f"{what}-{way}-{ranks}"
        if (library.name, metric, size) in self.given_up:
            return
        command = library.launch(ranks, suites.program_path(work, library, self.SOURCE), str(messages), str(size), way, *more)
        outcome = processes.run(command, {**suites.environment(cpus), **library.variables}, self.TIMEOUT)
        grown = re.search(r"memory grew by ([\d.]+) MiB", outcome.stdout)
        if outcome.failure or grown is None:
            print(f"\nbench/run: {outcome.failure}: {' '.join(map(str, command))}\n{outcome.stderr}", file=sys.stderr)
            samples.add_failure(self.name, metric, size, library.name, outcome.failure or "no result", "MiB")
            self.given_up.add((library.name, metric, size))
            return
        samples.add(self.name, metric, size, library.name, float(grown[1]), "MiB")
        disables = re.search(r"no room (\d+) times", outcome.stdout)
        if disables:
            samples.add(self.name, f"{metric}-disables", size, library.name, int(disables[1]), "times")


SUITES = {suite.name: suite for suite in (Flow(), Flood())}
