"""What Heddle must reach, and whether it does.

The figures are for a machine whose bare limits are LINE, SLOT and COPY. What a message of n bytes costs above all is a slot of a
ring that moves, and its bytes: SLOT + n / COPY. So its target scales with what the same run measured of these, each part with its
own: COPY ÷ measured copy, and for the slot what excuses more, measured line ÷ LINE or slot ÷ SLOT (some machines move lines in a
row faster than one line, or slower); a rate by the inverse of that. A target gets stricter on a faster machine without bounds, but
a latency's never below FLOOR times what the bare copies of a ping-pong of that size took in the same run: what the machine
forbids is not asked. It gets looser on a slower one by at most SLOWEST_SLOT and SLOWEST_COPY (two virtual machines on AMD EPYC
have copied 48 and 8 GB/s), and not at all when that limit moved during the run, or the run was noisy for other reasons: then it tells
of other people's work. More ranks than cores mostly wait for the kernel to switch between them, so those targets scale with the
measured switch ÷ SWITCH (a yield of the machine in docs/decisions/waiting.md), by at most SLOWEST_SWITCH. What moves no line and copies nothing (messages to oneself, the start of a program, memory, ratios) does not scale.
"""

import dataclasses

import perceived
import suites

LINE, SLOT, COPY = 57.0, 62.0, 35.0  # ns; ns; GB/s, which is bytes per ns
SWITCH = 1.4  # us
LINES, SLOTS, COPIES, SWITCHES = ("line", 64), ("slot", 8), ("copy", 1 << 20), ("switch", 8)
FLOOR = 1.1
SLOWEST_SLOT, SLOWEST_COPY, SLOWEST_SWITCH = 2.0, 5.0, 2.0
MARGIN = 0.03  # a median this near its target has reached it
BIGGER_IS_BETTER = {"M/s", "GB/s", "MB/s", "MiB/s", "x"}


@dataclasses.dataclass(frozen=True)
class Target:
    figure: float = None  # none: the best peer is the target
    bytes: int = None  # of the message that it is about; none: it does not scale with lines and copies
    switches: bool = False  # it scales with a switch between processes instead, loosened by no more than the best peer needs
    best_peer: bool = False  # nor may it be slower than the best peer
    cores: int = 0  # holds on a machine of that many cores only


LATENCIES = {8: 0.085, 1 << 10: 0.16, 4 << 10: 0.35, 16 << 10: 0.9, 64 << 10: 2.8, 1 << 20: 36, 4 << 20: 140}


def datatypes():
    """Blocks at 80 % of memcpy: in a row, where it comes from the first-level cache or from memory; of each block too, where lines that
    nobody wants come along. In memory also as fast as the bare loop, which says whether the machine lets the 80 % be reached. A column
    at twice the loop's speed, where neither waits for a line an element; from the second-level cache also as fast as the bare loop, as
    not every machine lets that be reached. Messages beside the peers."""
    made = {}
    for way in ("pack", "unpack"):
        for block in (64, 256):
            made["datatypes", f"{way}-l1", block] = Target(0.8)
        for block in (64, 256, 4096):
            made["datatypes", f"{way}-l2-each", block] = Target(0.8)
            made["datatypes", f"{way}-memory-each", block] = Target(0.8)
            made["datatypes", f"{way}-memory", block] = Target(0.8)
            made["datatypes", f"{way}-memory-bare", block] = Target(0.95)
        made["datatypes", f"{way}-indexed", 24] = Target(best_peer=True)
        made["datatypes", f"{way}-struct", 12] = Target(best_peer=True)
        made["datatypes", f"{way}-struct", 56] = Target(best_peer=True)
    made["datatypes", "column-l1", 16] = made["datatypes", "column-l2", 16] = Target(2)
    made["datatypes", "column-l2-bare", 16] = Target(0.95)
    made["datatypes", "columns", 4096] = Target(2)
    for size in (1 << 10, 32 << 10, 1 << 20):
        made["datatypes", "send-blocks", size] = Target(best_peer=True)
        made["datatypes", "send-column", size] = Target(best_peer=True)
    return made


def reductions():
    """80 % of memcpy where memory is what takes the time, and not x87."""
    made = {}
    for kind in ("int8", "int16", "int32", "int64", "float", "double", "complex", "doublecomplex"):
        for operation in ("sum", "prod"):
            made["reductions", f"reduce-{operation}-{kind}", 16 << 20] = Target(0.8)
    for kind in ("floatint", "doubleint", "longint", "intint"):
        made["reductions", f"reduce-maxloc-{kind}", 16 << 20] = Target(0.8)
    return made


def one_sided():
    """A target that is asleep is not waited for. Otherwise the best peer."""
    made = {}
    for kind, most in (("create", 5), ("dynamic", 5), ("allocate", 1), ("shared", 1)):
        for step in ("lock", "nocheck", "lockall", "put", "fetch"):
            figure = 0.2 if (step, most) == ("put", 1) else most
            made["rma", f"asleep-{step}-{kind}", 2] = Target(figure, bytes=8)
        for call in ("fetch", "swap", "accumulate", "getaccumulate"):
            made["rma", f"atomic-{call}-{kind}", 8] = Target(bytes=8, best_peer=True)
    for ranks in suites.SYNCHRONISED:
        for step in ("fence", "pscw", "shared", "exclusive", "lockall", "flush", "flushput"):
            made["rma-sync", f"sync-{step}", ranks] = Target(best_peer=True)
    for ranks in (2, 8):
        for what in ("communicator", "create", "allocate"):
            made["objects", f"make-{what}", ranks] = Target(best_peer=True)
    for kind in ("create", "allocate"):
        for size in (8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20):
            for metric in ("put", "get", "sum", "put-bandwidth", "get-bandwidth", "sum-bandwidth"):
                made["rma", f"{metric}-{kind}", size] = Target(best_peer=True)
        for size in (64, 512, 4 << 10, 32 << 10, 256 << 10):
            for metric in ("put-rows", "get-rows", "sum-rows"):
                made["rma", f"{metric}-{kind}", size] = Target(best_peer=True)
    for kind in suites.WINDOWS_OF:
        for threads in suites.PUTTING:
            made["rma-threads", f"putrate-{kind}", threads] = Target(best_peer=True)
    return made


# us, by bytes
MOVING = ("bcast", "reduce", "allreduce", "reducescatter", "allgather", "alltoall")
ALLREDUCE = {8: 0.12, 1 << 10: 0.25, 8 << 10: 0.8, 64 << 10: 4, 1 << 20: 60, 8 << 20: 600}


def collectives():
    """The best peer; an allreduce of two ranks has figures of its own. A persistent one takes no longer than a blocking one."""
    made = {}
    points = [("barrier", 0), *((what, size) for what in MOVING for size in ALLREDUCE)]
    for ranks in suites.COLLECTIVE_RANKS:
        for suite in (f"collectives-{ranks}", "collectives"):
            for what, size in points:
                own = ALLREDUCE[size] if (what, ranks) == ("allreduce", 2) else None
                for form in ("blocking", "nonblocking", "persistent"):
                    made[suite, f"coll-{form}-{what}-{ranks}", size] = Target(own, bytes=size or 8, best_peer=True)
                made[suite, f"coll-ratio-{what}-{ranks}", size] = Target(1)
    return made


def compiling():
    """1 ms on 64 ranks, 100 ms of a symmetric plan on 100,000."""
    made = {("compiling", f"compile-{what}", 64): Target(1e3) for what in (*suites.Compiling.symmetric, *suites.Compiling.others)}
    made.update({("compiling", f"compile-{what}", 100_000): Target(100e3) for what in suites.Compiling.symmetric})
    return made


# MiB/s, by bytes: 16 threads on two cores, 10 ms, 4 %
PERCEIVED = {64 << 10: 30e3, 256 << 10: 65e3, 1 << 20: 120e3, 4 << 20: 120e3, 16 << 20: 60e3, 64 << 20: 20e3}


def partitioned():
    """What is left when the last thread is ready is mostly who runs when, so nothing scales. At the receiver what comes first can be
    worked on for as long as the threads differ, but for 5 %."""
    made = {}
    for size, figure in PERCEIVED.items():
        made["partitioned", "part-16-10-4", size] = Target(figure, cores=2, best_peer=True)
        for noise in ("10-4", "10-10", "100-4", "100-10"):
            made["partitioned", f"overlap-16-{noise}", size] = Target(0.95)
            made["partitioned", f"times-16-{noise}", perceived.MEAN_UP_TO] = Target(8.9)
    return made


def table():
    made = {}
    for size in (8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20):
        figure = LATENCIES.get(size)
        made["p2p", "latency", size] = Target(figure, bytes=size, best_peer=True)
    for size in suites.BETWEEN:
        made["p2p-sizes", "latency", size] = Target(best_peer=True)
    made["p2p", "rate", 8] = Target(45, bytes=8)
    made["threads", "self", 1] = Target(20)
    made["threads", "self-speedup", 2] = Target(1.9)
    for threads in (2, 4, 8):
        made["threads", "pairs-own", threads] = Target(15, bytes=8)
        made["threads", "pairs-one", threads] = Target(10, bytes=8)
        made["threads", "pairs-hints", threads] = Target(15, bytes=8)
    for depth, figure in ((64, 32), (1024, 50), (4096, 60)):
        made["matching", "posted-random", depth] = Target(figure, bytes=8)
        made["matching", "unexpected-random", depth] = Target(figure)  # all have come: no line moves
    made.update(datatypes())
    made.update(one_sided())
    made.update(reductions())
    made.update(collectives())
    made.update(partitioned())
    made.update(compiling())
    made["oversubscribed", "ring", 16] = Target(10, switches=True, cores=2)
    made["oversubscribed", "barrier", 16] = Target(40, switches=True, cores=2)
    made["oversubscribed", "allreduce", 16] = Target(40, switches=True, cores=2)
    made["startup", "start", 1], made["startup", "start", 64] = Target(0.03), Target(0.4)
    made["startup", "rss", 2], made["startup", "rss", 64] = Target(5), Target(6)
    return made


TARGETS = table()


def slowness(limits, size, unsteady=()):
    """How much slower than the reference the machine moves a message of that size."""
    line, slot, copy = (limits.get(key) for key in (LINES, SLOTS, COPIES))
    most_slot = 1.0 if LINES in unsteady or SLOTS in unsteady else SLOWEST_SLOT
    most_copy = 1.0 if COPIES in unsteady else SLOWEST_COPY
    slot = min(max(line / LINE, slot / SLOT), most_slot) if line and slot else 1.0
    copy = min(COPY / copy, most_copy) if copy else 1.0
    return (SLOT * slot + size / COPY * copy) / (SLOT + size / COPY)


def switch_slowness(limits, unsteady):
    """How much longer than on the reference one process takes to give way to the next."""
    return min(limits.get(SWITCHES, SWITCH) / SWITCH, 1.0 if SWITCHES in unsteady else SLOWEST_SWITCH)


def judge(row, best_peer, limits, cores, unsteady=()):
    """None where no target is set; otherwise its figure, and how far Heddle is beyond it, as a part of it.

    limits: the median of each limit, by metric and size. unsteady: those that moved during the run, so they excuse nothing.
    """
    target = TARGETS.get((row["suite"], row["metric"], row["size"]))
    if target is None or "heddle" not in {*row["libraries"], *row["failures"]}:
        return None
    has_figure = target.figure is not None and target.cores in (0, cores)
    if target.switches and not has_figure:
        return None
    bigger = row["unit"] in BIGGER_IS_BETTER
    figures = [best_peer] if target.best_peer and best_peer is not None else []
    if target.switches:
        scaled = target.figure * switch_slowness(limits, unsteady)
        figures = [scaled if best_peer is None else min(scaled, max(best_peer, target.figure))]
    elif has_figure:
        slower = 1.0 if target.bytes is None else slowness(limits, target.bytes, unsteady)
        figures.append(target.figure / slower if bigger else target.figure * slower)
        bare = ("bare", target.bytes)
        if row["metric"] == "latency" and bare not in unsteady:  # of a fast machine not more than it can
            figures[-1] = max(figures[-1], min(FLOOR * limits.get(bare, 0), target.figure))
    if not figures:
        return None
    figure = max(figures) if bigger else min(figures)
    judged = {"figure": figure, "reached": False}
    if "heddle" in row["libraries"] and "heddle" not in row["failures"]:
        value = row["libraries"]["heddle"]["median"]
        judged["beyond"] = (figure - value if bigger else value - figure) / figure
        judged["reached"] = judged["beyond"] <= MARGIN
    return judged
