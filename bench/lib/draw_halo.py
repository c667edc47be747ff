"""The figures of the suites `halo` and `elements`, from the results of bench/run: a line for each library that was compared, or for
each of Heddle's engines, as in Figures 4 and 1 of "The Upcoming Storm: The Implications of Increasing Core Count on Scalable System
Software" (Dosanjh and others, 2018). Each function takes the results and a folder, and returns the files drawn."""

import sys

import figures
from drawings import series_of

WHAT = {"depth": ("mean search depth", "entries"), "drain": ("time to drain", "µs")}
MODES = {"shuffle": "Halo in random order", "threads": "Halo of competing threads"}
COLUMNS = {5: ("1", "5 points, 1 × y"), 9: ("1", "9 points, 1 × y"),
           7: ("1x1", "7 points, 1 × 1 × z"), 27: ("1x1", "27 points, 1 × 1 × z")}


def stem(suite, results):
    return f"{suite}-engines" if results.get("compared") == "engines" else suite


def drawn_or_exit(drawn, suite):
    if not drawn:
        sys.exit(f"bench/draw: no results of the suite `{suite}` in this file; bench/run {suite} makes them")
    return drawn


def halo(results, folder):
    """Depth and time against the length of a column of subdomains, a panel for each stencil."""
    drawn = []
    for mode, scene in MODES.items():
        for what, (title, unit) in WHAT.items():
            panels = {text: series_of(results, "halo", f"{what}-{points}-{mode}-{sides}")
                      for points, (sides, text) in COLUMNS.items()}
            panels = {text: series for text, series in panels.items() if series}
            if panels:
                drawn.append(folder / f"{stem('halo', results)}-{what}-{mode}.svg")
                figures.panels(drawn[-1], f"{scene}: {title}", "subdomains", f"{title}, {unit}", panels,
                               note=figures.machine_line(results))
    return drawn_or_exit(drawn, "halo")


def elements(results, folder):
    """Computation and communication against the threads of a rank, and the depth where it is known."""
    drawn = []
    panels = {text: series_of(results, "elements", f"{what}-elements")
              for what, text in (("compute", "computation"), ("communicate", "communication"))}
    depth = series_of(results, "elements", "depth-elements")
    if all(panels.values()):
        drawn.append(folder / f"{stem('elements', results)}-time.svg")
        figures.panels(drawn[-1], "Conjugate gradients, two ranks", "threads a rank", "µs an iteration", panels,
                       note=figures.machine_line(results))
    if depth:
        drawn.append(folder / f"{stem('elements', results)}-depth.svg")
        figures.lines(drawn[-1], "Conjugate gradients, two ranks: mean search depth", "threads a rank", "entries", depth,
                      note=figures.machine_line(results))
    return drawn_or_exit(drawn, "elements")
