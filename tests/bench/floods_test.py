"""How a flood's output is read, what becomes of one that fails, and whose failures count."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import floods  # noqa: E402
import suites  # noqa: E402

POINT = (2, 1000, 8, "order")


class Library:
    """Its launcher is a shell script, which counts how often it runs."""

    name, variables = "heddle", {}

    def __init__(self, script, count):
        self.script, self.count = script, count

    def launch(self, *_):
        return ["sh", "-c", f"echo x >> {self.count}; {self.script}"]


class Floods(unittest.TestCase):
    def run_twice(self, script):
        samples, suite = suites.Samples(), floods.Flood()
        with tempfile.TemporaryDirectory() as work, contextlib.redirect_stderr(io.StringIO()):
            count = pathlib.Path(work) / "count"
            for _ in range(2):
                suite.run_point(POINT, Library(script, count), pathlib.Path(work), [0], samples, "few", "disables", "1")
            return samples, len(count.read_text().split())

    def test_memory_and_disables_are_read(self):
        samples, runs = self.run_twice("echo flood: 9 x 9 bytes: memory grew by 1.5 MiB; echo flood: no room 7 times")
        self.assertEqual(samples.values["flood", "few-order-2", 8], {"heddle": [1.5, 1.5]})
        self.assertEqual(samples.values["flood", "few-order-2-disables", 8], {"heddle": [7, 7]})
        self.assertEqual(runs, 2)

    def test_what_fails_once_is_not_tried_again(self):
        samples, runs = self.run_twice("echo flood: 9 x 9 bytes: memory grew by 1.5 MiB; exit 3")
        self.assertEqual(samples.failures["flood", "few-order-2", 8], {"heddle": "exit code 3"})
        self.assertEqual(samples.values["flood", "few-order-2", 8], {})
        self.assertEqual(runs, 1)

    def test_silence_is_no_result(self):
        samples, _ = self.run_twice("true")
        self.assertEqual(samples.failures["flood", "few-order-2", 8], {"heddle": "no result"})

    def test_a_baseline_may_fail(self):
        self.assertTrue(floods.is_meant({"metric": "flow-credits-last-time"}))
        self.assertFalse(floods.is_meant({"metric": "flow-mpi-last-time"}))
        self.assertFalse(floods.is_meant({"metric": "flood-order-2"}))


if __name__ == "__main__":
    unittest.main()
