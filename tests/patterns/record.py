"""Runs a program of MPI under the recorder, and hands over its traces and what the simulator makes of them."""

import os
import pathlib
import subprocess


class Recorder:
    def __init__(self, build):
        self.bench = pathlib.Path(build) / "bench/patterns"
        self.mpiexec = pathlib.Path(build) / "bin/mpiexec"

    def run(self, folder, ranks, program, *args, **environment):
        """The program's output; its traces are in `folder`."""
        surroundings = {**os.environ, "TRACE_FOLDER": str(folder), "LD_PRELOAD": str(self.bench / "libtrace.so"), **environment}
        done = subprocess.run([self.mpiexec, "-n", str(ranks), program, *args], env=surroundings, capture_output=True,
                              text=True, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"{program} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def simulate(self, folder, *options):
        return subprocess.run([self.bench / "simulate", folder, *options], capture_output=True, text=True, timeout=60)


def lines_of(folder, rank):
    """What was recorded, after the head, without the times."""
    found = []
    for line in (pathlib.Path(folder) / f"{rank}.trace").read_text().splitlines()[1:]:
        words = line.split()
        found.append(" ".join(words if words[0] in "GX" else words[:1] + words[2:]))
    return found
