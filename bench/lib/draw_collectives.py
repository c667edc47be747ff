"""The figures of the suites `collectives`: time over bytes, blocking and persistent, and what it costs to make a persistent one, as Figures 2 to 6 of
the paper on planned collectives. The function takes the results and a folder, and returns the files drawn."""

import re

import figures
from draw_halo import drawn_or_exit
from drawings import series_of

FORMS = {"blocking": "blocking", "persistent": "persistent", "init": "made and freed"}
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "reducescatter", "allgather", "alltoall")


def ranks_of(results):
    """(suite, ranks) of which there is something."""
    found = {(row["suite"], int(match.group(1))) for row in results["results"]
             if (match := re.fullmatch(r"coll-\w+-\w+-(\d+)", row["metric"]))}
    return sorted(found, key=lambda place: (place[1], place[0]))


def series(results, suite, collective, ranks):
    """A line for each library and form. What has no time or no bytes has no place on the axes."""
    made = {}
    for form, text in FORMS.items():
        for library, points in series_of(results, suite, f"coll-{form}-{collective}-{ranks}").items():
            kept = [(size, us) for size, us in points if size > 0 and us > 0]
            if kept:
                made[f"{library}, {text}"] = kept
    return made


def collectives(results, folder):
    drawn, note = [], figures.machine_line(results)
    for suite, ranks in ranks_of(results):
        panels = {collective: series(results, suite, collective, ranks) for collective in COLLECTIVES}
        panels = {collective: lines for collective, lines in panels.items() if lines}
        if panels:
            drawn.append(folder / f"collectives-{ranks}.svg")
            figures.panels(drawn[-1], f"Collectives of {ranks} ranks", "bytes", "µs", panels, note=note)
    return drawn_or_exit(drawn, "collectives")
