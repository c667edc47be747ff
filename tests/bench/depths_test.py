"""What bench/patterns/run reads of its programs' output, and how it names numbers of ranks."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import depths  # noqa: E402
import depths_report  # noqa: E402


class Reading(unittest.TestCase):
    def test_depths_by_scope_and_queue(self):
        text = "result milc 4 10 us\ndepth communicator posted 1.5 1 2 40\ndepth simulated posted 1.25 1 3 30\n"
        self.assertEqual(depths.depths_of(text), {
            "communicator": {"posted": {"mean": 1.5, "min": 1, "max": 2, "searches": 40}},
            "simulated": {"posted": {"mean": 1.25, "min": 1, "max": 3, "searches": 30}}})
        self.assertEqual(depths.depths_of("patterns: no depth\n"), {})

    def test_bits(self):
        self.assertEqual(depths.bits_of("end 1 2\nbits 3 0.1 0.2 0.3 0.4\n"), [
            {"bits": 3, "met mean": 0.1, "met worst": 0.2, "possible mean": 0.3, "possible worst": 0.4}])


class Ranks(unittest.TestCase):
    def test_several_in_one_word(self):
        self.assertEqual(depths.numbers("32"), [32])
        self.assertEqual(depths.numbers("27,216"), [27, 216])
        for text in ("", "27,", "1", "milc"):
            with self.assertRaises(ValueError):
                depths.numbers(text)

    def test_lulesh_gets_a_cube(self):
        self.assertEqual([depths.ranks_for("lulesh", n) for n in (8, 32, 64, 128, 256)], [8, 27, 64, 125, 216])
        self.assertEqual(depths.ranks_for("hpcg", 32), 32)

    def test_cubes_stand_with_the_others(self):
        rows = [{"wanted": 32, "ranks": 27}, {"wanted": 32, "ranks": 32}, {"wanted": 64, "ranks": 64}]
        self.assertEqual(depths_report.ranks_label({"rows": rows}, 32), "27/32 ranks")


if __name__ == "__main__":
    unittest.main()
