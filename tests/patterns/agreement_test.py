"""Where the program determines the order of arrival, the running library and the simulator count the same searches.

The library's are those of the pattern's communicator, by its performance variables.
"""

import sys
import tempfile

from record import Recorder

def counts(text, scope):
    """(rank, queue) → searches, inspected."""
    words = [line.split() for line in text.splitlines()]
    return {(w[1], w[3]): (int(w[4]), int(w[5])) for w in words if w[:1] == ["rank"] and w[2] == scope}


def counted_by_both(recorder):
    """The program counts its messages itself, and all of its communicators are counted from outside: the same searches."""
    said = recorder.run("/nowhere", 4, recorder.bench / "patterns", "ordered", HEDDLE_MATCHING="list", TRACE_FOLDER="",
                        LD_PRELOAD=str(recorder.bench / "libcount.so"))
    lines = [line for line in said.splitlines() if line.startswith("depth communicator ")]
    if len(lines) != 4 or lines[:2] != lines[2:]:
        sys.exit(f"the program and libcount.so do not count the same: {said}")


def main():
    recorder = Recorder(sys.argv[1])
    for ranks in (2, 3, 4, 7, 32):
        with tempfile.TemporaryDirectory() as folder:
            said = recorder.run(folder, ranks, recorder.bench / "patterns", "ordered", "--iterations", "5", "--ranks",
                                HEDDLE_MATCHING="list")
            measured = counts(said, "communicator")
            if not measured:
                sys.exit(f"{ranks} ranks: the library has counted nothing: {said}")
            replayed = recorder.simulate(folder, "--each-rank")
            simulated = counts(replayed.stdout, "simulated")
        if len(simulated) != 2 * ranks:
            sys.exit(f"{ranks} ranks: the simulator says only {replayed.stdout}{replayed.stderr}")
        if measured != simulated:
            differing = {key: (measured.get(key), value) for key, value in simulated.items() if measured.get(key) != value}
            sys.exit(f"{ranks} ranks: (searches, inspected) of the library and of the simulator differ: {differing}")
        if any(inspected <= searches for (_, queue), (searches, inspected) in measured.items() if queue == "posted"):
            sys.exit(f"{ranks} ranks: all searches were of depth 1, which shows nothing: {measured}")
    counted_by_both(recorder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
