"""A run that the machine disturbed is done again; one that it did not is done once, whatever came out."""

import contextlib
import io
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import steadiness  # noqa: E402
import suites  # noqa: E402


def run(lines, watch=None, patience=3, takes=1):
    """A run of which the line takes `lines[0]` before, `lines[1]` after, and so on; which attempt's result counts. With
    `patience`, in seconds, a slow line before a run is followed by another look, and a run of `takes` seconds is repeated."""
    times, attempts, seconds = iter(lines), iter(range(100)), iter(range(0, 100 * takes, takes))
    watch = watch or steadiness.Steadiness(None, pause=lambda seconds: None)
    watch.time_line, watch.clock = lambda: next(times), lambda: next(seconds)
    watch.patience = patience
    with contextlib.redirect_stderr(io.StringIO()):
        return watch.run(lambda: next(attempts)), watch


class SteadinessTest(unittest.TestCase):
    def test_quiet(self):
        result, watch = run([50, 60])
        self.assertEqual((result, watch.repeated, watch.disturbed), (0, 0, 0))

    def test_slow_after(self):
        _, watch = run([50, 50])
        result, watch = run([50, 200, 50, 50], watch)
        self.assertEqual((result, watch.repeated, watch.disturbed), (1, 1, 0))

    def test_the_machine_gets_faster_meanwhile(self):
        """What ran before the first fast line is known to be slow only then."""
        result, watch = run([200, 50, 50, 50])
        self.assertEqual((result, watch.repeated), (1, 1))

    def test_faster_for_once(self):
        _, watch = run([50, 50])
        _, watch = run([50, 30], watch)
        result, watch = run([50, 50], watch)
        self.assertEqual((result, watch.repeated, watch.disturbed), (0, 0, 0))

    def test_slow_after_each_until_patience_ends(self):
        _, watch = run([50, 50])
        result, watch = run([50, 200] * 3, watch, patience=5, takes=2)
        self.assertEqual((result, watch.repeated, watch.disturbed), (2, 2, 1))

    def test_without_patience(self):
        _, watch = run([50, 50])
        for lines in ([50, 200], [200, 50]):
            with self.subTest(lines=lines):
                watch.disturbed = 0
                result, watch = run(lines, watch, patience=0)
                self.assertEqual((result, watch.repeated, watch.disturbed), (0, 0, 1))

    def test_begins_when_the_cores_are_near(self):
        lines, waited = [200, 190, 50, 200], []
        watch = steadiness.Steadiness(lambda: lines.pop(0), pause=waited.append)
        watch.begin()
        self.assertEqual((lines, len(waited)), ([200], 2))

    def test_begins_after_a_minute_anyhow(self):
        waited = []
        steadiness.Steadiness(lambda: 200, pause=waited.append).begin()
        self.assertEqual(sum(waited), steadiness.FIRST)

    def test_waits_for_a_fast_line(self):
        _, watch = run([50, 50])
        result, watch = run([200, 200, 50, 50], watch, patience=1)
        self.assertEqual((result, watch.repeated, watch.disturbed), (0, 0, 0))

    def test_waits_for_long_without_getting_used_to_it(self):
        watch = None
        for _ in range(2):
            _, watch = run([50, 50], watch)
        result, watch = run([200] * 100 + [50, 50], watch, patience=50)
        self.assertEqual((result, watch.repeated, watch.disturbed), (0, 0, 0))

    def test_waits_no_longer_than_it_has_patience(self):
        watch = None
        for _ in range(10):
            _, watch = run([50, 50], watch)
        result, watch = run([200] * 6, watch, patience=1)  # four looks more, and the one after
        self.assertEqual((result, watch.repeated, watch.disturbed), (0, 0, 1))

    def test_what_runs_on_one_core_needs_no_near_ones(self):
        command = ["echo", "result", "rate", "8", "1", "M/s"]
        library = types.SimpleNamespace(name="heddle", variables={}, launch=lambda *_: command)
        for one_core, asked in ((True, 0), (False, 2)):
            lines, samples = [], suites.Samples()
            watch = steadiness.Steadiness(lambda lines=lines: lines.append(50) or 50, pause=None)
            program = suites.Program("datatypes/pack.c", 1, one_core=one_core)
            suites.Programs("datatypes", "", None).run_program(program, library, pathlib.Path(), [0, 1], samples, watch)
            self.assertEqual((len(lines), samples.values), (asked, {("datatypes", "rate", 8): {"heddle": [1.0]}}))


if __name__ == "__main__":
    unittest.main()
