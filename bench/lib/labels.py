"""What a row is called in a table, from its suite, metric and size."""

import re

RANKS, SIZE, COUNT = "ranks", "size", "count"  # what the size is

KINDS = {"own": "own communicators", "one": "one communicator", "hints": "one communicator, hints",
         "endpoints": "endpoints", "everywhere": "MPI everywhere", "funneled": "funneled"}

WITHOUT = {"all": "all there", "alignment": "no alignment to cache lines", "pools": "one pool of requests",
           "progress": "progress on all VCIs", "vcis": "one VCI", "fine": "one VCI, one lock", "locks": "no locks, no atomics"}

ORDERS = {"random": "random order", "reversed": "youngest first", "in_order": "in order"}
CACHES = {"warm": "caches warm", "cold": "caches emptied"}

WINDOWS = {"create": "MPI_Win_create", "allocate": "MPI_Win_allocate", "shared": "MPI_Win_allocate_shared",
           "dynamic": "MPI_Win_create_dynamic"}

OF_THREADS = {"own": "own windows", "one": "one window", "hints": "one window, hints", "everywhere": "MPI everywhere"}

KINDS_OF = {"putrate": OF_THREADS, "bands": OF_THREADS, "blocks": OF_THREADS, "without": WITHOUT, "posted": ORDERS, "unexpected": ORDERS, "bandwidth": CACHES}  # the others': KINDS

# long-<when>-<way>, dropped-<when>-<way>
POSTED = {"posted": "receive posted", "found": "receive when found", "late": "100 µs later", "later": "1 ms later"}

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
    "slot": (SIZE, "slot of a ring, one way"),
    "copy": (SIZE, "copied in and out"),
    "bare": (SIZE, "copied in and out, one way, {}"),
    "switch": (COUNT, "switch to the next of {} processes of a core"),
    "beside": (COUNT, "one thread posts, one takes in, behind {} entries each"),
    "self": (COUNT, "to oneself, {} threads, 8 B"),
    "self-speedup": (COUNT, "to oneself, {} threads ÷ 1 thread"),
    "pack-l1": (SIZE, "pack 8 KiB in blocks of {} ÷ memcpy"),
    "pack-l1-each": (SIZE, "pack 8 KiB in blocks of {} ÷ memcpy of each"),
    "pack-l2": (SIZE, "pack 128 KiB in blocks of {} ÷ memcpy"),
    "pack-l2-each": (SIZE, "pack 128 KiB in blocks of {} ÷ memcpy of each"),
    "pack-memory": (SIZE, "pack 16 MiB in blocks of {} ÷ memcpy"),
    "pack-memory-each": (SIZE, "pack 16 MiB in blocks of {} ÷ memcpy of each"),
    "pack-memory-can": (SIZE, "bare loop, 16 MiB in blocks of {} ÷ memcpy"),
    "pack-memory-bare": (SIZE, "pack 16 MiB in blocks of {} ÷ bare loop"),
    "pack-memory-parts": (SIZE, "16 MiB in blocks of {} read, then as many bytes stored ÷ memcpy"),
    "unpack-memory-can": (SIZE, "bare loop, 16 MiB into blocks of {} ÷ memcpy"),
    "unpack-memory-bare": (SIZE, "unpack 16 MiB in blocks of {} ÷ bare loop"),
    "unpack-l1": (SIZE, "unpack 8 KiB in blocks of {} ÷ memcpy"),
    "unpack-l1-each": (SIZE, "unpack 8 KiB in blocks of {} ÷ memcpy of each"),
    "unpack-l2": (SIZE, "unpack 128 KiB in blocks of {} ÷ memcpy"),
    "unpack-l2-each": (SIZE, "unpack 128 KiB in blocks of {} ÷ memcpy of each"),
    "unpack-memory": (SIZE, "unpack 16 MiB in blocks of {} ÷ memcpy"),
    "unpack-memory-each": (SIZE, "unpack 16 MiB in blocks of {} ÷ memcpy of each"),
    **{f"{way}column-{place}{what}": (SIZE, text.format(kib))
       for place, kib in (("l1", "16 KiB"), ("l2", "256 KiB"), ("memory", "64 MiB"))
       for way, what, text in (("", "", "pack doubles {{}} apart, {} ÷ loop"),
                               ("into-", "", "unpack doubles {{}} apart, {} ÷ loop"),
                               ("", "-read", "doubles {{}} apart, {}, only read ÷ loop"),
                               ("", "-can", "bare loop, doubles {{}} apart, {} ÷ loop"),
                               ("", "-bare", "pack doubles {{}} apart, {} ÷ bare loop"),
                               ("into-", "-can", "bare loop, into doubles {{}} apart, {} ÷ loop"),
                               ("into-", "-bare", "unpack doubles {{}} apart, {} ÷ bare loop"))},
    "columns": (COUNT, "pack 8 columns of {} doubles ÷ loop"),
    "into-columns": (COUNT, "unpack 8 columns of {} doubles ÷ loop"),
    "pack-indexed": (SIZE, "pack blocks of {}, anywhere"),
    "unpack-indexed": (SIZE, "unpack blocks of {}, anywhere"),
    "pack-struct": (SIZE, "pack structs of {}"),
    "unpack-struct": (SIZE, "unpack structs of {}"),
    "send-blocks": (SIZE, "one way, {} in blocks of 256 B"),
    "send-column": (SIZE, "one way, {} in doubles 64 B apart"),
    **{f"compile-{what}": (RANKS, f"{what}, {{}}")
       for what in ("barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "allgather", "gather", "scatter", "alltoall", "scan", "exscan")},
    **{f"plans-at-{when}-{step}": (RANKS, f"plans at {of}: {text}, {{}}")
       for when, of in (("use", "first use"), ("creation", "creation"))
       for step, text in (("make", "to make the communicator"), ("first", "first round"), ("second", "second round"))},
    "ring": (RANKS, "ring of sendrecv, 8 B, {}"),
    "barrier": (RANKS, "barrier, {}"),
    "allreduce": (RANKS, "allreduce, 8 B, {}"),
    "sync-fence": (RANKS, "MPI_Win_fence, {}"),
    "sync-pscw": (RANKS, "post, start, complete, wait in a ring, {}"),
    "sync-shared": (RANKS, "all lock and unlock one, shared, {}"),
    "sync-exclusive": (RANKS, "all lock and unlock one, exclusive, {}"),
    "sync-lockall": (RANKS, "MPI_Win_lock_all and unlock_all, {}"),
    "sync-flush": (RANKS, "all flush one, nothing put, {}"),
    "sync-flushput": (RANKS, "all put 8 B to one and flush, {}"),
    "make-communicator": (RANKS, "dup, barrier, allreduce, free, {}"),
    "make-create": (RANKS, "MPI_Win_create, 2 fences, free, {}"),
    "make-allocate": (RANKS, "MPI_Win_allocate of 256 KiB, 2 fences, free, {}"),
    "rma-send": (SIZE, "send, one way, {}"),
    "send-bandwidth": (SIZE, "send, {}, window 32"),
}

# The same for <metric>-<kind>, or <metric>-<kind>-<number> where a number is told besides the size
WITH_KIND = {
    "without": (COUNT, "2 × {} threads, 8 B"),
    "pairs": (COUNT, "2 × {} threads, 8 B"),
    "sizes": (SIZE, "2 × T threads, {}"),
    "oneway": (COUNT, "2 × {} threads, one way, 8 B"),
    "stencil": (COUNT, "halos of {}, 2 × T threads"),
    "iprobe": (COUNT, "{} senders, Iprobe"),
    "irecv": (COUNT, "{} senders, Irecv + Test"),
    "posted": (COUNT, "{} receives posted"),
    "unexpected": (COUNT, "{} messages unexpected"),
    "bandwidth": (COUNT, "N B behind {} receives"),
    "putrate": (COUNT, "put 8 B, {} threads"),
    "bands": (SIZE, "band of {}, 2 × T threads"),
}

# <metric>-<kind of window>
WITH_WINDOW = {
    "put": (SIZE, "put and flush, {}"),
    "get": (SIZE, "get and flush, {}"),
    "sum": (SIZE, "accumulate of doubles and flush, {}"),
    "sum-bandwidth": (SIZE, "accumulate of doubles, {}, 32 in a flush"),
    "put-rows": (SIZE, "put of every other double and flush, {}"),
    "get-rows": (SIZE, "get of every other double and flush, {}"),
    "sum-rows": (SIZE, "accumulate of every other double and flush, {}"),
    "put-bandwidth": (SIZE, "put, {}, 32 in a flush"),
    "get-bandwidth": (SIZE, "get, {}, 32 in a flush"),
    "atomic-fetch": (SIZE, "fetch_and_op and flush, {}"),
    "atomic-swap": (SIZE, "compare_and_swap and flush, {}"),
    "atomic-accumulate": (SIZE, "accumulate and flush, {}"),
    "atomic-getaccumulate": (SIZE, "get_accumulate and flush, {}"),
    "asleep-lock": (RANKS, "target asleep: lock, put 8 B, flush, unlock"),
    "asleep-nocheck": (RANKS, "target asleep: the same, no check"),
    "asleep-lockall": (RANKS, "target asleep: lock_all, unlock_all"),
    "asleep-put": (RANKS, "target asleep: put 8 B, flush"),
    "asleep-fetch": (RANKS, "target asleep: fetch_and_op, flush"),
}

# <what>-<points>-<mode>-<sides but the last>, <what>-elements
THREADED = {"drain": "time to drain", "depth": "mean search depth", "compute": "computation", "communicate": "communication",
            "iterate": "an iteration"}

# <way>-<threads>-<ms of computation>-<% of noise>
PARTITIONED = {"single": "one send", "multi": "a send each", "part": "partitioned", "arrive": "partitioned, last ready to end",
               "early": "partitioned, first here to end", "overlap": "the same ÷ first to last ready",
               "times": "partitioned, mean up to this size ÷ the best single send of a peer"}

# coll-<form>-<collective>-<ranks>
FORMS = {"blocking": "", "nonblocking": ", nonblocking", "persistent": ", persistent", "init": ", to make the request",
         "ratio": ", persistent ÷ blocking"}

# flow-<layer>-<workload>-<what>
LAYERS = {"credits": "credit", "recovery": "recovery", "mpi": "MPI"}
WORKLOADS = {"pairs": "exchange in pairs", "flood": "all to one, any source", "turns": "all to one, in turn",
             "last": "all to one, the last first", "slow": "pairs beside a slow one"}
COUNTED = {"time": "time", "memory": "memory", "waits": "waits", "control": "control", "recoveries": "recoveries",
           "resent": "sent again", "disables": "disabled", "held": "held", "searches": "searches"}

# <room>-<way>-<ranks>, or that and -disables
ROOMS = {"flood": "", "few": ", 1000 kept"}
WAYS = {"order": "in order", "reverse": "youngest first"}


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


def partitioned_label(way, rest, size):
    threads, ms, noise = rest.split("-")
    return f"{size_text(size)}, {threads} threads, {ms} ms + {noise} %: {PARTITIONED[way]}"


def collective_label(rest, size):
    form, what, ranks = rest.split("-")
    return f"{what}, {size_text(size) + ', ' if size else ''}{ranks} ranks{FORMS[form]}"


def blocks_label(rest, size):
    kind, threads, part = rest.split("-")
    what = {"get": "get two tiles", "update": "accumulate a tile"}[part]
    return f"{what} of {size} x {size}, 2 × {number_of('thread', int(threads), kind)}, {OF_THREADS[kind]}"


def number_of(noun, count, kind):
    noun = noun if kind != "everywhere" else "process"
    return f"{count} {noun}" + ("" if count == 1 else "es" if noun == "process" else "s")


def rma_halo_label(rest, size):
    way, threads = rest.split("-")
    name = {"flush": "flush and barrier", "fence": "fence", "pscw": "post, start, complete, wait"}[way]
    return f"halo by puts, faces of {size_text(size)}, 2 × {number_of('thread', int(threads), way)}: {name}"


def flow_label(rest):
    layer, workload, what = rest.split("-")
    return f"{WORKLOADS[workload]}, {LAYERS[layer]}: {COUNTED[what]}"


def flood_label(room, rest, size):
    way, ranks, *counted = rest.split("-")
    senders = filled(COUNT, "{} senders", int(ranks) - 1)
    return f"{senders} of {size_text(size)}, {WAYS[way]}{ROOMS[room]}{': disabled' if counted else ''}"


def label(row):
    metric, size = row["metric"], row["size"]
    if metric in METRICS:
        return filled(*METRICS[metric], size)
    before, _, window = metric.rpartition("-")
    if before in WITH_WINDOW and window in WINDOWS:
        return f"{filled(*WITH_WINDOW[before], size)}, {WINDOWS[window]}"
    base, _, rest = metric.partition("-")
    if base == "puts":
        window, _, number = rest.partition("-")
        return f"put {size_text(size)}, {number} in an epoch, {WINDOWS[window]}"
    if base == "reduce":
        operation, _, kind = rest.partition("-")
        return f"{operation} of {kind}, {size_text(size)} ÷ memcpy"
    if base in PARTITIONED:
        return partitioned_label(base, rest, size)
    if base == "coll":
        return collective_label(rest, size)
    if base == "flow":
        return flow_label(rest)
    if base == "blocks":
        return blocks_label(rest, size)
    if base == "rmahalo":
        return rma_halo_label(rest, size)
    if base in ROOMS:
        return flood_label(base, rest, size)
    if base in ("long", "dropped"):
        when, _, way = rest.partition("-")
        return f"{size_text(size)}, {POSTED[when]}, {way}{', dropped' if base == 'dropped' else ''}"
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
