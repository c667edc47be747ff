"""What bench/run starts for the suites `partitioned`, and what bench/draw makes of what comes."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import draw_partitioned  # noqa: E402
import perceived  # noqa: E402
import suites  # noqa: E402
import targets  # noqa: E402

SIZES = (1 << 16, 1 << 20, 1 << 26)


def results(values):
    """(library, way) → a bandwidth for each size."""
    rows = [{"suite": "partitioned", "metric": f"{way}-16-10-4", "size": size, "unit": "MiB/s", "failures": {},
             "libraries": {library: {"median": of_size[i]} for (library, w), of_size in values.items() if w == way}}
            for way in {way for _, way in values} for i, size in enumerate(SIZES)]
    libraries = [{"name": name, "title": title, "version": "1"} for name, title in (("heddle", "Heddle"), ("mpich", "MPICH"), ("other", "Other"))]
    return {"results": rows, "libraries": libraries}


class Suites(unittest.TestCase):
    def test_every_program_has_every_size(self):
        for programs, sizes in ((suites.partitioned(2), 6), (suites.partitioned_long(2), 11)):
            for program in programs:
                self.assertEqual(len(program.points), sizes, program)
                self.assertTrue(all(int(size) % 512 == 0 for size in program.points))

    def test_every_target_is_of_a_row_that_is_measured(self):
        measured = {(f"{program.args[0]}-{'-'.join(program.args[1:4])}", int(size))
                    for program in suites.partitioned(2) for size in program.points}
        for suite, metric, size in targets.TARGETS:
            if suite == "partitioned":
                self.assertIn((metric.replace("overlap", "arrive").replace("times", "part"), size), measured)

    def test_the_long_one_runs_when_it_is_named(self):
        self.assertTrue(suites.SUITES["partitioned-long"].lacking())


class TimesASingleSend(unittest.TestCase):
    def test_the_mean_over_the_sizes_up_to_16_mib_of_the_best_peer(self):
        found = results({("heddle", "part"): (10, 40, 1000), ("heddle", "single"): (1, 1, 1), ("mpich", "single"): (5, 2, 1),
                         ("other", "single"): (1, 10, 1)})
        self.assertAlmostEqual(draw_partitioned.times_a_single_send(found, "partitioned", "16-10-4"), (10 / 5 + 40 / 10) / 2)
        self.assertEqual(draw_partitioned.scenes(found), [("partitioned", "16", "10", "4")])

    def test_it_is_a_row_with_a_target(self):
        found = results({("heddle", "part"): (45, 90, 1), ("mpich", "single"): (5, 10, 1)})
        row, = perceived.rows(found)
        self.assertEqual((row["metric"], row["size"]), ("times-16-10-4", 16 << 20))
        self.assertTrue(targets.judge(row, None, {}, 2)["reached"])
        row["libraries"]["heddle"]["median"] = 8
        self.assertFalse(targets.judge(row, None, {}, 2)["reached"])

    def test_elsewhere_perceived_bandwidth_is_judged_beside_the_peers(self):
        row = {"suite": "partitioned", "metric": "part-16-10-4", "size": 1 << 20, "unit": "MiB/s", "failures": {}, "libraries": {"heddle": {"median": 60e3}}}
        self.assertFalse(targets.judge(row, 50e3, {}, 2)["reached"])
        self.assertTrue(targets.judge(row, 50e3, {}, 16)["reached"])
        self.assertFalse(targets.judge(row, 70e3, {}, 16)["reached"])

    def test_none_without_peers(self):
        found = results({("heddle", "part"): (1, 1, 1)})
        self.assertIsNone(draw_partitioned.times_a_single_send(found, "partitioned", "16-10-4"))


class Peaks(unittest.TestCase):
    def test_each_library_has_one(self):
        found = results({("heddle", "part"): (1, 3, 2), ("mpich", "part"): (4, 1, 1), ("other", "single"): (9, 9, 9)})
        self.assertEqual(list(draw_partitioned.peaks(found, "partitioned", "16-10-4").values()), [(SIZES[1], 3), (SIZES[0], 4)])


if __name__ == "__main__":
    unittest.main()
