"""The suites `rma` and `rma-threads`: every row that a program can give has a text of its own, and which series their figures show."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
drawn = {}
sys.modules["figures"] = types.SimpleNamespace(  # instead of matplotlib
    panels=lambda path, title, xlabel, ylabel, panels, **_: drawn.update({path.stem: panels}), machine_line=lambda results: "")
import draw_rma  # noqa: E402
import labels  # noqa: E402
import suites  # noqa: E402

FOLDER = pathlib.Path("figures")


def row(suite, metric, size, **values):
    libraries = {name: {"median": value} for name, value in values.items()}
    return {"suite": suite, "metric": metric, "size": size, "unit": "us", "libraries": libraries, "failures": {}}


def results(*rows):
    return {"libraries": [{"name": name, "title": name.upper(), "version": "1"} for name in ("heddle", "mpich")], "results": rows}


class Suites(unittest.TestCase):
    def test_processes_fit_their_kind(self):
        for program in suites.rma_threads(2):
            everywhere = "everywhere" in program.args
            self.assertEqual(program.ranks > 2 or program.points == ("1",), everywhere, program)

    def test_labels_tell_kinds_apart(self):
        texts = [labels.label({"metric": metric.format(kind), "size": 4}) for kind in suites.WINDOWS_OF
                 for metric in ("putrate-{}", "bands-{}-2", "blocks-{}-2-get", "blocks-{}-2-update")]
        self.assertEqual(len(set(texts)), len(texts))
        self.assertTrue(all("{" not in text for text in texts))


class Figures(unittest.TestCase):
    def setUp(self):
        drawn.clear()

    def test_synchronisation_has_a_panel_for_each_library(self):
        draw_rma.rma(results(row("rma-sync", "sync-fence", 2, heddle=1.0, mpich=2.0), row("rma-sync", "sync-fence", 8, heddle=3.0)), FOLDER)
        self.assertEqual(drawn, {"rma-synchronisation": {"HEDDLE 1": {"fence": [(2, 1.0), (8, 3.0)]}, "MPICH 1": {"fence": [(2, 2.0)]}}})

    def test_puts_in_an_epoch_go_over_their_number(self):
        """Rows of a size in one panel; an epoch that took no longer with them than without has no point."""
        rows = [row("rma", f"puts-create-{n}", size, heddle=0.0 if n == 1 else 10.0 * n + size) for n in (1, 4, 16) for size in (8, 512)]
        draw_rma.rma(results(*rows), FOLDER)
        self.assertEqual(drawn["rma-epoch-create"], {"put of 8 B": {"HEDDLE 1": [(4, 48.0), (16, 168.0)]},
                                                     "put of 512 B": {"HEDDLE 1": [(4, 552.0), (16, 672.0)]}})

    def test_threads_have_a_panel_for_each_kind_of_window(self):
        draw_rma.threads(results(row("rma-threads", "putrate-own", 2, heddle=5.0), row("rma-threads", "putrate-hints", 2, heddle=6.0)), FOLDER)
        self.assertEqual(drawn, {"rma-put-rate": {"own windows": {"HEDDLE 1": [(2, 5.0)]}, "one window, hints": {"HEDDLE 1": [(2, 6.0)]}}})

    def test_nothing_to_draw(self):
        for draw in (draw_rma.rma, draw_rma.threads):
            with self.assertRaisesRegex(SystemExit, "no results of the suite"):
                draw(results(), FOLDER)


if __name__ == "__main__":
    unittest.main()
