"""`heddle plan` prints plans and proves them; what it cannot do it says."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HEDDLE = f"{sys.argv[1]}/bin/heddle"


def heddle(*words, code=0):
    done = subprocess.run([HEDDLE, "plan", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (words, done)
    assert bool(done.stderr) == (code != 0), (words, done)
    return done.stdout + done.stderr


shifted = heddle("allgather", "-n", "5")
assert shifted.startswith("plan allgather\nalgorithm circulant 1\nranks 5\nroot 0\norder any\nrank any\n"), shifted
assert "send output[+0] to +4" in shifted, shifted

one = heddle("allreduce", "-n", "16", "--rank", "3", "--algorithm", "phases -7 1 7")
assert "\nrank 3\nblocks 8 shares\n" in one and one.count("send") == 15 and one.count("plan ") == 1, one
assert heddle("allreduce", "-n", "16", "--algorithm", "phases -7 1 7").count("plan ") == 16

# Four nodes of four ranks; what does not know of nodes, and ranks that nodes do not divide, are as without.
nodes = heddle("allreduce", "-n", "16", "--ppn", "4", "--rank", "4")
assert "\nalgorithm nodes 4 1\n" in nodes and nodes.count(" from 5\n") == 1 and " to 0\n" in nodes, nodes
assert "by nodes 4 is right for 16 ranks" in heddle("bcast", "-n", "16", "--ppn", "4", "--root", "6", "--verify")
assert "by nodes 4 4 is right for 16 ranks" in heddle("allreduce", "-n", "16", "--algorithm", "nodes 4 4", "--ordered", "--verify")
for words in (["alltoall", "-n", "16", "--ppn", "4"], ["allreduce", "-n", "15", "--ppn", "4"]):
    assert heddle(*words) == heddle(*words[:3])
assert "nodes 4 4\n" in heddle("allreduce", "-n", "16", "--ppn", "4", "--bytes", "1M", "--simulate")
assert "do not divide" in heddle("allreduce", "-n", "15", "--algorithm", "nodes 4", code=2)

assert "right for 100 ranks" in heddle("reduce", "-n", "100", "--root", "7", "--ordered", "--verify")
assert "doubling" in heddle("--help")

# Who is whose neighbour is said by a grid: in the one with ends corners have two neighbours, in a torus of two columns both ways lead to one.
corner = heddle("neighbor_alltoall", "--grid", "3x3", "--rank", "0")
assert [line for line in corner.splitlines() if line.startswith("  ")] == [
    "  recv output[1] from 3", "  recv output[3] from 1", "  send input[1] to 3", "  send input[3] to 1"], corner
twice = heddle("neighbor_allgather", "--torus", "1x2", "--rank", "0")
assert "copy input[0] -> output[1]\n  copy input[0] -> output[0]\n" in twice and twice.count("send input[0] to 1") == 2, twice
assert "by edges is right for 120 ranks" in heddle("neighbor_alltoall", "--torus", "4x5x6", "--verify")
assert heddle("neighbor_alltoall", "--grid", "8x8", "--bytes", "4K", "--simulate").split()[2] == "edges"
for words, why in ((["-n", "4"], "say --grid 4x4"), (["--grid", "2x0"], "takes dimensions as"), (["--grid", "x2"], "takes dimensions as"),
                   (["--grid", "2x2", "-n", "5"], "not as many ranks"),
                   (["-n", "8", "--grid", "4x4", "--bytes", "8", "--simulate"], "not as many ranks"), (["--grid", "4x4x"], "takes dimensions as"), (["--torus", "9999999"], "takes dimensions as"),
                   (["--torus", "2x2", "--bytes", "8", "--scale"], "a grid has one")):
    assert why in heddle("neighbor_alltoall", *words, code=2), words
assert "are for neighbor_allgather" in heddle("bcast", "--grid", "2x2", code=2)

simulated = heddle("allreduce", "-n", "16", "--bytes", "64K", "--simulate").split("\n\n")
times = [float(line.split()[0]) for line in simulated[0].splitlines()]
assert len(times) > 20 and times == sorted(times), simulated
assert "between.latency" in simulated[1], simulated
grows = heddle("allreduce", "-n", "24", "--bytes", "64K", "--scale", "--algorithm", "circulant 3").split("\n\n")
head, *rows = grows[0].splitlines()
assert head.split() == ["ranks", "recursive", "phases", "circulant", "tree", "nodes", "1", "circulant", "3", "us"], grows
assert [row.split()[0] for row in rows] == ["2", "4", "8", "16", "24"] and "between.latency" in grows[1], grows
sixteen = heddle("allreduce", "-n", "16", "--bytes", "64K", "--simulate", "--algorithm", "phases -1 -1 -1 -1 1 1 1 1")
assert sixteen.split()[0] == rows[3].split()[2], (sixteen, rows)
# In seconds up to as many ranks as there are anywhere.
most = heddle("allreduce", "-n", "131072", "--bytes", "1M", "--scale").split("\n\n")[0].splitlines()
assert [int(row.split()[0]) for row in most[1:]] == [1 << i for i in range(1, 18)], most
assert len(most[-1].split()) == 6 and all(float(us) > 100 for us in most[-1].split()[1:]), most
compiled = heddle("allgather", "-n", "100000", "--compile").split()
assert float(compiled[0]) > 0 and compiled[1:] == ["us", "circulant", "1:", "51", "instructions"], compiled
assert heddle("allreduce", "-n", "64", "--bytes", "64K", "--compile").split()[2] in ("phases", "recursive")
best = " ".join(simulated[0].splitlines()[0].split()[2:])
assert f"\nalgorithm {best}\n" in heddle("allreduce", "-n", "16", "--bytes", "64K", "--rank", "0"), best
# On one node, by the node's own links, it is another time; where latency is ten times as long, too.
one = lambda *words: float(heddle("allreduce", "-n", "16", "--bytes", "64K", "--simulate", "--algorithm", "recursive", *words).split()[0])
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w", suffix=".network") as file:
    file.write("between.latency 4e-5\n")
    file.flush()
    assert one("--ppn", "16") < one() < one("--network", file.name)
    # A profile of `heddle tune`, of whatever machine, named or as it is kept.
    cache = pathlib.Path(folder) / f"heddle/profile-{os.uname().nodename}"
    cache.parent.mkdir()
    cache.write_text("machine another, 3 cores\npull_bytes 65536\nnetwork between.latency 4e-5\n")
    tenfold = one("--network", file.name)
    os.environ["XDG_CACHE_HOME"] = folder
    os.environ.pop("HEDDLE_PROFILE", None)
    assert one("--network", str(cache)) == one("--network", "profile") == tenfold
    cache.write_text("machine another, 3 cores\npull_bytes 65536\n")
    assert "has no lines 'network ...'" in heddle("allreduce", "-n", "16", "--network", "profile", code=2)
    cache.write_text("machine another, 3 cores\nnetwork between.latency fast\n")
    assert "broken: line 2" in heddle("allreduce", "-n", "16", "--network", str(cache), code=2)
    cache.unlink()
    assert f"{cache} cannot be read" in heddle("allreduce", "-n", "16", "--network", "profile", code=2)
    file.write("between.latency fast\n")
    file.flush()
    broken = heddle("allreduce", "-n", "16", "--network", file.name, code=2)
    assert "line 2" in broken and "between.latency" in broken, broken



def picture(*words):
    """Of a plan: its messages, reductions and copies as (from, to), and its boxes by column."""
    root = xml.etree.ElementTree.fromstring(heddle(*words, "--draw"))
    name = lambda element: element.tag.rpartition("}")[2]
    wide, high = map(int, root.get("viewBox").split()[2:])
    columns, arrows = collections.defaultdict(list), collections.defaultdict(list)
    for element in root.iter():
        if name(element) == "rect":
            columns[int(element.get("x"))].append(element)
        elif name(element) == "path" and element.get("class"):
            numbers = list(map(int, re.findall(r"-?[0-9]+", element.get("d"))))
            assert all(0 <= x < wide for x in numbers[::2]) and all(0 <= y < high for y in numbers[1::2]), numbers
            arrows[element.get("class")].append((numbers[:2], numbers[-2:]))
    return [columns[x] for x in sorted(columns)], arrows


def touches(box, end):
    """Whether the end of an arrow lies at the edge of a box that its step touches."""
    x, y, wide, high = (int(box.get(name)) for name in ("x", "y", "width", "height"))
    return "touched" in box.get("class") and end[0] in (x, x + wide) and y <= end[1] <= y + high


# As Figure 1 of the paper: four ranks, three steps, two blocks each of input, output and scratch.
for collective, algorithm, ranks in (("allreduce", "phases -1 1 1", 4), ("reduce", "tree 2", 6), ("reduce_scatter", "circulant 1", 5)):
    words = [collective, "-n", str(ranks), "--algorithm", algorithm]
    text = heddle(*words)
    serves = ranks if "rank any" in text else 1  # printed once
    columns, arrows = picture(*words)
    assert len(columns) == ranks and len({len(column) for column in columns}) == 1, words
    assert len(arrows["message"]) == serves * len(re.findall(r"^ *send ", text, re.MULTILINE)) > 0, (words, text)
    ends = [end for what in ("message", "reduce") for arrow in arrows[what] for end in arrow]
    assert arrows["reduce"] and all(any(touches(box, end) for column in columns for box in column) for end in ends), words
tree = picture("bcast", "-n", "7", "--algorithm", "tree 2")[1]["message"]
assert len(tree) == 6 and all(a[0] < b[0] for a, b in tree), tree
assert len(picture("barrier", "-n", "4")[1]["message"]) == 8

for words, why in [
    (["allreduce", "-n", "4", "--draw", "--rank", "1"], "without --rank"),
    (["allreduce", "-n", "4", "--draw", "--verify"], "one thing each"),
    (["allreduce", "-n", "4", "--compile", "--verify"], "one thing each"),
    (["allreduce", "-n", "4", "--compile", "--rank", "4"], "rank 4 of 4"),
    (["allreduce", "-n", "3000", "--draw"], "too large to look at"),
    (["allreduce", "-n", "4", "--simulate"], "needs --bytes"),
    (["allreduce", "-n", "4", "--scale"], "--scale needs --bytes"),
    (["allreduce", "-n", "0", "--bytes", "8", "--scale"], "--scale needs ranks"),
    (["bcast", "-n", "4", "--root", "4", "--bytes", "8", "--scale"], "--root is no rank"),
    (["allreduce", "-n", "4", "--bytes", "64k"], "not '64k'"),
    (["allreduce", "-n", "4", "--network", "/nowhere"], "cannot be read"),
    (["allreduce", "-n", "4", "--ppn", "0"], "from 1 on"),
    (["alreduce"], "did you mean 'allreduce'"),
    (["allreduce", "--algoritm", "tree"], "did you mean '--algorithm'"),
    (["allreduce", "-n"], "needs a value"),
    (["allreduce", "-n", "many"], "not 'many'"),
    (["allreduce", "-n", "4", "--rank", "4"], "rank 4 of 4"),
    (["allreduce", "-n", "4", "--algorithm", "bruck"], "it has: recursive"),
    (["allreduce", "-n", "4", "--algorithm", "fastest"], "no algorithm"),
    ([], "which collective"),
]:
    assert why in heddle(*words, code=2), (words, heddle(*words, code=2))
