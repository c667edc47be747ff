"""`heddle plan` prints plans and proves them; what it cannot do it says."""

import subprocess
import sys
import tempfile

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

assert "right for 100 ranks" in heddle("reduce", "-n", "100", "--root", "7", "--ordered", "--verify")
assert "doubling" in heddle("--help")

simulated = heddle("allreduce", "-n", "16", "--bytes", "64K", "--simulate").split("\n\n")
times = [float(line.split()[0]) for line in simulated[0].splitlines()]
assert len(times) > 20 and times == sorted(times), simulated
assert "between.latency" in simulated[1], simulated
best = " ".join(simulated[0].splitlines()[0].split()[2:])
assert f"\nalgorithm {best}\n" in heddle("allreduce", "-n", "16", "--bytes", "64K", "--rank", "0"), best
# On one node, by the node's own links, it is another time; where latency is ten times as long, too.
one = lambda *words: float(heddle("allreduce", "-n", "16", "--bytes", "64K", "--simulate", "--algorithm", "recursive", *words).split()[0])
with tempfile.NamedTemporaryFile("w", suffix=".network") as file:
    file.write("between.latency 4e-5\n")
    file.flush()
    assert one("--ppn", "16") < one() < one("--network", file.name)
    file.write("between.latency fast\n")
    file.flush()
    broken = heddle("allreduce", "-n", "16", "--network", file.name, code=2)
    assert "line 2" in broken and "between.latency" in broken, broken

for words, why in [
    (["allreduce", "-n", "4", "--simulate"], "needs --bytes"),
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
