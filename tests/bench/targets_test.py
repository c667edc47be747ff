"""When a target counts as reached, and when it scales with the machine."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import targets  # noqa: E402


def limits_of(line=targets.LINE, slot=targets.SLOT, copy=targets.COPY, **bare):
    return {("line", 64): line, ("slot", 8): slot, ("copy", 1 << 20): copy, **{("bare", int(n[1:])): us for n, us in bare.items()}}


REFERENCE = limits_of()


def judge(suite, metric, size, unit, heddle, best=None, limits=None, cores=2, unsteady=(), failed=False):
    row = {"suite": suite, "metric": metric, "size": size, "unit": unit,
           "libraries": {} if heddle is None else {"heddle": {"median": heddle}},
           "failures": {"heddle": "no end in 20 s"} if failed else {}}
    return targets.judge(row, best, limits or REFERENCE, cores, unsteady)


class Judging(unittest.TestCase):
    def test_a_time_within_the_margin_is_reached(self):
        self.assertTrue(judge("p2p", "latency", 8, "us", 0.0875)["reached"])
        missed = judge("p2p", "latency", 8, "us", 0.0935)
        self.assertFalse(missed["reached"])
        self.assertAlmostEqual(missed["beyond"], 0.1)

    def test_a_plan_is_compiled_in_time(self):
        self.assertTrue(judge("compiling", "compile-allreduce", 64, "us", 990)["reached"])
        self.assertFalse(judge("compiling", "compile-allgather", 64, "us", 1100)["reached"])
        self.assertFalse(judge("compiling", "compile-allgather", 100_000, "us", 110e3, limits=limits_of(line=200, slot=200))["reached"])
        self.assertTrue(judge("compiling", "compile-alltoall", 100_000, "us", 99e3)["reached"])

    def test_a_rate_is_reached_from_above(self):
        self.assertTrue(judge("p2p", "rate", 8, "M/s", 90.0)["reached"])
        self.assertTrue(judge("p2p", "rate", 8, "M/s", 43.7)["reached"])
        self.assertAlmostEqual(judge("p2p", "rate", 8, "M/s", 36.0)["beyond"], 0.2)

    def test_the_best_peer_is_the_target_where_it_is_stricter(self):
        self.assertEqual(judge("p2p", "latency", 8, "us", 0.08, best=0.07)["figure"], 0.07)
        self.assertEqual(judge("p2p", "latency", 8, "us", 0.08, best=0.1)["figure"], 0.085)
        self.assertEqual(judge("p2p", "latency", 64, "us", 0.08, best=0.1)["figure"], 0.1)
        self.assertIsNone(judge("p2p", "latency", 64, "us", 0.08))

    def test_without_a_figure_of_heddle_there_is_no_verdict(self):
        self.assertIsNone(judge("p2p", "rate", 8, "M/s", None))
        failed = judge("threads", "pairs-own", 2, "M/s", None, failed=True)
        self.assertFalse(failed["reached"])
        self.assertNotIn("beyond", failed)

    def test_a_run_that_failed_once_has_not_reached_its_target(self):
        self.assertFalse(judge("threads", "pairs-own", 2, "M/s", 100.0, failed=True)["reached"])

    def test_some_hold_for_two_cores_only(self):
        self.assertIsNotNone(judge("oversubscribed", "ring", 16, "us", 8.0, cores=2))
        self.assertIsNone(judge("oversubscribed", "ring", 16, "us", 8.0, cores=4))


class Scaling(unittest.TestCase):
    def figure(self, metric, size, unit, unsteady=(), **limits):
        return judge("p2p", metric, size, unit, 1.0, limits=limits_of(**limits), unsteady=unsteady)["figure"]

    def test_small_messages_scale_with_the_slot(self):
        self.assertAlmostEqual(self.figure("latency", 8, "us", slot=1.5 * targets.SLOT), 0.1275, places=3)
        self.assertAlmostEqual(self.figure("rate", 8, "M/s", slot=1.5 * targets.SLOT), 30, places=0)

    def test_large_messages_scale_with_the_copy(self):
        self.assertAlmostEqual(self.figure("latency", 4 << 20, "us", copy=targets.COPY / 1.5), 210, places=1)

    def test_between_them_each_part_scales_with_its_own(self):
        half = int(targets.SLOT * targets.COPY)  # bytes: copied while a slot moves
        for limits in (limits_of(slot=1.5 * targets.SLOT), limits_of(copy=targets.COPY / 1.5)):
            self.assertAlmostEqual(targets.slowness(limits, half), 1.25)

    def test_a_faster_machine_is_held_to_more(self):
        fast = {"line": targets.LINE / 4, "slot": targets.SLOT / 4}
        self.assertAlmostEqual(self.figure("latency", 8, "us", **fast), 0.085 / 4, places=3)
        self.assertAlmostEqual(self.figure("rate", 8, "M/s", copy=4 * targets.COPY, **fast), 180)

    def test_of_line_and_slot_the_slower_counts(self):
        self.assertAlmostEqual(self.figure("latency", 8, "us", slot=targets.SLOT / 4), 0.085, places=3)
        self.assertAlmostEqual(self.figure("latency", 8, "us", line=targets.LINE * 1.5), 0.1275, places=3)

    def test_no_latency_is_asked_below_what_bare_copies_take(self):
        for bare, figure in ((80, 140 / 1.5), (100, 110), (120, 132), (200, 140)):
            asked = self.figure("latency", 4 << 20, "us", copy=1.5 * targets.COPY, **{f"_{4 << 20}": bare})
            self.assertAlmostEqual(asked, figure, delta=0.1)
        self.assertAlmostEqual(self.figure("latency", 4 << 20, "us", unsteady={("bare", 4 << 20)}, **{f"_{4 << 20}": 300}), 140, places=1)

    def test_a_slow_machine_excuses_so_much_only(self):
        self.assertAlmostEqual(self.figure("latency", 8, "us", slot=100 * targets.SLOT, copy=0.1), 0.171, places=3)

    def test_what_moved_excuses_nothing(self):
        self.assertAlmostEqual(self.figure("latency", 8, "us", slot=100 * targets.SLOT, unsteady={targets.SLOTS}), 0.085)
        self.assertAlmostEqual(self.figure("latency", 8, "us", line=targets.LINE / 2, slot=targets.SLOT / 2, unsteady={targets.LINES}), 0.0425, places=3)

    def test_a_target_of_many_small_messages_scales_like_one(self):
        for depth, figure in ((64, 32), (1024, 50), (4096, 60)):
            for slower in (1, 1.5):
                limits = limits_of(slot=slower * targets.SLOT)
                posted, unexpected = (judge("matching", metric, depth, "ns", 1, limits=limits)["figure"]
                                      for metric in ("posted-random", "unexpected-random"))
                self.assertAlmostEqual(posted, slower * figure, places=0)
                self.assertEqual(unexpected, figure)  # they have come before the time is taken

    def test_what_crosses_no_line_does_not_scale(self):
        limits = limits_of(slot=3 * targets.SLOT, copy=1.0)
        self.assertEqual(judge("threads", "self", 1, "M/s", 20.0, limits=limits)["figure"], 20)

    def test_more_ranks_than_cores_wait_for_switches(self):
        def figure(slower, best=None, unsteady=()):
            limits = {**limits_of(slot=3 * targets.SLOT), ("switch", 8): slower * targets.SWITCH}
            return judge("oversubscribed", "ring", 16, "us", 1, best=best, limits=limits, unsteady=unsteady)["figure"]

        self.assertAlmostEqual(figure(1), 10)
        self.assertAlmostEqual(figure(1.5), 15)
        self.assertAlmostEqual(figure(0.5), 5)
        self.assertAlmostEqual(figure(9), 20)
        self.assertAlmostEqual(figure(1.5, unsteady={targets.SWITCHES}), 10)
        self.assertAlmostEqual(figure(1.5, best=12), 12)
        self.assertAlmostEqual(figure(1.5, best=20), 15)
        self.assertAlmostEqual(figure(1.5, best=8), 10)
        self.assertAlmostEqual(figure(0.5, best=8), 5)

    def test_one_core_has_no_limits(self):
        self.assertEqual(judge("p2p", "rate", 8, "M/s", 1.0, limits={("busy", 0): 3.0})["figure"], 45)


if __name__ == "__main__":
    unittest.main()
