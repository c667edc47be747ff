#!/usr/bin/env python3
"""Runs the tests that MPICH's lists name, each with its ranks, and counts. See `run`."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ["attr", "basic", "coll", "comm", "datatype", "errhan", "group", "info", "init", "mpi_t", "part", "pt2pt", "rma",
           "threads/comm", "threads/init", "threads/pt2pt", "threads/rma", "topo"]
# Under a second each on two idle cores, but for few: large_acc_flush_local adds 40 GB.
SECONDS = 180


class Test:
    """A line of a list: program, ranks, key=value..."""

    def __init__(self, folder, line):
        words = line.split()
        self.name = f"{folder}/{words[0]}"
        self.line = line
        self.ranks = next((int(word) for word in words[1:2] if word.isdigit()), 2)
        options = [word.partition("=") for word in words[1:] if "=" in word]
        self.arguments = [value for key, _, value in options if key == "arg"]
        self.environment = dict(value.split("=", 1) for key, _, value in options if key == "env" and "=" in value)
        self.result = next((value for key, _, value in options if key == "resultTest"), "")

    def says_so(self, text):
        """Some tests have to end with another exit code than 0, and that is all."""
        return self.result != "" or re.search("No errors", text, re.IGNORECASE) is not None


def tests_of(args, folder):
    """Those of a folder's list that are programs and are not left out."""
    path = next((p for p in (args.build / folder / "testlist", args.source / folder / "testlist") if p.exists()), None)
    if path is None:
        return
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line and not line.startswith("!") and not (args.source / folder / line.split()[0]).is_dir():
            yield Test(folder, line)


def run(args, test, log):
    """Why it failed; None: it passed."""
    folder, program = (args.build / test.name).parent, args.build / test.name
    if not program.exists():
        made = subprocess.run(["make", "-C", folder, program.name], capture_output=True, text=True)
        if made.returncode != 0:
            log.write(made.stdout + made.stderr)
            return "cannot be built"
    command = [args.root / "tests/support/run_mpi", "--mpiexec", args.prefix / "bin/mpiexec", "--timeout", str(SECONDS),
               "--exit", "nonzero" if test.result else "0", "-n", str(test.ranks), program, *test.arguments]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder,
                          env={**os.environ, **test.environment}, stdin=subprocess.DEVNULL)
    text = done.stdout + done.stderr
    log.write(f"== {test.line}\n{text}")
    return None if done.returncode == 0 and test.says_so(text) else f"exit code {done.returncode}: {' '.join(text.split())[:300]}"


def main():
    parser = argparse.ArgumentParser()
    for name in ("prefix", "source", "build", "left-out", "log"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("folders", nargs="*")
    args = parser.parse_args()
    args.root = pathlib.Path(__file__).resolve().parents[3]
    left_out = {line.split(":")[0] for line in args.left_out.read_text().splitlines() if not line.startswith("#")}
    passed = failed = 0
    with open(args.log, "w") as log:
        for folder in args.folders or FOLDERS:
            for test in tests_of(args, folder):
                if test.name in left_out:
                    continue
                why = run(args, test, log)
                passed, failed = passed + (why is None), failed + (why is not None)
                if why is not None:
                    print(f"FAILED  {test.name}, {test.ranks} ranks: {why}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
