"""How much more than one send a partitioned send seems to have, as the paper says it: a mean over the sizes."""

import statistics

MEAN_UP_TO = 16 << 20  # bytes


def medians(results, suite, metric, is_meant):
    """{bytes: the highest median of the libraries that are meant}"""
    return {row["size"]: max(found) for row in results["results"] if (row["suite"], row["metric"]) == (suite, metric)
            if (found := [entry["median"] for name, entry in row["libraries"].items() if is_meant(name) and name not in row["failures"]])}


def times_a_single_send(results, suite, rest):
    """Heddle's partitioned send by the best single send of the others, the mean over the sizes; None without peers."""
    single = medians(results, suite, f"single-{rest}", lambda name: name != "heddle" and "+" not in name)
    ours = medians(results, suite, f"part-{rest}", lambda name: name == "heddle")
    ratios = [value / single[size] for size, value in ours.items() if size <= MEAN_UP_TO and size in single]
    return statistics.mean(ratios) if ratios else None


def rows(results):
    """A row for each scene of which there is one."""
    scenes = dict.fromkeys((row["suite"], row["metric"].removeprefix("single-")) for row in results["results"]
                           if row["suite"].startswith("partitioned") and row["metric"].startswith("single-"))
    means = {scene: times_a_single_send(results, *scene) for scene in scenes}
    return [{"suite": suite, "metric": f"times-{rest}", "size": MEAN_UP_TO, "unit": "x", "failures": {},
             "libraries": {"heddle": {"median": mean, "spread": 0.0, "values": [mean]}}}
            for (suite, rest), mean in means.items() if mean]
