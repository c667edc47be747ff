"""Which figures are drawn of which results: each function takes what a JSON file holds and a folder, and returns the files drawn."""

import sys

import figures
from labels import CACHES, ORDERS, size_text

WHEN = {"posted": "Receives posted first", "unexpected": "Messages that came before their receives"}


def series_of(results, suite, metric):
    """Library or engine → (size, median), of those that got to the end."""
    found = {entry["name"]: [] for entry in results["libraries"]}
    for row in results["results"]:
        if (row["suite"], row["metric"]) == (suite, metric):
            for name, value in row["libraries"].items():
                if name not in row["failures"]:
                    found[name].append((row["size"], value["median"]))
    titles = {entry["name"]: title_of(entry, results) for entry in results["libraries"]}
    return {titles[name]: points for name, points in found.items() if points}


def title_of(entry, results):
    return entry["title"] if results.get("compared") == "engines" else f"{entry['title']} {entry['version']}"


def bandwidths(results, caches):
    """The sizes of messages of which the bandwidth was measured."""
    prefix = f"bandwidth-{caches}-"
    metrics = [row["metric"] for row in results["results"] if row["suite"] == "matching"]
    return sorted({int(metric.removeprefix(prefix)) for metric in metrics if metric.startswith(prefix)})


def matching(results, folder):
    """Of bench/run matching, beside the peers or a line for each engine."""
    note = figures.machine_line(results)
    stem = "matching-engines" if results.get("compared") == "engines" else "matching"
    drawn = []
    for when, title in WHEN.items():
        panels = {text: series_of(results, "matching", f"{when}-{order}") for order, text in ORDERS.items()}
        panels = {text: series for text, series in panels.items() if series}
        if panels:
            drawn.append(folder / f"{stem}-{when}.svg")
            what = "receives outstanding" if when == "posted" else "messages unexpected"
            figures.panels(drawn[-1], f"{title}: 8 B, two ranks", what, "ns a message", panels, note=note)
    for caches, text in CACHES.items():
        panels = {size_text(size): series_of(results, "matching", f"bandwidth-{caches}-{size}") for size in bandwidths(results, caches)}
        panels = {size: series for size, series in panels.items() if series}
        if panels:
            drawn.append(folder / f"{stem}-bandwidth-{caches}.svg")
            figures.panels(drawn[-1], f"Bandwidth behind a queue of receives, {text}", "receives in the queue", "MB/s", panels,
                           note=note)
    if not drawn:
        sys.exit("bench/draw: no results of the suite `matching` in this file; bench/run matching makes them")
    return drawn


def nanoseconds(entry):
    """Of one operation: what google-benchmark counts as items, or else a whole iteration."""
    if "items_per_second" in entry:
        return 1e9 / entry["items_per_second"]
    return entry["cpu_time"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[entry["time_unit"]]


def medians(measured):
    """Name → ns: google-benchmark's median of the repetitions where there is one, and otherwise ours."""
    runs, given = {}, {}
    for entry in measured["benchmarks"]:
        if entry.get("error_occurred"):
            continue
        if entry.get("run_type") != "aggregate":
            runs.setdefault(entry["run_name"], []).append(nanoseconds(entry))
        elif entry["aggregate_name"] == "median":
            given[entry["run_name"]] = nanoseconds(entry)
    return {name: sorted(values)[len(values) // 2] for name, values in runs.items()} | given


def engines(measured, folder):
    """Of `bench_match --benchmark_out=FILE --benchmark_out_format=json`, whose benchmarks are <engine>/<shape>/<depth>."""
    panels = {}
    for name, ns in medians(measured).items():
        engine, *rest = name.split("/")
        *shape, depth = [part for part in rest if ":" not in part] or [""]  # repeats:5 and the like follow
        if shape and depth.isdigit():
            panels.setdefault("/".join(shape).replace("_", " "), {}).setdefault(engine, []).append((int(depth), ns))
    if not panels:
        sys.exit("bench/draw: no benchmark called <engine>/<shape>/<depth> in this file; bench_match makes them")
    context = measured["context"]
    note = f"{context['num_cpus']} cores of {context['mhz_per_cpu']} MHz, {context['date'][:16].replace('T', ' ')}"
    path = folder / "engines.svg"
    figures.panels(path, "Matching engines alone", "entries in the queue", "ns a post and an arrival", panels, note=note)
    return [path]
