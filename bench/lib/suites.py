"""What is measured: each suite is a few programs, and how their results are read."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import processes
from steadiness import Unwatched

BENCH = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 300  # seconds of silence that one program may have
POINT_TIMEOUT = 20  # the same for a program of several points, each measured for less than a second
KINDS = ("own", "one", "endpoints")  # how the threads of a process are told apart, see threads/threads.h
COLLECTIVE_RANKS = (2, 4, 8, 16, 64)
SYNCHRONISED = (2, 3, 4, 6, 8)  # processes of a window
WINDOWS_OF = ("own", "one", "hints", "everywhere")  # whose the windows of threads are, see rma/workers.h
PUTTING, WORKERS = (1, 2, 4), 2  # threads of a process
DOUBLINGS = [1 << i for i in range(7)]
BETWEEN = (0, 1, 16, 32, 40, 41, 128, 512, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20)  # bytes, not those of p2p


class Samples:
    """(suite, metric, size) → unit, for each library the value of every turn, and why one got to no value."""

    def __init__(self):
        self.units, self.values, self.failures = {}, {}, {}

    def add(self, suite, metric, size, library, value, unit):
        key = (suite, metric, size)
        self.units[key] = unit
        self.values.setdefault(key, {}).setdefault(library, []).append(value)

    def add_output(self, suite, library, output):
        """From the `result <metric> <size> <value> <unit>` lines of a bench program."""
        lines = [line.split() for line in output.splitlines() if line.startswith("result ")]
        for _, metric, size, value, unit in lines:
            self.add(suite, metric, int(size), library, float(value), unit)
        return len(lines)

    def add_failure(self, suite, metric, size, library, why, unit):
        key = (suite, metric, size)
        self.units[key] = unit
        self.values.setdefault(key, {})
        self.failures.setdefault(key, {})[library] = why


def environment(cpus):
    return {**os.environ, "HEDDLE_BENCH_CPUS": ",".join(map(str, cpus))}


def execute(command, cpus):
    outcome = processes.run(command, environment(cpus), TIMEOUT)
    if outcome.failure:
        sys.exit(f"\nbench/run: {outcome.failure}: {' '.join(map(str, command))}\n{outcome.stdout}{outcome.stderr}")
    return outcome.stdout


def program_path(work, library, source):
    """Folders have programs of the same name."""
    source = pathlib.Path(source)
    return work / library.name / f"{source.parent.name}-{source.stem}"


@dataclasses.dataclass(frozen=True)
class Program:
    source: str
    ranks: int
    args: tuple = ()
    points: tuple = ()  # further arguments: what it measures one after another
    one_core: bool = False  # how far apart the cores are is nothing to it


class Programs:
    """A suite of programs that measure themselves; `programs` tells which, for that number of cores."""

    def __init__(self, name, what, programs):
        self.name, self.what, self.programs = name, what, programs
        self.given_up = set()  # (library, program, point): what did not end once is not tried again

    def build(self, library, work):
        for source in dict.fromkeys(program.source for program in self.programs(1)):
            library.compile(BENCH / source, program_path(work, library, source))

    def run(self, library, work, cpus, samples, steadiness):
        for program in self.programs(len(cpus)):
            self.run_program(program, library, work, cpus, samples, steadiness)

    def run_program(self, program, library, work, cpus, samples, steadiness):
        """Where a library does not get to the end of a point, the program is started again with those after it."""
        surroundings = {**environment(cpus), **library.variables}
        if program.one_core:
            steadiness = Unwatched()
        todo = [point for point in program.points if (library.name, program, point) not in self.given_up]
        while todo or not program.points:
            command = library.launch(program.ranks, program_path(work, library, program.source), *program.args, *todo)
            timeout = POINT_TIMEOUT if program.points else TIMEOUT
            outcome = steadiness.run(lambda command=command: processes.run(command, surroundings, timeout))
            results = samples.add_output(self.name, library.name, outcome.stdout)
            if not outcome.failure:
                if "absent" in outcome.stdout.split():
                    self.given_up.update((library.name, program, point) for point in todo)
                elif results == 0:
                    sys.exit(f"\nbench/run: no result from {' '.join(map(str, command))}")
                return
            print(f"\nbench/run: {outcome.failure}: {' '.join(map(str, command))}\n{outcome.stderr}", file=sys.stderr)
            begun = [line.split() for line in outcome.stdout.splitlines() if line.startswith("begin ")]
            if not begun and program.points and library.name != "heddle":
                return  # its cells stay empty
            if not begun:
                sys.exit(f"bench/run: and before it had begun to measure\n{outcome.stdout}")
            _, metric, size, unit = begun[-1]
            samples.add_failure(self.name, metric, int(size), library.name, outcome.failure, unit)
            self.given_up.add((library.name, program, todo[len(begun) - 1]))
            todo = todo[len(begun):]


LONG_MESSAGE_WAYS = ("rendezvous", "eager")


def long_messages(_):
    sizes = words((32 << 10, 128 << 10, 512 << 10, 2 << 20))
    return [Program("p2p/long.c", 2, (way, when), sizes)
            for when in ("posted", "found", "late", "later") for way in LONG_MESSAGE_WAYS]


class LongMessages(Programs):
    """Heddle's two ways, where messages go by packets. A peer has one, which is measured beside both."""

    def run_program(self, program, library, *rest):
        variables = {**library.variables, "HEDDLE_LONG_MESSAGES": program.args[0], "HEDDLE_SINGLE_COPY": "off"}
        super().run_program(program, dataclasses.replace(library, variables=variables), *rest)


class Startup:
    """How long an empty program takes from outside, and how large its ranks are after MPI_Init."""

    name, what = "startup", "mpiexec of an empty program at 1, 2 and 64 ranks; resident memory after MPI_Init"
    source = "startup/empty.c"

    def build(self, library, work):
        library.compile(BENCH / self.source, program_path(work, library, self.source))

    def run(self, library, work, cpus, samples, _):
        program = program_path(work, library, self.source)
        for ranks in (1, 2, 64):
            start = time.monotonic()
            execute(library.launch(ranks, program), cpus)
            samples.add(self.name, "start", ranks, library.name, time.monotonic() - start, "s")
        for ranks in (2, 64):
            samples.add_output(self.name, library.name, execute(library.launch(ranks, program, "rss"), cpus))


class Instructions:
    """Instructions of one message to oneself, exact whatever else the machine does: the difference of two runs under callgrind."""

    name, what = "instructions", "instructions of Isend + Wait and of Irecv + Wait of 8 B to oneself, by valgrind's callgrind"
    source = "p2p/instructions.c"
    sides = {"send": ["send_side"], "receive": ["receive_side_begin", "receive_side_end"]}
    rounds = 500

    def build(self, library, work):
        if shutil.which("valgrind") is None:
            sys.exit("bench/run: the suite `instructions` needs valgrind; install it (apt-get install valgrind)")
        library.compile(BENCH / self.source, program_path(work, library, self.source))

    def run(self, library, work, cpus, samples, _):
        program = program_path(work, library, self.source)
        for level in ("single", "multiple"):
            for side, functions in self.sides.items():
                few, many = (self.count(program, cpus, functions, level, n * self.rounds) for n in (1, 2))
                samples.add(self.name, f"{side} {level}", 8, library.name, (many - few) / self.rounds, "instructions")

    def count(self, program, cpus, functions, level, rounds):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1",
                   *(f"--toggle-collect={name}" for name in functions), program, level, str(rounds)]
        found = re.search(r"Collected : (\d+)", execute(command, cpus))
        if found is None:
            sys.exit(f"\nbench/run: callgrind counted nothing: {' '.join(map(str, command))}")
        return int(found.group(1))


class Compiling:
    """Processor time to compile the plan of one rank, of each collective by its usual algorithm: `heddle plan --compile`."""

    name, what = "compiling", "processor time to compile a rank's plan: each collective on 64 ranks, symmetric plans on 100,000"
    symmetric = ("barrier", "reduce_scatter", "allgather", "alltoall")
    others = ("bcast", "reduce", "allreduce", "gather", "scatter", "scan", "exscan")

    def build(self, library, work):
        pass

    def run(self, library, work, cpus, samples, steadiness):
        if library.name != "heddle":
            return
        algorithm = {"reduce_scatter": "circulant 1"}
        for ranks, collectives in ((64, self.symmetric + self.others), (100_000, self.symmetric)):
            for collective in collectives:
                command = [library.prefix / "bin/heddle", "plan", collective, "-n", str(ranks), "--compile"]
                command += ["--algorithm", algorithm[collective]] if collective in algorithm else []
                samples.add(self.name, f"compile-{collective}", ranks, library.name, float(execute(command, cpus).split()[0]), "us")


def busy_fraction(seconds=0.5):
    """How busy the machine is while this program sleeps: other people's work."""
    def ticks():
        values = [int(v) for v in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
        return sum(values), values[3] + values[4]

    total, idle = ticks()
    time.sleep(seconds)
    total_after, idle_after = ticks()
    return 1 - (idle_after - idle) / max(1, total_after - total)


class Limits:
    """The bare limits of the machine, without any MPI, and how busy others keep it."""

    def __init__(self, work):
        self.program = work / "limits"
        work.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-o", self.program, BENCH / "limits/limits.c"], check=True)

    def run(self, cpus, samples, steadiness):
        samples.add("limits", "busy", 0, "machine", 100 * busy_fraction(), "%")
        if len(cpus) >= 2:
            samples.add_output("limits", "machine", steadiness.run(lambda: execute([self.program], cpus)))

    def time_line(self, cpus):
        """Now, in ns."""
        return float(execute([self.program, "line"], cpus).split()[3])


def up_to(most):
    """1, 2, 4, … and the number itself."""
    return sorted({*(n for n in DOUBLINGS if n < most), most})


def words(values):
    return tuple(map(str, values))


def p2p(_):
    return [Program("p2p/pingpong.c", 2), Program("p2p/message_rate.c", 2)]


def p2p_sizes(_):
    """Those between p2p's, and both sides of where a message begins to take another way."""
    return [Program("p2p/pingpong.c", 2, ("0.1",), words(BETWEEN))]


def threads(cores):
    """Threads up to the number of cores in each process, so up to twice as many as cores; 8 at least."""
    cores = min(cores, DOUBLINGS[-1])
    counts, edges = up_to(max(8, cores)), words((48, 384, 3072))
    some = max(2, cores // 2)  # threads of each of two processes that fill the cores
    sizes = words(4 ** i for i in range(9))
    senders = words(up_to(max(4, some - 1)))
    return [
        Program("threads/self.c", 1, (), words(up_to(max(2, cores)))),
        *(Program("threads/pairs.c", 2, (kind, "threads"), words(counts)) for kind in (*KINDS, "hints")),
        *(Program("threads/pairs.c", 2 * n, ("everywhere", "threads"), ("1",)) for n in counts),
        *(Program("threads/pairs.c", 2, (kind, "bytes", str(some)), sizes) for kind in KINDS),
        Program("threads/pairs.c", 2 * some, ("everywhere", "bytes", "1"), sizes),
        Program("threads/stencil.c", 2 * some, ("everywhere", "1"), edges),
        *(Program("threads/stencil.c", 2, (kind, str(some)), edges) for kind in ("funneled", "own", "endpoints")),
        *(Program("threads/poll.c", 2, (kind, how), senders) for how in ("iprobe", "irecv") for kind in KINDS),
    ]


def matching(_):
    depths, behind = words(4 ** i for i in range(8)), words((1, 16, 128, 512, 2048, 8192))
    return [
        *(Program("matching/outstanding.c", 2, (when, order), depths)
          for when in ("posted", "unexpected") for order in ("random", "reversed", "in_order")),
        *(Program("matching/bandwidth.c", 2, (caches, size), behind)
          for caches in ("warm", "cold") for size in words((1, 1 << 10, 64 << 10, 1 << 20))),
    ]


def halo(_):
    """Columns (z of 1 x 1 x z, y of 1 x y) and what has an inside, by stencil."""
    sides = {"shuffle": (1, 4, 16, 64, 256), "threads": (1, 4, 16, 64)}
    filled = {"shuffle": {5: "16x16", 9: "16x16", 7: "8x8x8", 27: "8x8x8"},
              "threads": {5: "8x8", 9: "8x8", 7: "4x4x4", 27: "4x4x4"}}
    return [Program("matching/halo.c", 2, (mode, str(points)),
                    (*(f"{'1x' if points in (5, 9) else '1x1x'}{side}" for side in sides[mode]), solid))
            for mode in sides for points, solid in filled[mode].items()]


def elements(_):
    return [Program("matching/elements.c", 2, ("32",), words((1, 2, 4, 8, 16)))]


def beside(_):
    return [Program("matching/beside.c", 2, (), words((1, 16, 128, 1024, 4096)))]


def oversubscribed(cores):
    return [Program("oversubscribed/crowd.c", max(16, 2 * cores), (), ("ring", "barrier", "allreduce"))]


def collectives(ranks):
    """Of blocks for each rank no more than 16 MiB a rank in all."""
    sizes, most = (8, 1 << 10, 8 << 10, 64 << 10, 1 << 20, 8 << 20), 16 << 20
    whole, blocks = ("bcast", "reduce", "allreduce"), ("reducescatter", "allgather", "alltoall")
    return [
        Program("collectives/sizes.c", ranks, ("barrier",), ("0",)),
        *(Program("collectives/sizes.c", ranks, (what,), words(s for s in sizes if what in whole or s * ranks <= most))
          for what in (*whole, *blocks)),
    ]


def rma_sync(_):
    points = ("fence", "pscw", "shared", "exclusive", "lockall", "flush", "flushput")
    return [Program("rma/synchronisation.c", ranks, (), points) for ranks in SYNCHRONISED]


def rma(_):
    kinds, all_kinds = ("create", "allocate"), ("create", "allocate", "shared", "dynamic")
    return [
        Program("rma/sizes.c", 2, (), (*kinds, "send")),
        Program("rma/epoch.c", 2, ("puts",), kinds),
        Program("rma/epoch.c", 2, ("atomics",), all_kinds),
        Program("rma/asleep.c", 2, (), all_kinds),
    ]


def objects(_):
    return [Program("rma/objects.c", ranks, (), ("communicator", "create", "allocate")) for ranks in (2, 8)]


def rma_threads(_):
    bands, tiles, faces = words((64, 1 << 10, 16 << 10, 256 << 10, 1 << 20)), words((1, 4, 16, 64)), words((8, 1 << 10, 16 << 10, 256 << 10))
    patterns = (("rma/bands.c", bands), ("rma/blocks.c", tiles))
    return [
        *(Program("rma/put_rate.c", 2, (kind,), words(PUTTING)) for kind in WINDOWS_OF[:-1]),
        *(Program("rma/put_rate.c", 2 * n, (WINDOWS_OF[-1],), (str(n),)) for n in PUTTING),
        *(Program(source, 2 if kind != WINDOWS_OF[-1] else 2 * WORKERS, (kind, str(WORKERS)), points)
          for source, points in patterns for kind in WINDOWS_OF),
        *(Program("rma/halo.c", 2, (way, str(n)), faces) for way in ("flush", "fence", "pscw") for n in (1, WORKERS)),
    ]


def datatypes(_):
    return [Program("datatypes/pack.c", 1, one_core=True), Program("datatypes/exchange.c", 2)]


def reductions(_):
    return [Program("collectives/reduce_local.c", 1, one_core=True)]


# (compute in ms, noise in %)
PARTITIONED_WAYS, PARTITIONED_NOISE = ("single", "multi", "part", "arrive"), ((10, 4), (10, 10), (100, 4), (100, 10))


def partitioned_runs(threads, iterations, sizes):
    """`iterations`: by the milliseconds of computation."""
    return [Program("partitioned/partitioned.c", 2, (way, *words((threads, ms, noise, iterations[ms]))), words(sizes))
            for ms, noise in PARTITIONED_NOISE for way in PARTITIONED_WAYS]


def partitioned(_, threads=16):
    return partitioned_runs(threads, {10: 20, 100: 5}, [64 << 10 << 2 * i for i in range(6)])


def partitioned_64(machine):
    return partitioned(machine, threads=64)


def partitioned_long(_):
    return [program for threads in (16, 64)
            for program in partitioned_runs(threads, {10: 100, 100: 100}, [64 << 10 << i for i in range(11)])]


class WhenNamed(Programs):
    """Not among all suites."""

    def __init__(self, name, what, why, programs):
        super().__init__(name, what, programs)
        self.why = why

    def lacking(self):
        return self.why


class PlansAtCreation(WhenNamed):
    """Collectives by messages: those by the memory of a node have no plans."""

    def run_program(self, program, library, *rest):
        super().run_program(program, dataclasses.replace(library, variables={**library.variables, "HEDDLE_BOARD_AFTER": "-1"}), *rest)


def plans_at_creation(_):
    return [Program("collectives/creation.c", ranks) for ranks in (2, 4, 16, 64)]


def scale(_):
    return [Program("startup/scale.c", 128, ("16", "8"))]


SUITES = {suite.name: suite for suite in (
    Programs("p2p", "one-way latency 8 B to 4 MiB and message rate, two ranks", p2p),
    Programs("p2p-sizes", "one-way latency at sizes between those of p2p, two ranks", p2p_sizes),
    LongMessages("long", "long messages sent at once or when asked for, by how late the receive is: time, bytes in vain", long_messages),
    Programs("threads", "MPI_THREAD_MULTIPLE: message rates, sizes, halos of a stencil, polling receivers", threads),
    Programs("matching", "1 to 16384 receives outstanding or messages unexpected; bandwidth behind a queue of receives", matching),
    Programs("halo", "halos of a process of threads, four stencils: time to drain and Heddle's search depth", halo),
    Programs("elements", "conjugate gradients, 1 to 16 threads a rank: computation, communication, Heddle's search depth", elements),
    Programs("beside", "two threads of a process that search at once, one by posting, behind queues of 1 to 4096", beside),
    Programs("collectives", "seven of them on 2, 4 and 16 ranks, 8 B to 8 MiB: blocking, persistent, what the request costs",
             lambda _: [program for ranks in (2, 4, 16) for program in collectives(ranks)]),
    *(WhenNamed(f"collectives-{ranks}", f"the same on {ranks} ranks alone", "is a part of `collectives`, or long; name it to run it",
                lambda _, ranks=ranks: collectives(ranks)) for ranks in COLLECTIVE_RANKS),
    PlansAtCreation("plans-at-creation", "communicators whose plans are compiled when they are made, and at first use: to make, first, second",
                    "is about Heddle alone; name it to run it", plans_at_creation),
    Programs("rma", "one-sided: put and get beside send, epochs, atomics, a target that is asleep", rma),
    Programs("rma-sync", "one-sided: each way to synchronise a window of 2, 4 and 8 ranks", rma_sync),
    Programs("objects", "communicators and windows that are made, used a little and freed, 2 and 8 ranks", objects),
    Programs("rma-threads", "one-sided with threads: put rates by windows, bands that are fetched, blocks that are multiplied, halos", rma_threads),
    Programs("datatypes", "MPI_Pack and MPI_Unpack against memcpy and a plain loop; messages of strided types", datatypes),
    Programs("reductions", "MPI_Reduce_local of operations and types against memcpy", reductions),
    Programs("partitioned", "16 threads fill one message: perceived bandwidth beside single and many sends, early arrival", partitioned),
    WhenNamed("partitioned-64", "the same with 64 threads", "takes ten minutes a turn; name it to run it", partitioned_64),
    WhenNamed("partitioned-long", "the same with 16 and 64 threads, 11 sizes, 100 iterations: more than an hour a turn",
             "takes more than an hour a turn; name it to run it", partitioned_long),
    Programs("oversubscribed", "16 ranks, or 2 for each core: ring of sendrecv, barrier, allreduce", oversubscribed),
    Compiling(),
    Startup(),
    Programs("scale", "memory of a rank of 128: after MPI_Init, with 16 communicators, after talking to 8 others on each", scale),
    Instructions(),
)}
