"""The suites `halo` and `elements`: what they run, what their rows are called, and which series their figures show."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
drawn = []
sys.modules["figures"] = types.SimpleNamespace(  # instead of matplotlib
    panels=lambda path, title, xlabel, ylabel, panels, **_: drawn.append((path.name, panels)),
    lines=lambda path, title, xlabel, ylabel, series, **_: drawn.append((path.name, series)),
    machine_line=lambda results: "")
import draw_halo  # noqa: E402
import labels  # noqa: E402
import suites  # noqa: E402

FOLDER = pathlib.Path("figures")


def row(suite, metric, size, failures=(), **values):
    libraries = {name: {"median": value} for name, value in values.items()}
    return {"suite": suite, "metric": metric, "size": size, "unit": "us", "libraries": libraries, "failures": dict(failures)}


def results(*rows, **more):
    return {"libraries": [{"name": name, "title": name.upper(), "version": "1"} for name in ("list", "hash")], "results": rows, **more}


class Suites(unittest.TestCase):
    def test_each_decomposition_fits_its_stencil(self):
        seen = set()
        for program in suites.halo(2):
            mode, points = program.args
            seen.add((mode, points))
            for point in program.points:
                self.assertEqual(len(point.split("x")), 2 if points in ("5", "9") else 3, point)
        self.assertEqual(len(seen), 8)

    def test_labels(self):
        for metric, size, text in (
                ("drain-27-shuffle-1x1", 64, "27 points, 1x1x64, shuffle, time to drain"),
                ("depth-9-in_order-1", 4, "9 points, 1x4, in order, mean search depth"),
                ("communicate-elements", 1, "1 thread a rank, communication"),
                ("iterate-elements", 2, "2 threads a rank, an iteration"),
                ("beside", 64, "one thread posts, one takes in, behind 64 entries each"),
                ("compute-elements", 16, "16 threads a rank, computation")):
            self.assertEqual(labels.label({"metric": metric, "size": size}), text)


class Figures(unittest.TestCase):
    def setUp(self):
        drawn.clear()

    def test_a_panel_for_each_stencil_of_columns_alone(self):
        got = results(row("halo", "depth-27-shuffle-1x1", 4, list=25, hash=1), row("halo", "depth-27-shuffle-1x1", 16, list=97, hash=1),
                      row("halo", "depth-5-shuffle-1", 4, list=3, hash=1), row("halo", "depth-27-shuffle-8x8", 8, list=700, hash=2),
                      row("elements", "depth-27-shuffle-1x1", 64, list=9))
        self.assertEqual(draw_halo.halo(got, FOLDER), [FOLDER / "halo-depth-shuffle.svg"])
        self.assertEqual(drawn, [("halo-depth-shuffle.svg", {
            "5 points, 1 × y": {"LIST 1": [(4, 3)], "HASH 1": [(4, 1)]},
            "27 points, 1 × 1 × z": {"LIST 1": [(4, 25), (16, 97)], "HASH 1": [(4, 1), (16, 1)]}})])

    def test_a_point_that_had_no_end_is_not_drawn(self):
        got = results(row("halo", "drain-7-threads-1x1", 4, list=1, hash=2),
                      row("halo", "drain-7-threads-1x1", 16, {"hash": "no end in 20 s"}, list=5))
        draw_halo.halo(got, FOLDER)
        self.assertEqual(drawn, [("halo-drain-threads.svg", {"7 points, 1 × 1 × z": {"LIST 1": [(4, 1), (16, 5)], "HASH 1": [(4, 2)]}})])

    def test_elements_under_engines(self):
        got = results(row("elements", "compute-elements", 1, list=10), row("elements", "communicate-elements", 1, list=20),
                      row("elements", "depth-elements", 1, list=2), compared="engines")
        draw_halo.elements(got, FOLDER)
        self.assertEqual(drawn, [
            ("elements-engines-time.svg", {"computation": {"LIST": [(1, 10)]}, "communication": {"LIST": [(1, 20)]}}),
            ("elements-engines-depth.svg", {"LIST": [(1, 2)]})])

    def test_without_results(self):
        for draw in (draw_halo.halo, draw_halo.elements):
            with self.assertRaisesRegex(SystemExit, "bench/run"):
                draw(results(), FOLDER)


if __name__ == "__main__":
    unittest.main()
