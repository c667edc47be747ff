"""Runs the exchange patterns of bench/patterns, alone and under the recorder, and replays what was recorded."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import processes

HERE = pathlib.Path(__file__).resolve().parent.parent / "patterns"
ROOT = HERE.parent.parent
PATTERNS = ("lammps", "lulesh", "hpcg", "minife", "milc", "cth", "rings")
SILENCE = 600  # seconds that a run may be silent
SILENCE_OF_HPCC = 3600  # which writes to a file, and takes long on 256 ranks of two cores


def numbers(text):
    """Numbers of ranks, with commas between."""
    values = [int(word) for word in text.split(",")]
    if min(values) < 2:
        raise ValueError(text)
    return values


def ranks_for(name, wanted):
    """LULESH needs a cube: the largest that is not larger."""
    return wanted if name != "lulesh" else max(n ** 3 for n in range(1, 64) if n ** 3 <= wanted)


def depths_of(text):
    """scope → queue → mean, min, max, searches; from the lines `depth ...`."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["depth"]:
            mean, least, most = map(float, words[3:6])
            found.setdefault(words[1], {})[words[2]] = {"mean": mean, "min": least, "max": most, "searches": int(words[6])}
    return found


def bits_of(text):
    """For each number of bits: how many searches met a false positive, and how likely two messages' tags are alike."""
    lines = [list(map(float, line.split()[1:])) for line in text.splitlines() if line.startswith("bits ")]
    return [dict(zip(("bits", "met mean", "met worst", "possible mean", "possible worst"), line)) for line in lines]


def stop(what):
    sys.exit(f"\nbench/patterns/run: {what}")


class Bench:
    """The programs of one library, built once, and their runs."""

    def __init__(self, library, args, work):
        self.library, self.args, self.work = library, args, work
        self.told = set()  # lines that were printed once
        work.mkdir(parents=True, exist_ok=True)
        if not args.simulate.exists():
            stop(f"no {args.simulate}; build it (cmake --build --preset release --target bench_patterns_simulate, "
                 f"needs libcli11-dev), or name it with --simulate")
        self.program = self.compile("patterns", HERE.glob("*.c"))
        self.recorder = self.compile("libtrace.so", HERE.glob("trace/*.c"), "-shared", "-fPIC")
        self.counter = self.compile("libcount.so", [HERE / "count/count.c"], "-shared", "-fPIC")

    def compile(self, name, sources, *options):
        made = self.work / name
        command = [self.library.prefix / "bin" / self.library.wrapper, "-O2", "-std=gnu11", *options, "-o", made, *sorted(sources)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            stop(f"{self.library.title} could not build {name}:\n{done.stderr}")
        return made

    def execute(self, command, cwd=None, silence=SILENCE, **environment):
        command = [str(word) for word in command]
        if cwd:  # what changes the folder is a shell, so that processes.run stays what it is
            command = ["sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *command]
        outcome = processes.run(command, {**os.environ, **self.library.variables, **environment}, silence)
        if outcome.failure:
            stop(f"{outcome.failure}: {' '.join(command)}\n{outcome.stdout}{outcome.stderr}")
        return outcome

    def pattern(self, name, ranks):
        options = [name, "--iterations", self.args.iterations, "--edge", self.args.edge, "--imbalance", self.args.imbalance]
        command = self.library.launch(ranks, self.program, *options)
        counted = self.execute(command, HEDDLE_MATCHING=self.args.matching)
        return self.row(name, ranks, counted, self.replay(command))

    def hpcc(self, ranks):
        """A grid as square as can be; the problem of the demo."""
        rows = max(n for n in range(1, ranks + 1) if ranks % n == 0 and n * n <= ranks)
        folder = self.work / "hpcc"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        text = (ROOT / "demo/hpccinf.txt").read_text()
        text = re.sub(r"^\S+( +Ps)$", rf"{rows}\1", text, flags=re.M)
        text = re.sub(r"^\S+( +Qs)$", rf"{ranks // rows}\1", text, flags=re.M)
        (folder / "hpccinf.txt").write_text(text)
        command = self.library.launch(ranks, self.args.hpcc.resolve())
        counted = self.execute(command, folder, SILENCE_OF_HPCC, LD_PRELOAD=str(self.counter), HEDDLE_MATCHING=self.args.matching)
        return self.row("hpcc", ranks, counted, self.replay(command, folder, SILENCE_OF_HPCC))

    def replay(self, command, cwd=None, silence=SILENCE):
        """What the simulator says of the command, recorded."""
        folder = self.work / "trace"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.execute(command, cwd, silence, TRACE_FOLDER=str(folder), LD_PRELOAD=str(self.recorder))
        replayed = self.execute([self.args.simulate, folder, "--bits", "--compute", self.args.compute], silence=silence).stdout
        shutil.rmtree(folder)
        return replayed

    def row(self, name, ranks, counted, replayed):
        self.tell_missing(counted.stderr)
        return {"pattern": name, "ranks": ranks, "depths": {**depths_of(counted.stdout), **depths_of(replayed)},
                "bits": bits_of(replayed)}

    def tell_missing(self, errors):
        """Once for each variable that the library lacks."""
        for line in errors.splitlines():
            if "no performance variable" in line and line not in self.told:
                self.told.add(line)
                print(f"bench/patterns/run: {line}", file=sys.stderr)
