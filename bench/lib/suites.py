"""What is measured: each suite is a few programs, and how their results are read."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT = 300  # seconds for one program


class Samples:
    """(suite, metric, size) → unit, and for each library the value of every turn."""

    def __init__(self):
        self.units, self.values = {}, {}

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


def execute(command, cpus):
    env = {**os.environ, "HEDDLE_BENCH_CPUS": ",".join(map(str, cpus))}
    try:
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        sys.exit(f"\nbench/run: not done after {TIMEOUT} s: {' '.join(map(str, command))}")
    if done.returncode != 0:
        sys.exit(f"\nbench/run: exit code {done.returncode}: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def program_path(work, library, source):
    return work / library.name / pathlib.Path(source).stem


class Programs:
    """A suite of programs that measure themselves."""

    def __init__(self, name, what, programs):
        self.name, self.what, self.programs = name, what, programs

    def build(self, library, work):
        for source, *_ in self.programs:
            library.compile(BENCH / source, program_path(work, library, source))

    def run(self, library, work, cpus, samples):
        for source, ranks, *args in self.programs:
            command = library.launch(ranks, program_path(work, library, source), *args)
            if samples.add_output(self.name, library.name, execute(command, cpus)) == 0:
                sys.exit(f"\nbench/run: no result from {' '.join(map(str, command))}")


class Startup:
    """How long an empty program takes from outside, and how large its ranks are after MPI_Init."""

    name, what = "startup", "mpiexec of an empty program at 1, 2 and 64 ranks; resident memory after MPI_Init"
    source = "startup/empty.c"

    def build(self, library, work):
        library.compile(BENCH / self.source, program_path(work, library, self.source))

    def run(self, library, work, cpus, samples):
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

    def run(self, library, work, cpus, samples):
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

    def run(self, cpus, samples):
        samples.add("limits", "busy", 0, "machine", 100 * busy_fraction(), "%")
        if len(cpus) >= 2:
            samples.add_output("limits", "machine", execute([self.program], cpus))


SUITES = {suite.name: suite for suite in (
    Programs("p2p", "one-way latency 8 B to 4 MiB and message rate, two ranks",
             [("p2p/pingpong.c", 2), ("p2p/message_rate.c", 2)]),
    Startup(),
    Instructions(),
)}
