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
    """Of one operation: the program's own median, or what google-benchmark counts as items, or else a whole iteration, whose time
    is the processor's unless the benchmark takes it itself."""
    if "median_ns" in entry:
        return entry["median_ns"]
    if "items_per_second" in entry:
        return 1e9 / entry["items_per_second"]
    clock = "real_time" if entry["run_name"].endswith(("/manual_time", "/real_time")) else "cpu_time"
    return entry[clock] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[entry["time_unit"]]


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


def parts_of(name):
    """The words of a google-benchmark's name, and its arguments that have names."""
    words = [word for word in name.split("/") if word not in ("manual_time", "real_time")]
    return [word for word in words if ":" not in word or word == words[0]], dict(
        word.split(":") for word in words[1:] if ":" in word)


def machine_of(measured):
    context = measured["context"]
    return f"{context['num_cpus']} cores of {context['mhz_per_cpu']} MHz, {context['date'][:16].replace('T', ' ')}"


def shapes_of(measured):
    """Shape → engine → [(depth, ns)], of benchmarks that are called <engine>/<shape>/<depth>."""
    shapes = {}
    for name, ns in medians(measured).items():
        (engine, *words), _ = parts_of(name)
        if len(words) > 1 and words[-1].isdigit():
            shapes.setdefault("/".join(words[:-1]), {}).setdefault(engine, []).append((int(words[-1]), ns))
    if not shapes:
        sys.exit("bench/draw: no benchmark called <engine>/<shape>/<depth> in this file; bench_match makes them")
    return shapes


def judged(shapes):
    """Whether the default is within 15 % (+ 2 ns) of the best engine at each depth, and up to depth 4 within 1.2 × (+ 2 ns) of the
    list: the lines that say where it is not, and how many points there are. Cold queues are shown, not judged."""
    misses, points = [], 0
    for shape, series in shapes.items():
        if shape.startswith("cold") or not {"adaptive", "list"} <= series.keys():
            continue
        for depth, ns in series["adaptive"]:
            points += 1
            others = {engine: dict(line)[depth] for engine, line in series.items() if engine != "adaptive" and depth in dict(line)}
            best = min(others, key=others.get)
            most = 1.15 * others[best] + 2
            if depth <= 4:
                most = min(most, 1.2 * others["list"] + 2)
            if ns > most:
                misses.append(f"{shape}, {depth}: adaptive {ns:.1f} ns, {best} {others[best]:.1f} ns, list {others['list']:.1f} ns")
    return misses, points


def engines(measured, folder):
    """Of `bench_match --benchmark_out=FILE --benchmark_out_format=json`: a panel for each shape; and says how the default does."""
    shapes = shapes_of(measured)
    misses, points = judged(shapes)
    print(f"the default engine is as near to the best one as it has to be at {points - len(misses)} of {points} points")
    for line in misses:
        print(f"  not at {line}")
    path = folder / "engines.svg"
    panels = {shape.replace("_", " "): series for shape, series in shapes.items()}
    figures.panels(path, "Matching engines alone", "entries in the queue", "ns a post and an arrival", panels,
                   note=machine_of(measured))
    return [path]


def with_arguments(measured, wanted, panel_of, series_of_point, x_of):
    panels = {}
    for name, ns in medians(measured).items():
        words, arguments = parts_of(name)
        if wanted <= arguments.keys():
            line = panels.setdefault(panel_of(words, arguments), {}).setdefault(series_of_point(words, arguments), [])
            line.append((int(x_of(words, arguments)), ns))
    if not panels:
        sys.exit(f"bench/draw: no benchmark with {' and '.join(sorted(wanted))} in this file")
    return panels


def tail_queue(measured, folder):
    """Of bench_tail_queue: ns an operation of all threads together, a panel for each number of threads."""
    panels = with_arguments(measured, {"threads"}, lambda _, a: f"{a['threads']} threads", lambda w, _: w[0].replace("_", " "),
                            lambda w, _: w[-1])
    path = folder / "tail-queue.svg"
    figures.panels(path, "Tail queues against one lock", "entries in each queue", "ns an operation", panels,
                   note=machine_of(measured))
    return [path]


def hot_cache(measured, folder):
    """Of bench_hot_cache: ns a search, a panel for each amount of other memory that was walked through before it."""
    panels = with_arguments(measured, {"depth", "MiB", "hot"}, lambda _, a: f"after {a['MiB']} MiB",
                            lambda w, a: f"{w[0]}, hot caching" if a["hot"] == "1" else w[0], lambda _, a: a["depth"])
    path = folder / "hot-cache.svg"
    figures.panels(path, "Searches after other work", "entries in the queue", "ns a search", panels, note=machine_of(measured))
    return [path]
