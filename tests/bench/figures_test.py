"""A figure has the series that it was given, in their panels, and is the same again for the same data; what cannot be drawn is said."""

import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import drawings  # noqa: E402
import figures  # noqa: E402

GROUP, PATH, TEXT = (f"{{http://www.w3.org/2000/svg}}{tag}" for tag in ("g", "path", "text"))
SKIPPED = 77
ENDED = [("posted-random", 64, 30.0), ("posted-random", 1024, 40.0), ("posted-in_order", 64, 25.0)]


class Drawn:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        groups = [group for group in ElementTree.fromstring(self.bytes).iter(GROUP)]
        self.series = {group.get("id"): self.points(group) for group in groups if group.get("id", "").startswith("series-")}
        self.bars = [group.get("id") for group in groups if group.get("id", "").startswith("bar-")]
        self.error_bars = sum(group.get("id", "").startswith("LineCollection") for group in groups)
        self.texts = [text.text for text in ElementTree.fromstring(self.bytes).iter(TEXT)]

    @staticmethod
    def points(group):
        line = group.find(PATH).get("d").split()
        return [(float(x), float(y)) for command, x, y in zip(line[::3], line[1::3], line[2::3]) if command in "ML"]


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Drawing(InFolder):
    def draw(self, function, *args, **options):
        path = self.folder / "deeper/figure.svg"
        function(path, *args, **options)
        return Drawn(path)

    def test_a_line_for_each_series_through_all_its_points(self):
        series = {"list": [(1, 10), (64, 100), (4096, 1000)], "hash": [(1, 20), (64, 20)]}
        drawn = self.draw(figures.lines, "Matching", "depth", "ns", series, note="a machine")
        self.assertEqual({name: len(points) for name, points in drawn.series.items()}, {"series--list": 3, "series--hash": 2})
        for text in ("Matching", "depth", "ns", "list", "hash", "a machine", "4096", "1000"):
            self.assertIn(text, drawn.texts)

    def test_logarithmic_axes(self):
        """Equal ratios are equal distances; on plain axes equal differences are."""
        for log, points in ((True, [(1, 10), (64, 100), (4096, 1000)]), (False, [(0, 0), (5, 7), (10, 14)])):
            (x0, y0), (x1, y1), (x2, y2) = self.draw(figures.lines, "", "", "", {"s": points}, logx=log, logy=log).series["series--s"]
            self.assertAlmostEqual(x1 - x0, x2 - x1, places=3)
            self.assertAlmostEqual(y1 - y0, y2 - y1, places=3)
            self.assertGreater(x1, x0)
            self.assertLess(y1, y0)  # SVG counts from above

    def test_points_are_drawn_by_x_whatever_their_order(self):
        xs = [x for x, _ in self.draw(figures.lines, "", "", "", {"s": [(64, 1), (1, 2), (8, 3)]}).series["series--s"]]
        self.assertEqual(xs, sorted(xs))

    def test_no_place_on_a_logarithmic_axis(self):
        for point in ((0, 1), (1, 0), (1, -2)):
            with self.assertRaisesRegex(ValueError, "of `s` has no place"):
                self.draw(figures.lines, "", "", "", {"s": [point]})

    def test_panels_share_the_legend(self):
        panels = {"random": {"list": [(1, 2), (2, 3)], "hash": [(1, 2)]}, "in order": {"hash": [(1, 1), (2, 1)]}, "c": {}, "d": {}}
        drawn = self.draw(figures.panels, "T", "depth", "ns", panels)
        self.assertEqual(set(drawn.series), {"series-random-list", "series-random-hash", "series-in_order-hash"})
        self.assertEqual([drawn.texts.count(text) for text in ("list", "hash", "random", "in order")], [1, 1, 1, 1])

    def test_more_series_than_colours(self):
        series = {f"engine {i}": [(1, i + 1), (2, i + 1)] for i in range(12)}
        self.assertEqual(len(self.draw(figures.lines, "T", "", "", series).series), 12)
        styles = [tuple(figures.Style(series).of_line(name)[key] for key in ("color", "marker")) for name in series]
        self.assertEqual(len(set(styles)), 12)

    def test_bars_with_and_without_a_range(self):
        groups = {"LAMMPS": {"32": (3, 1, 5), "256": (4, 2, 9)}, "HPCG": {"32": 3.0}}
        drawn = self.draw(figures.bars, "Search depth", "entries", groups)
        self.assertEqual(drawn.bars, ["bar-LAMMPS-32", "bar-LAMMPS-256", "bar-HPCG-32"])
        self.assertEqual(drawn.error_bars, 2)

    def test_the_same_data_give_the_same_file(self):
        first, second = (self.draw(figures.lines, "T", "x", "y", {"s": [(1, 1), (2, 2)]}).bytes for _ in range(2))
        self.assertEqual(first, second)


def results_of(ended, failures=(), compared="libraries"):
    rows = {}
    for metric, size, value in ended:
        rows[metric, size] = {"suite": "matching", "metric": metric, "size": size, "unit": "ns", "failures": {},
                              "libraries": {"heddle": {"median": value}, "mpich": {"median": 10 * value}}}
    for key, name in failures:
        rows[key]["failures"][name] = "no end in 20 s"
    libraries = [{"name": name, "title": title, "version": "1"} for name, title in (("heddle", "Heddle"), ("mpich", "MPICH"))]
    machine = {"cpu": "A cpu", "cores": 2, "kernel": "6", "date": "today"}
    other = {"suite": "p2p", "metric": "posted-random", "size": 7, "libraries": {"heddle": {"median": 1}}, "failures": {}}
    return {"machine": machine, "libraries": libraries, "turns": 1, "noisy": [], "unsteady": [], "compared": compared,
            "results": [*rows.values(), other]}


class OfResults(InFolder):
    def test_a_panel_for_each_order_a_line_for_each_library(self):
        paths = drawings.matching(results_of(ENDED), self.folder)
        self.assertEqual([path.name for path in paths], ["matching-posted.svg"])
        drawn = Drawn(paths[0])
        self.assertEqual({name: len(points) for name, points in drawn.series.items()}, {
            "series-random_order-Heddle_1": 2, "series-random_order-MPICH_1": 2,
            "series-in_order-Heddle_1": 1, "series-in_order-MPICH_1": 1})
        self.assertIn("A cpu, 2 cores, Linux 6, today; medians of 1 turns", drawn.texts)

    def test_what_did_not_end_has_no_point(self):
        path, = drawings.matching(results_of(ENDED, [(("posted-random", 1024), "mpich"), (("posted-in_order", 64), "mpich")]), self.folder)
        self.assertEqual({name: len(points) for name, points in Drawn(path).series.items()}, {
            "series-random_order-Heddle_1": 2, "series-random_order-MPICH_1": 1, "series-in_order-Heddle_1": 1})

    def test_bandwidth_has_a_panel_for_each_size(self):
        ended = [(f"bandwidth-cold-{size}", depth, 5.0) for size in (1 << 20, 8) for depth in (1, 64)]
        path, = drawings.matching(results_of(ended, compared="engines"), self.folder)
        self.assertEqual(path.name, "matching-engines-bandwidth-cold.svg")
        self.assertEqual(list(Drawn(path).series), [f"series-{size}-{name}" for size in ("8_B", "1_MiB") for name in ("Heddle", "MPICH")])

    def test_nothing_to_draw(self):
        with self.assertRaisesRegex(SystemExit, "no results of the suite"):
            drawings.matching(results_of([]), self.folder)


class OfGoogleBenchmark(InFolder):
    CONTEXT = {"num_cpus": 2, "mhz_per_cpu": 2400, "date": "2026-01-02T03:04:05+00:00"}

    def entry(self, name, rate, **more):
        return {"run_name": name, "run_type": "iteration", "items_per_second": rate, **more}

    def test_the_median_of_repetitions(self):
        runs = [self.entry("list/random/64", rate) for rate in (1e9, 1e7, 1e8)]
        self.assertEqual(drawings.medians({"benchmarks": runs}), {"list/random/64": 10})
        given = self.entry("list/random/64", 5e7, run_type="aggregate")
        for name, ns in (("median", 20), ("mean", 10)):
            self.assertEqual(drawings.medians({"benchmarks": [*runs, {**given, "aggregate_name": name}]})["list/random/64"], ns)

    def test_without_items_it_is_the_time(self):
        run = {"run_name": "a/b/1", "run_type": "iteration", "cpu_time": 2.5, "time_unit": "us"}
        self.assertEqual(drawings.medians({"benchmarks": [run]}), {"a/b/1": 2500})
        taken = {**run, "run_name": "a/b/1/manual_time", "real_time": 1.5}
        self.assertEqual(drawings.medians({"benchmarks": [taken]}), {"a/b/1/manual_time": 1500})
        self.assertEqual(drawings.medians({"benchmarks": [{**taken, "median_ns": 7}]}), {"a/b/1/manual_time": 7})

    def test_the_default_engine_is_judged(self):
        series = {"list": [(2, 10), (64, 100)], "hash": [(2, 9), (64, 20)], "adaptive": [(2, 12.3), (64, 24.9)]}
        self.assertEqual(drawings.judged({"random/0": series, "cold/random/0": series}), ([], 2))
        series["adaptive"] = [(2, 12.3), (64, 25.1)]
        self.assertEqual(drawings.judged({"random/0": series}), (
            ["random/0, 64: adaptive 25.1 ns, hash 20.0 ns, list 100.0 ns"], 2))
        series |= {"adaptive": [(2, 12.3), (64, 24.9)], "hash": [(2, 30), (64, 20)], "list": [(2, 8.6), (64, 100)]}
        self.assertEqual(len(drawings.judged({"random/0": series})[0]), 1)

    def test_benchmarks_with_named_arguments(self):
        names = ("tail_queue/64/real_time/threads:2", "list_lock/64/real_time/threads:2", "list_lock/64/real_time/threads:4")
        measured = {"context": self.CONTEXT, "benchmarks": [self.entry(name, 1e8) for name in names]}
        drawn = Drawn(*drawings.tail_queue(measured, self.folder))
        self.assertEqual(sorted(drawn.series), ["series-2_threads-list_lock", "series-2_threads-tail_queue",
                                                "series-4_threads-list_lock"])
        names = ("list/depth:16/MiB:64/hot:1/iterations:200/manual_time", "list/depth:128/MiB:64/hot:1/iterations:200/manual_time")
        measured = {"context": self.CONTEXT, "benchmarks": [self.entry(name, 1e8) for name in names]}
        drawn = Drawn(*drawings.hot_cache(measured, self.folder))
        self.assertEqual([len(points) for points in drawn.series.values()], [2])

    def test_a_panel_for_each_shape(self):
        names = ("list/in_order/1", "list/in_order/64", "array_list:32/in_order/1", "list/cold/random/8/manual_time", "other", "list/x/y")
        failed = {"run_name": "hash/random/8", "run_type": "iteration", "error_occurred": True}
        measured = {"context": self.CONTEXT, "benchmarks": [*(self.entry(name, 1e8) for name in names), failed]}
        path, = drawings.engines(measured, self.folder)
        drawn = Drawn(path)
        self.assertEqual({name: len(points) for name, points in drawn.series.items()}, {
            "series-in_order-list": 2, "series-in_order-array_list_32": 1, "series-cold_random-list": 1})
        self.assertIn("2 cores of 2400 MHz, 2026-01-02 03:04", drawn.texts)


if __name__ == "__main__":
    try:
        figures.matplotlib()
    except SystemExit as why:
        print(why)
        sys.exit(SKIPPED)
    unittest.main()
