"""The figures of the suites `rma`, `rma-sync` and `rma-threads`: as Figures 2 to 5 of "Design, Implementation, and Performance Evaluation of MPI 3.0 on
Portals 4.0" (Hassani, Skjellum, Brightwell, Barrett), and as those of the VCI paper on windows. Each function takes the results and a
folder, and returns the files drawn."""

import figures
from draw_halo import drawn_or_exit
from drawings import series_of
from labels import OF_THREADS, WINDOWS, size_text

SYNCHRONISATIONS = {"fence": "fence", "pscw": "post, start, complete, wait", "shared": "lock, shared", "exclusive": "lock, exclusive",
                    "lockall": "lock_all", "flushput": "put and flush"}
HALOS = {"flush": "flush and barrier", "fence": "fence", "pscw": "post, start, complete, wait"}
MEMORY = "allocate"  # of the figures that have a panel for each library


def by_library(results, suite, metrics):
    """Library → {what the metric is called: points}."""
    panels = {}
    for metric, text in metrics.items():
        for library, points in series_of(results, suite, metric).items():
            panels.setdefault(library, {})[text] = positive(points)
    return {library: {text: points for text, points in series.items() if points} for library, series in panels.items()}


def positive(points):
    """An epoch with puts may have taken no longer than one without."""
    return [(x, y) for x, y in points if y > 0]


def puts_in_epoch(results, window):
    """Size → library → (puts in an epoch, ns of one)."""
    panels = {}
    for row in results["results"]:
        prefix, _, number = row["metric"].rpartition("-")
        if row["suite"] == "rma" and prefix == f"puts-{window}":
            for library, points in series_of(results, "rma", row["metric"]).items():
                here = [(int(number), ns) for size, ns in points if size == row["size"] and ns > 0]
                panels.setdefault(row["size"], {}).setdefault(library, []).extend(here)
    return {f"put of {size_text(size)}": {name: points for name, points in panels[size].items() if points} for size in sorted(panels)}


def rma(results, folder):
    note, drawn = figures.machine_line(results), []

    def draw(name, title, xlabel, ylabel, panels, **more):
        panels = {panel: series for panel, series in panels.items() if series}
        if panels:
            drawn.append(folder / f"{name}.svg")
            figures.panels(drawn[-1], title, xlabel, ylabel, panels, note=note, **more)

    draw("rma-synchronisation", "Synchronisation of a window, nothing put but where it says so", "processes", "µs",
         by_library(results, "rma-sync", {f"sync-{step}": text for step, text in SYNCHRONISATIONS.items()}), logx=False)
    both = {f"put-{MEMORY}": "put and flush", f"get-{MEMORY}": "get and flush", "rma-send": "send"}
    draw("rma-latency", f"Put, get and send: one, {WINDOWS[MEMORY]}", "bytes", "µs", by_library(results, "rma", both))
    many = {f"put-bandwidth-{MEMORY}": "put", f"get-bandwidth-{MEMORY}": "get", "send-bandwidth": "send"}
    draw("rma-bandwidth", f"Put, get and send: 32 at a time, {WINDOWS[MEMORY]}", "bytes", "GB/s", by_library(results, "rma", many))
    for window in ("create", "allocate"):
        draw(f"rma-epoch-{window}", f"Puts in an epoch without what the lock takes, {WINDOWS[window]}", "puts in the epoch", "ns a put",
             puts_in_epoch(results, window))
    return drawn_or_exit(drawn, "rma")


def threads(results, folder):
    note, drawn = figures.machine_line(results), []

    def draw(name, title, xlabel, ylabel, metric, kinds, **more):
        panels = {text: series_of(results, "rma-threads", metric.format(kind)) for kind, text in kinds.items()}
        panels = {panel: series for panel, series in panels.items() if series}
        if panels:
            drawn.append(folder / f"{name}.svg")
            figures.panels(drawn[-1], title, xlabel, ylabel, panels, note=note, **more)

    draw("rma-put-rate", "Puts of 8 B, 64 and a flush", "threads, or processes", "M/s", "putrate-{}", OF_THREADS)
    draw("rma-bands", "Bands that are fetched, 2 × 2 threads", "bytes of a band", "µs", "bands-{}-2", OF_THREADS)
    for part, text in (("get", "two gets and a flush"), ("update", "an accumulate and a flush")):
        draw(f"rma-blocks-{part}", f"Products of tiles, 2 × 2 threads: {text}", "dimension of a tile", "µs", f"blocks-{{}}-2-{part}", OF_THREADS)
    draw("rma-halo", "Halo by puts of two threads", "bytes of a face", "µs", "rmahalo-{}-2", HALOS)
    return drawn_or_exit(drawn, "rma-threads")
