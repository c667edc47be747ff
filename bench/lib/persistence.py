"""What a persistent collective takes beside the same one blocking, in the same runs."""

import statistics


def rows(results):
    """A row for each collective, number of ranks and length of which there are both."""
    measured = {(row["suite"], row["metric"], row["size"]): row["libraries"] for row in results["results"] if row["metric"].startswith("coll-")}
    made = []
    for (suite, metric, size), persistent in measured.items():
        _, form, what = metric.split("-", 2)
        blocking = measured.get((suite, f"coll-blocking-{what}", size), {})
        ratios = {name: [p / b for p, b in zip(persistent[name]["values"], blocking[name]["values"])]
                  for name in persistent if name in blocking and len(blocking[name]["values"]) == len(persistent[name]["values"])} if form == "persistent" else {}
        if ratios:
            made.append({"suite": suite, "metric": f"coll-ratio-{what}", "size": size, "unit": "÷", "failures": {},
                         "libraries": {name: {"median": statistics.median(v), "spread": 0.0, "values": v} for name, v in ratios.items()}})
    return made
