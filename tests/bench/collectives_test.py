"""The figures of the suites `collectives`: a panel for each collective, a line for each library and form."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
drawn = {}
sys.modules["figures"] = types.SimpleNamespace(  # instead of matplotlib
    panels=lambda path, title, xlabel, ylabel, panels, **_: drawn.update({path.stem: panels}), machine_line=lambda results: "")
import draw_collectives  # noqa: E402

FOLDER = pathlib.Path("figures")


def row(metric, size, suite="collectives", **values):
    libraries = {name: {"median": value} for name, value in values.items()}
    return {"suite": suite, "metric": metric, "size": size, "unit": "us", "libraries": libraries, "failures": {}}


def results(*rows):
    return {"libraries": [{"name": name, "title": name.upper(), "version": "1"} for name in ("heddle", "mpich")], "results": rows}


class Figures(unittest.TestCase):
    def setUp(self):
        drawn.clear()

    def test_lines_are_libraries_and_forms(self):
        rows = [row(f"coll-{form}-bcast-4", size, heddle=us * size, mpich=2.0 * us * size)
                for form, us in (("blocking", 1.0), ("persistent", 3.0), ("init", 5.0), ("nonblocking", 7.0)) for size in (8, 1024)]
        files = draw_collectives.collectives(results(*rows), FOLDER)
        self.assertEqual(files, [FOLDER / "collectives-4.svg"])
        self.assertEqual(list(drawn["collectives-4"]), ["bcast"])
        lines = drawn["collectives-4"]["bcast"]
        self.assertEqual(lines["HEDDLE 1, blocking"], [(8, 8.0), (1024, 1024.0)])
        self.assertEqual(lines["MPICH 1, made and freed"], [(8, 80.0), (1024, 10240.0)])
        self.assertEqual(len(lines), 6)

    def test_a_figure_for_each_number_of_ranks(self):
        files = draw_collectives.collectives(results(row("coll-blocking-reduce-16", 8, heddle=2.0), row("coll-init-alltoall-2", 8, heddle=1.0),
                                                     row("coll-blocking-barrier-2", 0, heddle=1.0)), FOLDER)
        self.assertEqual([path.stem for path in files], ["collectives-2", "collectives-16"])
        self.assertEqual(drawn["collectives-2"], {"alltoall": {"HEDDLE 1, made and freed": [(8, 1.0)]}})

    def test_nothing_to_draw(self):
        with self.assertRaises(SystemExit):
            draw_collectives.collectives(results(row("latency", 8, heddle=1.0)), FOLDER)


if __name__ == "__main__":
    unittest.main()
