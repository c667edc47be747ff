"""`heddle tune` writes a profile that programs read; a broken one, and one of another machine, is refused, and the default is used."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

build = pathlib.Path(sys.argv[1])
heddle, mpiexec = build / "bin/heddle", build / "bin/mpiexec"
program = build / "tests/programs/p2p_overlap"
env = {k: v for k, v in os.environ.items() if k not in ("HEDDLE_PROFILE", "HEDDLE_SINGLE_COPY")}


def run(*command, **more):
    return subprocess.run(list(map(str, command)), env={**env, **more}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=100)


def check(condition, done):
    if not condition:
        sys.exit(f"not as expected: {done.args}: {done.returncode}\n{done.stdout}{done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    cache = pathlib.Path(folder) / "cache"
    done = run(heddle, "tune", "--help")
    check(done.returncode == 0 and "--output" in done.stdout, done)
    done = run(heddle, "tune", "--fast")
    check(done.returncode == 2 and "--fast" in done.stderr, done)
    done = run(heddle, "tune", "--dry-run", XDG_CACHE_HOME=str(cache))
    check(done.returncode == 0 and "pull_bytes" in done.stdout and not cache.exists(), done)
    steps = re.findall(r"^heddle tune: measures (.*) \.\.\.$", done.stderr, re.M)
    check(steps[:2] == ["messages through shared memory", "reads of each other's memory"] and "messages within a host" in steps
          and steps[-1] == "copies and reductions" and len(steps) == 6, done)
    done = run(heddle, "tune", "--anyway", XDG_CACHE_HOME=str(cache))
    stored = re.search(r"stored in (\S+)", done.stdout)
    check(done.returncode == 0 and stored, done)
    profile = pathlib.Path(stored.group(1))
    check([p for p in cache.rglob("*") if p.is_file()] == [profile], done)
    text = profile.read_text()
    for key in ("single_copy_from", "pull_bytes", "pull_after", "aggregate_bytes"):
        check(re.search(rf"^{key} \d+", text, re.M), done)
    for key in ("within.latency", "within.overhead", "within.gap", "within.byte", "crowding", "crowd", "copy", "reduce"):
        check(re.search(rf"^network {key} [0-9.e-]+$", text, re.M), done)
    check(not re.search(r"^network (between|ports)", text, re.M), done)
    hosts = {"between.latency": "4e-06", "ports": "3", "crowding": "0.625", "crowd": "2"}
    profile.write_text(re.sub("^network crowd.*\n", "", text, flags=re.M) + "".join(f"network {k} {v}\n" for k, v in hosts.items()))
    done = run(heddle, "tune", "--anyway", XDG_CACHE_HOME=str(cache))
    kept = re.findall(r"^network (between\S*|ports|crowd\S*) (\S+)$", profile.read_text(), re.M)
    check(done.returncode == 0 and sorted(kept) == sorted(hosts.items()), done)
    fresh = pathlib.Path(folder) / "fresh"
    done = run(heddle, "tune", "--anyway", HEDDLE_PROFILE=str(fresh), HEDDLE_NETWORK="speed=3", HEDDLE_PLANS="none",
               HEDDLE_LONG_MESSAGES="never")
    check(done.returncode == 0 and f"stored in {fresh}" in done.stdout and "HEDDLE_" not in done.stderr, done)
    done = run(heddle, "tune", "--dry-run", "--", "-no-such-option")
    check(done.returncode == 1 and "did not end well" in done.stderr, done)
    done = run(heddle, "info", XDG_CACHE_HOME=str(cache))
    check(re.search(r"^single copy  (works|is refused)", done.stdout, re.M) and str(profile) in done.stdout, done)
    done = run(heddle, "tune", "--anyway", "--output", "/proc/none")
    check(done.returncode == 1 and "/proc/none" in done.stderr, done)

    for named in ({"XDG_CACHE_HOME": str(cache)}, {"HEDDLE_PROFILE": str(profile)}):
        done = run(mpiexec, "-n", 2, program, **named)
        check(done.returncode == 0 and "profile" not in done.stderr, done)
    profile.write_text("pull_bytes many\n")
    done = run(mpiexec, "-n", 2, program, XDG_CACHE_HOME=str(cache))
    check(done.returncode == 0 and done.stderr.count("broken: line 1, 'pull_bytes many'") == 1, done)
    done = run(mpiexec, "-n", 2, program, HEDDLE_PROFILE=str(profile))
    check(done.returncode == 0 and done.stderr.count("broken: line 1, 'pull_bytes many'") == 1, done)
    profile.write_text("machine another\npull_bytes 65536\n")
    done = run(mpiexec, "-n", 2, program, HEDDLE_PROFILE=str(profile))
    check(done.returncode == 0 and done.stderr.count("is of another machine (another, this is ") == 1, done)
    profile.write_text("pull_bytes 65536\n")
    for named in ({"XDG_CACHE_HOME": str(cache)}, {"HEDDLE_PROFILE": str(profile)}):
        done = run(mpiexec, "-n", 2, program, **named)
        check(done.returncode == 0 and done.stderr.count(f"{profile} does not say of which machine it is") == 1, done)
    done = run(mpiexec, "-n", 2, program, HEDDLE_PROFILE="/none")
    check(done.returncode != 0 and "/none cannot be read" in done.stderr, done)
    for broken, why in (("between.latency", "no number"), ("ports=0", "no number"), ("speed=3", "unknown key")):
        done = run(mpiexec, "-n", 2, program, HEDDLE_NETWORK=broken)
        check(done.returncode == 0 and done.stderr.count("HEDDLE_NETWORK, line 1: " + why) == 1, done)
    done = run(mpiexec, "-n", 2, program, HEDDLE_SINGLE_COPY="sometimes")
    check(done.returncode != 0 and "HEDDLE_SINGLE_COPY='sometimes'" in done.stderr, done)
