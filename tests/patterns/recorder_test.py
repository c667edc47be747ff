"""What the recorder writes of a program that completes requests in every way, and that it can be replayed."""

import sys
import tempfile
import unittest

from record import Recorder, lines_of

BUILD = sys.argv.pop(1)


class Recording(unittest.TestCase):
    def setUp(self):
        self.recorder = Recorder(BUILD)
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name

    def test_every_way_to_complete(self):
        self.recorder.run(self.folder, 4, f"{BUILD}/tests/patterns/patterns_traced")
        lines = lines_of(self.folder, 2)
        self.assertEqual(lines[:10], ["G 0 0 1 2 3", "G 1 2", "R 0 * 0 0 4", "R 1 1 1 0 4", "R 2 * 2 0 4", "R 3 1 3 0 4",
                                      "S 4 3 0 0 4", "S 5 3 1 0 4", "S 6 3 2 0 4", "S 7 3 3 0 4"])
        waits = [line for line in lines if line.startswith("W")]
        self.assertEqual(sorted(waits[:4]), ["W 0", "W 1", "W 2", "W 3"])  # in the order in which they came
        self.assertEqual(sorted(map(int, waits[4].split()[1:])), [4, 5, 6, 7])
        self.assertEqual(lines[15:], ["R 8 1 * 0 4", "Y 9 3 9 0 4", "W 8", "W 9", "G 2 2 0", "R 10 0 5 2 4", "S 11 0 5 2 4",
                                      "W 10 11", "C barrier 2", "C allreduce 0"])
        replayed = self.recorder.simulate(self.folder, "--each-rank")
        self.assertEqual(replayed.returncode, 0, replayed.stderr)
        self.assertRegex(replayed.stdout, r"rank 3 simulated posted 6 \d+\n")

    def test_probes_and_cancels(self):
        self.recorder.run(self.folder, 4, f"{BUILD}/tests/patterns/patterns_traced", "probe")
        lines = lines_of(self.folder, 2)
        at = lines.index("C allreduce 0") + 1
        self.assertEqual(lines[at:], ["S 12 3 8 0 4", "P * 8 0", "P 1 * 0", "R 13 1 8 0 4", "W 13", "W 12", "R 14 1 8 0 4",
                                      "R 15 * * 0 4", "K 15", "W 15", "S 16 3 8 0 4", "W 14", "W 16"])
        replayed = self.recorder.simulate(self.folder, "--each-rank")
        self.assertEqual(replayed.returncode, 0, replayed.stderr)
        self.assertRegex(replayed.stdout, r"rank 2 simulated posted 8 \d+\n")  # no more than without the cancelled one

    def refused(self, argument, what):
        said = self.recorder.run(self.folder, 4, f"{BUILD}/tests/patterns/patterns_traced", argument)
        self.assertIn(f"trace: {what} is not recorded, the trace of rank 0 is not complete", said)
        refused = self.recorder.simulate(self.folder)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, rf"^simulate: .*/0.trace:\d+: the program used {what}, which is not recorded\n$")

    def test_what_is_not_recorded_is_told(self):
        self.refused("mprobe", "MPI_Improbe")
        self.refused("collective", "a request of another kind than a send or a receive")


if __name__ == "__main__":
    unittest.main()
