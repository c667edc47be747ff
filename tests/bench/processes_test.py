"""A bench program that ends, fails or never ends; what it started and what it left in /dev/shm are gone afterwards."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import processes  # noqa: E402

# Maps a file in /dev/shm, starts a child in a session of its own that maps another and sleeps, says so; then `argv[2]`.
LEAVES = """
import mmap, os, signal, sys, time
def leave(name):
    with open(name, "w+b") as file:
        file.truncate(4096)
        return mmap.mmap(file.fileno(), 4096)
held = leave(sys.argv[1])
ready, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.close(1)
    more = leave(sys.argv[1] + ".child")
    os.write(said, b"x")
    time.sleep(1000)
os.read(ready, 1)
print("begin here", flush=True)
exec(sys.argv[2])
"""


class Running(unittest.TestCase):
    def run_leaving(self, then, limit):
        name = f"/dev/shm/heddle.bench_test.{os.getpid()}"
        outcome = processes.run([sys.executable, "-c", LEAVES, name, then], dict(os.environ), limit)
        self.assertEqual(outcome.stdout, "begin here\n")
        left = [path for path in (name, f"{name}.child") if pathlib.Path(path).exists()]
        for path in left:
            os.unlink(path)
        self.assertEqual(left, [])
        self.assertEqual(processes.processes_of(f"{os.getpid()}.{next(processes.numbers) - 1}"), [])
        return outcome

    def test_the_output_of_one_that_ends(self):
        outcome = processes.run(["sh", "-c", "echo out; echo err >&2"], dict(os.environ), 30)
        self.assertEqual((outcome.stdout, outcome.stderr, outcome.failure), ("out\n", "err\n", ""))

    def test_its_exit_code(self):
        self.assertEqual(self.run_leaving("sys.stdout.flush(); os._exit(3)", 30).failure, "exit code 3")

    def test_one_that_never_ends(self):
        self.assertEqual(self.run_leaving("time.sleep(1000)", 1).failure, "no end in 1 s")

    def test_one_that_does_not_heed_sigterm(self):
        processes.GRACE, before = 0.2, processes.GRACE
        self.addCleanup(setattr, processes, "GRACE", before)
        outcome = self.run_leaving("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)", 1)
        self.assertEqual(outcome.failure, "no end in 1 s")

    def test_one_that_closes_its_output_and_stays(self):
        self.assertEqual(self.run_leaving("os.close(1); time.sleep(1000)", 1).failure, "no end in 1 s")


if __name__ == "__main__":
    unittest.main()
