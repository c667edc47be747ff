"""What a row is called in a table, from its suite, metric and size."""

import re

RANKS, SIZE, COUNT = "ranks", "size", "count"  # what the size is

KINDS = {"own": "own communicators", "one": "one communicator", "hints": "one communicator, hints",
         "endpoints": "endpoints", "everywhere": "MPI everywhere", "funneled": "funneled"}

WITHOUT = {"all": "all there", "alignment": "no alignment to cache lines", "pools": "one pool of requests",
           "progress": "progress on all VCIs", "vcis": "one VCI", "fine": "one VCI, one lock", "locks": "no locks, no atomics"}

ORDERS = {"random": "random order", "reversed": "youngest first", "in_order": "in order"}
CACHES = {"warm": "caches warm", "cold": "caches emptied"}

KINDS_OF = {"without": WITHOUT, "posted": ORDERS, "unexpected": ORDERS, "bandwidth": CACHES}  # the others': KINDS

# metric → what the size is, and the text
METRICS = {
    "latency": (SIZE, "one way, {}"),
    "raw": (SIZE, "one way, {}, libfabric alone"),
    "rate": (SIZE, "message rate, {}, window 64"),
    "start": (RANKS, "mpiexec, {}"),
    "rss": (RANKS, "resident memory, {}"),
    "scale-init": (RANKS, "memory of a rank, {}"),
    "scale-comms": (RANKS, "the same, 16 communicators"),
    "scale-talk": (RANKS, "the same, 8 peers talked to on each"),
    "send single": (SIZE, "Isend + Wait, {}"),
    "send multiple": (SIZE, "Isend + Wait, {}, MULTIPLE"),
    "receive single": (SIZE, "Irecv + Wait, {}"),
    "receive multiple": (SIZE, "Irecv + Wait, {}, MULTIPLE"),
    "line": (SIZE, "cache line, one way"),
    "copy": (SIZE, "copied in and out"),
    "self": (COUNT, "to oneself, {} threads, 8 B"),
    "self-speedup": (COUNT, "to oneself, {} threads ÷ 1 thread"),
    "pack-l1": (SIZE, "pack 8 KiB in blocks of {} ÷ memcpy"),
    "pack-l1-each": (SIZE, "pack 8 KiB in blocks of {} ÷ memcpy of each"),
    "pack-l2": (SIZE, "pack 128 KiB in blocks of {} ÷ memcpy"),
    "pack-l2-each": (SIZE, "pack 128 KiB in blocks of {} ÷ memcpy of each"),
    "pack-memory": (SIZE, "pack 16 MiB in blocks of {} ÷ memcpy"),
    "pack-memory-each": (SIZE, "pack 16 MiB in blocks of {} ÷ memcpy of each"),
    "unpack-l1": (SIZE, "unpack 8 KiB in blocks of {} ÷ memcpy"),
    "unpack-l1-each": (SIZE, "unpack 8 KiB in blocks of {} ÷ memcpy of each"),
    "unpack-l2": (SIZE, "unpack 128 KiB in blocks of {} ÷ memcpy"),
    "unpack-l2-each": (SIZE, "unpack 128 KiB in blocks of {} ÷ memcpy of each"),
    "unpack-memory": (SIZE, "unpack 16 MiB in blocks of {} ÷ memcpy"),
    "unpack-memory-each": (SIZE, "unpack 16 MiB in blocks of {} ÷ memcpy of each"),
    "column-l1": (SIZE, "pack doubles {} apart, 16 KiB ÷ loop"),
    "column-l2": (SIZE, "pack doubles {} apart, 256 KiB ÷ loop"),
    "column-memory": (SIZE, "pack doubles {} apart, 64 MiB ÷ loop"),
    "into-column-l1": (SIZE, "unpack doubles {} apart, 16 KiB ÷ loop"),
    "into-column-l2": (SIZE, "unpack doubles {} apart, 256 KiB ÷ loop"),
    "into-column-memory": (SIZE, "unpack doubles {} apart, 64 MiB ÷ loop"),
    "columns": (COUNT, "pack 8 columns of {} doubles ÷ loop"),
    "into-columns": (COUNT, "unpack 8 columns of {} doubles ÷ loop"),
    "pack-indexed": (SIZE, "pack blocks of {}, anywhere"),
    "unpack-indexed": (SIZE, "unpack blocks of {}, anywhere"),
    "pack-struct": (SIZE, "pack structs of {}"),
    "unpack-struct": (SIZE, "unpack structs of {}"),
    "send-blocks": (SIZE, "one way, {} in blocks of 256 B"),
    "send-column": (SIZE, "one way, {} in doubles 64 B apart"),
    "ring": (RANKS, "ring of sendrecv, 8 B, {}"),
    "barrier": (RANKS, "barrier, {}"),
    "allreduce": (RANKS, "allreduce, 8 B, {}"),
}

# The same for <metric>-<kind>, or <metric>-<kind>-<number> where a number is told besides the size
WITH_KIND = {
    "without": (COUNT, "2 × {} threads, 8 B"),
    "pairs": (COUNT, "2 × {} threads, 8 B"),
    "sizes": (SIZE, "2 × T threads, {}"),
    "stencil": (COUNT, "halos of {}, 2 × T threads"),
    "iprobe": (COUNT, "{} senders, Iprobe"),
    "irecv": (COUNT, "{} senders, Irecv + Test"),
    "posted": (COUNT, "{} receives posted"),
    "unexpected": (COUNT, "{} messages unexpected"),
    "bandwidth": (COUNT, "N B behind {} receives"),
}

# <what>-<points>-<mode>-<sides but the last>, <what>-elements
THREADED = {"drain": "time to drain", "depth": "mean search depth", "compute": "computation", "communicate": "communication"}


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def filled(what, text, size):
    if what == COUNT:
        if size == 1:
            text = re.sub(r"({} \w+)s\b", r"\1", text)
        return text.format(size)
    return text.format(size_text(size) if what == SIZE else f"{size} rank{'s' if size > 1 else ''}")


def threaded_label(what, rest, size):
    if rest == "elements":
        return f"{size} thread{'s' if size > 1 else ''} a rank, {THREADED[what]}"
    points, mode, sides = rest.split("-")
    return f"{points} points, {sides}x{size}, {mode.replace('_', ' ')}, {THREADED[what]}"


def label(row):
    metric, size = row["metric"], row["size"]
    if metric in METRICS:
        return filled(*METRICS[metric], size)
    base, _, rest = metric.partition("-")
    if base in THREADED:
        return threaded_label(base, rest, size)
    kind, _, number = rest.partition("-")
    if base not in WITH_KIND:
        return f"{metric}, {size_text(size)}"
    text = filled(*WITH_KIND[base], size).replace("T threads", f"{number} threads")
    if number:
        text = text.replace("N B", size_text(int(number)))
    if kind == "everywhere":
        text = text.replace("threads", "processes").replace("thread", "process")
    return f"{text}, {KINDS_OF.get(base, KINDS).get(kind, kind)}"
