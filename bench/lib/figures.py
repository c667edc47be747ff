"""Figures of what benches measured, as SVG: lines, the same in panels side by side, and bars.

  lines(path, title, xlabel, ylabel, {series: [(x, y), ...]}, logx=True, logy=True, note="")
  panels(path, title, xlabel, ylabel, {panel: {series: [(x, y), ...]}}, ...)     one legend and one y axis for all
  bars(path, title, ylabel, {group: {series: value or (value, least, most)}}, note="")

A series has the same colour and marker in every panel or group. `note` is the line below: the machine, mostly (machine_line).
The same data give the same file, byte for byte, under the same matplotlib; text stays text, and each line or bar has an id.

Drawn by matplotlib: this Python's, or else one that is installed from PyPI into .cache/figures, once.
"""

import functools
import pathlib
import re
import sys
import sysconfig
import textwrap

import pypi

VERSION = "3.10.8"
# The palette of Okabe and Ito without its yellow: told apart by the colour-blind too, and by the markers in print.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = "osD^vP*XhdpH"
INCHES = 4.0  # a panel's width; 0.8 of it is its height
MOST_IN_A_ROW = 3


@functools.cache
def matplotlib():
    """matplotlib.pyplot, ready to write SVG."""
    try:
        import matplotlib
    except ImportError:
        python = sysconfig.get_python_version()
        home = pypi.install("matplotlib", VERSION, pypi.CACHE / f"figures/{python}", "or install python3-matplotlib")
        sys.path.append(str(home / f"lib/python{python}/site-packages"))
        import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "heddle", "font.size": 9, "axes.titlesize": 9,
                                "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
                                "grid.color": "#dddddd", "grid.linewidth": 0.6, "legend.frameon": False})
    return matplotlib.pyplot


def machine_line(results):
    """Of a results file of bench/run."""
    machine = results["machine"]
    text = (f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, {machine['date']}; "
            f"medians of {results['turns']} turns")
    return text + ("; the machine was noisy" if results["noisy"] else "")


def number_text(value, _=None):
    """Sizes of messages as 64Ki and 2Mi, from where plain numbers get too wide for an axis."""
    for unit, name in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if value >= 1 << 16 and value % unit == 0:
            return f"{value // unit:.0f}{name}"
    return f"{value:.0f}" if value >= 1000 else f"{value:g}"


def identity(*words):
    return re.sub(r"[^\w.-]+", "_", "-".join(words))


class Style:
    """What a series looks like, by the order in which they first come."""

    def __init__(self, names):
        self.place = {name: i for i, name in enumerate(dict.fromkeys(names))}

    def colour(self, name):
        return COLOURS[self.place[name] % len(COLOURS)]

    def of_line(self, name):
        i = self.place[name]
        return {"color": self.colour(name), "marker": MARKERS[i % len(MARKERS)], "markersize": 4, "linewidth": 1.4,
                "linestyle": "-" if i < len(COLOURS) else "--", "label": name}


def check_positive(name, points, logx, logy):
    for x, y in points:
        if (logx and x <= 0) or (logy and y <= 0):
            raise ValueError(f"figures: the point ({x}, {y}) of `{name}` has no place on a logarithmic axis")


def set_x_axis(axes, xs, logx):
    if logx:
        axes.set_xscale("log", base=4)
        axes.xaxis.minorticks_off()
    if len(xs) <= 9:
        axes.set_xticks(xs, minor=False)
    axes.xaxis.set_major_formatter(number_text)


def set_y_axis(axes, logy):
    if logy:
        axes.set_yscale("log")
        least, most = axes.get_ylim()
        axes.yaxis.set_minor_formatter(number_text if most < 10 * least else "")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(number_text)
    axes.grid(axis="y")


def finish(figure, path, title, note, handles, labels):
    """Title and legend above, the note below, each with the height it needs."""
    width, height = figure.get_size_inches()
    columns = int(width / (0.55 + 0.075 * max(map(len, labels))))
    columns = max(1, min(columns, len(labels)))
    rows = -(-len(labels) // columns)
    note = textwrap.wrap(note, int(width / 0.055))
    figure.suptitle(title, fontsize=11, y=1 - 0.06 / height, va="top").set_in_layout(False)
    figure.legend(handles, labels, loc="upper center", ncols=columns, bbox_to_anchor=(0.5, 1 - 0.28 / height))
    figure.text(0.5, 0.05 / height, "\n".join(note), ha="center", va="bottom", fontsize=7, color="#555555")
    figure.tight_layout(rect=(0, (0.08 + 0.12 * len(note)) / height, 1, 1 - (0.35 + 0.2 * rows) / height))
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None})
    matplotlib().close(figure)


def panels(path, title, xlabel, ylabel, parts, logx=True, logy=True, note=""):
    plot = matplotlib()
    style = Style(name for series in parts.values() for name in series)
    columns = 2 if len(parts) == 4 else min(MOST_IN_A_ROW, len(parts))
    rows = -(-len(parts) // columns)
    width = INCHES * (1.5 if len(parts) == 1 else columns)
    figure, grid = plot.subplots(rows, columns, sharey=True, squeeze=False, figsize=(width, 0.8 * INCHES * rows + 0.7))
    for axes in grid.flat[len(parts):]:
        axes.remove()
    handles = {}
    for axes, (panel, series) in zip(grid.flat, parts.items()):
        for name, points in series.items():
            check_positive(name, points, logx, logy)
            line, = axes.plot(*zip(*sorted(points)), gid=identity("series", panel, name), **style.of_line(name))
            handles.setdefault(name, line)
        set_x_axis(axes, sorted({x for points in series.values() for x, _ in points}), logx)
        set_y_axis(axes, logy)
        axes.set_title(panel)
        axes.set_xlabel(xlabel)
    for row in grid:
        row[0].set_ylabel(ylabel)
    finish(figure, path, title, note, list(handles.values()), list(handles))


def lines(path, title, xlabel, ylabel, series, logx=True, logy=True, note=""):
    panels(path, title, xlabel, ylabel, {"": series}, logx, logy, note)


def bars(path, title, ylabel, groups, note=""):
    """The error bars go from the least to the most."""
    plot = matplotlib()
    style = Style(name for series in groups.values() for name in series)
    width = 0.8 / len(style.place)
    figure, axes = plot.subplots(figsize=(max(1.5 * INCHES, 0.25 * len(style.place) * len(groups)), 0.8 * INCHES + 0.7))
    handles = {}
    for place, (group, series) in enumerate(groups.items()):
        for name, value in series.items():
            middle, least, most = value if isinstance(value, tuple) else (value, value, value)
            x = place + width * (style.place[name] - (len(style.place) - 1) / 2)
            hatch = "" if style.place[name] < len(COLOURS) else "//"
            bar, = axes.bar([x], [middle], 0.9 * width, color=style.colour(name), hatch=hatch, edgecolor="white")
            bar.set_gid(identity("bar", group, name))
            if least < most:
                axes.errorbar([x], [middle], [[middle - least], [most - middle]], color="#333333", linewidth=0.8, capsize=2)
            handles.setdefault(name, bar)
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(ylabel)
    set_y_axis(axes, logy=False)
    finish(figure, path, title, note, list(handles.values()), list(handles))
