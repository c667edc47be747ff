"""From samples to medians, ratios and tables."""

import statistics

import perceived
import persistence
import targets
from labels import label

NOISY = 0.15  # a limit, which is the machine's own, that moves by more between turns excuses nothing
# The machine was doing something else too when it was busy while the bench slept, or a tenth of each library's figures
# moved by more than RESTLESS (when one library's do, it is that library).
BUSY = 10  # percent
RESTLESS = 0.5


def spread(values):
    """Half the values lie within this part of the median around it."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle if middle else 0.0


def summarise(samples, machine, libraries, turns, watch):
    rows = []
    for key, by_library in samples.values.items():
        suite, metric, size = key
        rows.append({"suite": suite, "metric": metric, "size": size, "unit": samples.units[key],
                     "libraries": {name: {"median": statistics.median(v), "spread": spread(v), "values": v}
                                   for name, v in by_library.items()},
                     "failures": samples.failures.get(key, {})})
    rows += perceived.rows({"results": rows}) + persistence.rows({"results": rows})
    limits = {(row["metric"], row["size"]): row["libraries"]["machine"] for row in rows if row["suite"] == "limits"}
    unsteady = {key for key, entry in limits.items() if key[0] != "busy" and entry["spread"] > NOISY}
    why_noisy = noisy(rows)
    if watch.disturbed:
        why_noisy.append(f"{watch.disturbed} runs count although a cache line took longer just before or after")
    excusing_nothing = set(limits) if why_noisy else unsteady
    medians = {key: entry["median"] for key, entry in limits.items()}
    for row in rows:
        compare(row, medians, machine["cores"], excusing_nothing)
    moved = [f"{label(row)} by {row['libraries']['machine']['spread']:.0%}" for row in rows
             if row["suite"] == "limits" and (row["metric"], row["size"]) in unsteady]
    return {"machine": machine, "libraries": libraries, "turns": turns, "noisy": why_noisy, "unsteady": moved,
            "repeated": watch.repeated, "results": rows}


def compare(row, limits, cores, unsteady):
    """With the best peer of those that always got to the end, and with the target."""
    peers = [entry["median"] for name, entry in row["libraries"].items()  # an overlay is ours, too
             if name not in {"heddle", *row["failures"]} and "+" not in name]
    best = None
    if peers:
        best = max(peers) if row["unit"] in targets.BIGGER_IS_BETTER else min(peers)
    if best and "heddle" in row["libraries"] and "heddle" not in row["failures"]:
        row["heddle / best peer"] = row["libraries"]["heddle"]["median"] / best
    judged = targets.judge(row, best, limits, cores, unsteady)
    if judged:
        row["target"] = judged


def noisy(rows):
    reasons, spreads = [], {}
    for row in rows:
        if row["suite"] != "limits":
            for name, entry in row["libraries"].items():
                spreads.setdefault(name, []).append(entry["spread"])
        elif row["metric"] == "busy" and row["libraries"]["machine"]["median"] > BUSY:
            reasons.append(f"others kept {row['libraries']['machine']['median']:.0f} % of it busy")
    restless = {name: sum(spread > RESTLESS for spread in of_library) / len(of_library) for name, of_library in spreads.items()}
    if restless and min(restless.values()) > 0.1:
        reasons.append(f"{min(restless.values()):.0%} of each library's figures moved by more than {RESTLESS:.0%} between turns")
    return reasons


def value_text(value, unit):
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f} {unit.replace('us', 'µs').replace('x', '×')}"


def cell_text(row, name, with_spread=False):
    """A library's value in a row; why there is none; or that the library has no such thing."""
    if name in row["failures"]:
        return row["failures"][name]
    entry = row["libraries"].get(name)
    if entry is None:
        return "–"
    return value_text(entry["median"], row["unit"]) + (f" ±{entry['spread']:<4.0%}" if with_spread else "")


def target_texts(row):
    """The target and whether it is reached; two empty texts where there is none."""
    target = row.get("target")
    if not target:
        return "", ""
    bound = "≥" if row["unit"] in targets.BIGGER_IS_BETTER else "≤"
    how_far = f" by {target['beyond']:.0%}" if "beyond" in target else ""
    verdict = "reached" if target["reached"] else f"missed{how_far}"
    return f"{bound} {value_text(target['figure'], row['unit'])}", verdict


def missed(results):
    """The labels of the rows whose target is not reached."""
    return [label(row) for row in results["results"] if row.get("target") and not row["target"]["reached"]]


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
    ratio_title = "Heddle ÷ best peer" if len(names) > 1 and "heddle" in names else ""
    print(f"\n{'':48}" + "".join(f"{title:>20}" for title in titles) + f"{ratio_title:>20}{'target':>14}")
    suite = ""
    for row in results["results"]:
        if row["suite"] == "limits":
            continue
        if row["suite"] != suite:
            suite = row["suite"]
            print(suite)
        cells = "".join(f"{cell_text(row, name, with_spread=True):>20}" for name in names)
        ratio = row.get("heddle / best peer")
        target, verdict = target_texts(row)
        line = f"  {label(row):46}{cells}{ratio_text(ratio):>20}{target:>14}  {verdict:16}{bandwidth_text(row)}"
        print(line.rstrip())
    judged = [row for row in results["results"] if row.get("target")]
    print(f"\n{sum(row['target']['reached'] for row in judged)} of {len(judged)} targets reached.")
    print("Of times and sizes the smaller is better (below 1), of rates the greater.")
    if results["repeated"]:
        print(f"{results['repeated']} runs were done again, because a cache line took longer just before or after.")
    if results["unsteady"]:
        print(f"Moved between turns, so no target is scaled by it: {'; '.join(results['unsteady'])}.")
    if results["noisy"]:
        print(f"The machine is too noisy to compare: {'; '.join(results['noisy'])}.")
    elif not any(row["metric"] == "line" for row in results["results"]):
        print("One core only: ranks share it, and the figures say nothing about two ranks on two cores.")


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio else ""


BEGIN, END = "<!-- figures: bench/run --readme -->", "<!-- end of figures -->"


def markdown(results):
    """The table for README: of a suite that has targets only what they are about."""
    machine = results["machine"]
    lines = [f"Measured on {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['date']}, "
             f"in one go; medians of {results['turns']} turns."]
    if results["noisy"]:
        lines[0] += " The machine was noisy: take them for an order of magnitude."
    lines += ["", "| | " + " | ".join(f"{e['title']} {e['version']}" for e in results["libraries"])
              + " | Heddle ÷ best peer | target | |", "|---" * (len(results["libraries"]) + 4) + "|"]
    with_targets = {row["suite"] for row in results["results"] if row.get("target")}
    for row in results["results"]:
        if row["suite"] == "limits" or (row["suite"] in with_targets and not row.get("target")):
            continue
        cells = [cell_text(row, entry["name"]) for entry in results["libraries"]]
        texts = [label(row), *cells, ratio_text(row.get("heddle / best peer")), *target_texts(row)]
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


def into_readme(path, results):
    text = path.read_text()
    if BEGIN not in text or END not in text:
        raise SystemExit(f"bench/run: {path} lacks the lines '{BEGIN}' and '{END}' that the figures stand between")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    path.write_text(f"{head}{BEGIN}\n{markdown(results)}\n{END}{tail}")
    print(f"wrote the figures into {path}")
