"""What each part of the threads' way is worth: the library built without it, beside the whole (the VCI paper's ablations)."""

import subprocess
import sys

import processes
from suites import BENCH, TIMEOUT, environment, program_path, up_to, words

ROOT = BENCH.parent
SOURCE = "threads/pairs.c"
MOST_THREADS = 14  # each has a VCI of its own: without locks no two threads may share one

# metric → what is left out (src/base/ablation.hpp), and what is set when it runs
VARIANTS = {
    "all": ("kNothing", {}),
    "alignment": ("kAlignment", {}),
    "pools": ("kOwnPools", {}),
    "progress": ("kOwnProgress", {}),
    "vcis": ("kNothing", {"HEDDLE_VCI_MAPPING": "none"}),
    "fine": ("kFineLocks", {"HEDDLE_VCI_MAPPING": "none"}),
    "locks": ("kLocks", {}),
}


def build_library(work, without):
    """libmpi_abi without that part, in a folder of its own; the folder."""
    folder = work / "without" / without
    for command in (["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                     f"-DCMAKE_CXX_FLAGS=-DHEDDLE_WITHOUT={without}"],
                    ["cmake", "--build", folder, "--target", "mpi_abi"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench/run: could not build Heddle with HEDDLE_WITHOUT={without}:\n{done.stdout}{done.stderr}")
    return folder


class Ablations:
    """Threads on communicators of their own, which is what all of it is for. Heddle alone."""

    name = "ablations"
    what = "rates of threads on communicators of their own, with one part of the library left out in turn; Heddle alone"

    def build(self, library, work):
        if library.name != "heddle":
            return
        library.compile(BENCH / SOURCE, program_path(work, library, SOURCE))
        self.folders = {without: build_library(work, without) for without in {v[0] for v in VARIANTS.values()}}

    def run(self, library, work, cpus, samples, steadiness):
        if library.name != "heddle":
            return
        command = library.launch(2, program_path(work, library, SOURCE), "own", "threads", *words(up_to(min(MOST_THREADS, max(8, len(cpus))))))
        for metric, (without, settings) in VARIANTS.items():
            env = {**environment(cpus), "LD_LIBRARY_PATH": str(self.folders[without] / "lib"), **settings}
            outcome = steadiness.run(lambda env=env: processes.run(command, env, TIMEOUT))
            if outcome.failure:
                sys.exit(f"\nbench/run: {outcome.failure}: HEDDLE_WITHOUT={without}\n{outcome.stdout}{outcome.stderr}")
            for line in outcome.stdout.splitlines():
                if line.startswith("result "):
                    _, _, size, value, unit = line.split()
                    samples.add(self.name, f"without-{metric}", int(size), library.name, float(value), unit)
