"""From samples to medians, ratios and tables."""

import statistics

# The limits are the machine's own: when they move by more than this between turns, it was doing something else too. So it
# was when it was busy while the bench slept.
NOISY = 0.15
BUSY = 10  # percent
RESTLESS = 0.5  # so was it when a tenth of the figures move by more than this
BIGGER_IS_BETTER = {"M/s", "GB/s"}


def spread(values):
    """Half the values lie within this part of the median around it."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle if middle else 0.0


def summarise(samples, machine, libraries, turns):
    rows = []
    for (suite, metric, size), by_library in samples.values.items():
        unit = samples.units[suite, metric, size]
        row = {"suite": suite, "metric": metric, "size": size, "unit": unit,
               "libraries": {name: {"median": statistics.median(v), "spread": spread(v), "values": v}
                             for name, v in by_library.items()}}
        peers = [entry["median"] for name, entry in row["libraries"].items() if name != "heddle"]
        if "heddle" in row["libraries"] and peers:
            best = max(peers) if unit in BIGGER_IS_BETTER else min(peers)
            row["heddle / best peer"] = row["libraries"]["heddle"]["median"] / best
        rows.append(row)
    return {"machine": machine, "libraries": libraries, "turns": turns, "noisy": noisy(rows), "results": rows}


def noisy(rows):
    reasons = [why for row in rows if row["suite"] == "limits" for why in noise(row)]
    spreads = [entry["spread"] for row in rows if row["suite"] != "limits" for entry in row["libraries"].values()]
    restless = sum(spread > RESTLESS for spread in spreads)
    if restless > len(spreads) / 10:
        reasons.append(f"{restless} of {len(spreads)} figures moved by more than {RESTLESS:.0%} between turns")
    return reasons


def noise(row):
    entry = row["libraries"]["machine"]
    if row["metric"] == "busy":
        return [f"others kept {entry['median']:.0f} % of it busy"] if entry["median"] > BUSY else []
    return [f"{label(row)} moved by {entry['spread']:.0%} between turns"] if entry["spread"] > NOISY else []


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def label(row):
    size = f"{row['size']} rank{'s' if row['size'] > 1 else ''}" if row["suite"] == "startup" else size_text(row["size"])
    return {"latency": f"one way, {size}", "rate": f"message rate, {size}, window 64", "start": f"mpiexec, {size}",
            "rss": f"resident memory, {size}", "send single": f"Isend + Wait, {size}",
            "send multiple": f"Isend + Wait, {size}, MULTIPLE", "receive single": f"Irecv + Wait, {size}",
            "receive multiple": f"Irecv + Wait, {size}, MULTIPLE", "line": "cache line, one way", "copy": "copied in and out",
            }.get(row["metric"], f"{row['metric']}, {size}")


def value_text(value, unit):
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f} {unit.replace('us', 'µs')}"


def bandwidth_text(row):
    """For a large message the latency as a bandwidth."""
    heddle = row["libraries"].get("heddle")
    if row["metric"] != "latency" or row["size"] < 64 << 10 or not heddle:
        return ""
    return f"{row['size'] / heddle['median'] / 1e3:.1f} GB/s"


def print_tables(results):
    machine = results["machine"]
    print(f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['date']}; "
          f"medians of {results['turns']} turns, ± the middle half of them")
    print(", ".join(f"{entry['title']} {entry['version']}" for entry in results["libraries"]))
    for row in results["results"]:
        if row["suite"] == "limits" and row["metric"] != "busy":
            entry = row["libraries"]["machine"]
            print(f"limit: {label(row)} {value_text(entry['median'], row['unit'])} ±{entry['spread']:.0%}")
    names = [entry["name"] for entry in results["libraries"]]
    titles = [entry["title"] for entry in results["libraries"]]
    print(f"\n{'':34}" + "".join(f"{title:>20}" for title in titles) + f"{'Heddle ÷ best peer':>22}")
    for row in results["results"]:
        if row["suite"] == "limits":
            continue
        cells = ""
        for name in names:
            entry = row["libraries"].get(name)
            text = f"{value_text(entry['median'], row['unit'])} ±{entry['spread']:<4.0%}" if entry else "–"
            cells += f"{text:>20}"
        ratio = row.get("heddle / best peer")
        print(f"{label(row):34}{cells}{f'{ratio:.2f}' if ratio else '':>22}  {bandwidth_text(row)}".rstrip())
    print("\nOf times and sizes the smaller is better (below 1), of rates the greater.")
    if results["noisy"]:
        print(f"The machine is too noisy to compare: {'; '.join(results['noisy'])}.")
    elif not any(row["metric"] == "line" for row in results["results"]):
        print("One core only: ranks share it, and the figures say nothing about two ranks on two cores.")


BEGIN, END = "<!-- figures: bench/run --readme -->", "<!-- end of figures -->"


def markdown(results):
    machine = results["machine"]
    lines = [f"Measured on {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['date']}, "
             f"in one go; medians of {results['turns']} turns."]
    if results["noisy"]:
        lines[0] += " The machine was noisy: take them for an order of magnitude."
    lines += ["", "| | " + " | ".join(f"{e['title']} {e['version']}" for e in results["libraries"])
              + " | Heddle ÷ best peer |", "|---" * (len(results["libraries"]) + 2) + "|"]
    for row in results["results"]:
        if row["suite"] == "limits":
            continue
        cells = [value_text(row["libraries"][e["name"]]["median"], row["unit"]) if e["name"] in row["libraries"] else "–"
                 for e in results["libraries"]]
        ratio = row.get("heddle / best peer")
        lines.append(f"| {label(row)} | {' | '.join(cells)} | {f'{ratio:.2f}' if ratio else ''} |")
    return "\n".join(lines)


def into_readme(path, results):
    text = path.read_text()
    if BEGIN not in text or END not in text:
        raise SystemExit(f"bench/run: {path} lacks the lines '{BEGIN}' and '{END}' that the figures stand between")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    path.write_text(f"{head}{BEGIN}\n{markdown(results)}\n{END}{tail}")
    print(f"wrote the figures into {path}")
