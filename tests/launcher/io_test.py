"""What ranks print and read."""

import collections
import fcntl
import os
import pathlib
import pty
import signal
import struct
import subprocess
import termios
import time
import unittest

from harness import DEADLINE, MPIEXEC, PYTHON, Case, Launched, interruptible, mpiexec, runs, status_field, wait_until


CHATTER = """
import os, sys
rank = os.environ["PMI_RANK"]
for i in range(int(sys.argv[1])):
    line = f"<{rank}:{i}:" + rank[-1] * (i * 37 % 300) + ">\\n"
    for piece in (line[:7], line[7:]):                    # never a whole line in one write
        os.write(1 if i % 2 else 2, piece.encode())
"""


class Output(Case):
    def check_lines(self, text, ranks, count):
        lines = collections.Counter(text.splitlines())
        expected = collections.Counter(f"<{r}:{i}:" + str(r)[-1] * (i * 37 % 300) + ">" for r in range(ranks) for i in range(count))
        self.assertEqual(lines, expected)

    def test_lines_are_never_cut(self):
        done = mpiexec("-n", 12, PYTHON, "-c", CHATTER, 400, stderr=subprocess.STDOUT)
        self.assertEqual(done.code, 0)
        self.check_lines(done.out, 12, 400)

    def test_lines_are_never_cut_by_a_slow_reader(self):
        job = Launched("-n", 4, PYTHON, "-c", CHATTER, 1000, stderr=subprocess.STDOUT)
        text = b""
        while piece := os.read(job.process.stdout.fileno(), 1500):  # odd portions of a full pipe
            text += piece
        job.finish()
        self.check_lines(text.decode(), 4, 1000)

    def test_order_within_a_rank(self):
        done = mpiexec("-n", 2, "sh", "-c", "for i in 1 2 3 4 5; do echo $PMI_RANK.$i; done")
        for rank in "01":
            self.assertEqual([l for l in done.out.splitlines() if l[0] == rank], [f"{rank}.{i}" for i in range(1, 6)])

    def test_a_last_line_without_an_end(self):
        self.assertEqual(mpiexec("printf", "no end").out, "no end")
        done = mpiexec("-n", 3, "sh", "-c", "printf $PMI_RANK")
        self.assertEqual(sorted(done.out.splitlines()), ["0", "1", "2"])

    def test_tags(self):
        program = ("sh", "-c", "echo a; echo; echo err >&2; printf end")
        for option in ("-l", "--tag-output", "-prepend-rank"):
            done = mpiexec(option, "-n", 2, *program)
            self.assertEqual(sorted(done.out.splitlines()), ["[0] ", "[0] a", "[0] end", "[1] ", "[1] a", "[1] end"])
            self.assertEqual(sorted(done.err.splitlines()), ["[0] err", "[1] err"])

    def test_bytes_pass_unchanged(self):
        data = bytes(range(256)) * 5000
        path = self.directory / "data"
        path.write_bytes(data)
        job = Launched("cat", path)
        out, _ = job.process.communicate(timeout=DEADLINE)
        self.assertEqual(out, data)

    def test_long_lines(self):
        done = mpiexec("-n", 4, PYTHON, "-c", "import os; print(os.environ['PMI_RANK'] * 500_000)")
        self.assertEqual(sorted(done.out.splitlines()), [str(r) * 500_000 for r in range(4)])

    def test_memory_stays_bounded_while_the_reader_sleeps(self):
        job = Launched("-n", 4, PYTHON, "-c", f"""
import os
open("{self.directory}/pids", "a").write(f"{{os.getpid()}}\\n")
for i in range(4000): os.write(1, b"x" * 4999 + b"\\n")
""")
        pids = self.pids_in("pids", 4)

        def asleep_in_write():
            return all(pathlib.Path(f"/proc/{p}/syscall").read_text().startswith("1 ") for p in pids)

        wait_until(asleep_in_write, "all ranks stopped by the reader")
        self.assertLess(int(status_field(job.pid, "VmHWM")), 32 * 1024)
        self.assertEqual(len(job.finish().out), 4 * 4000 * 5000)
        self.assertEqual(job.code, 0)

    def test_a_signal_reaches_a_job_whose_reader_sleeps(self):
        job = Launched("-n", 2, "sh", "-c", f"echo $$ >> {self.directory}/pids; exec yes")
        pids = self.pids_in("pids", 2)
        job.process.send_signal(signal.SIGTERM)
        self.assert_all_gone(pids)
        self.assertEqual(job.finish().code, 128 + signal.SIGTERM)

    def test_a_reader_that_leaves(self):
        job = Launched("-n", 2, "yes", "some text")
        self.assertEqual(job.process.stdout.readline(), b"some text\n")
        job.process.stdout.close()
        job.process.wait(timeout=DEADLINE)
        self.assertEqual(job.process.returncode, 128 + signal.SIGPIPE)

    def test_closed_standard_descriptors(self):
        def close_all():
            for fd in (0, 1, 2):
                os.close(fd)

        done = mpiexec("-n", 2, "sh", "-c", f"cat > {self.directory}/in.$PMI_RANK; echo lost; exit 0", preexec_fn=close_all)
        self.assertEqual(done.code, 0)
        self.assertEqual((self.directory / "in.0").read_text(), "")

    def test_a_background_process_does_not_hold_mpiexec(self):
        start = time.monotonic()
        done = mpiexec("-n", 2, "sh", "-c", f"sleep 1000 & echo $! >> {self.directory}/pids; echo done")
        self.assertEqual((done.code, done.out), (0, "done\ndone\n"))
        self.assertLess(time.monotonic() - start, DEADLINE / 2)
        for pid in self.pids_in("pids", 2):
            self.assertTrue(runs(pid), "what a good job left in the background is its own business")
            os.kill(pid, signal.SIGKILL)


class Input(Case):
    def test_rank_0_gets_it_and_nobody_else(self):
        text = "".join(f"line {i}\n" for i in range(50_000))
        done = mpiexec("-n", 3, "sh", "-c", "wc -c", input=text.encode())
        self.assertEqual(sorted(map(int, done.out.split())), [0, 0, len(text)])

    def test_what_rank_0_does_not_read_stays(self):
        script = f"{MPIEXEC} -n 2 true; {MPIEXEC} -n 2 sh -c 'test $PMI_RANK = 1 || head -c 6'; echo; cat"
        path = self.file("input", "first\nsecond\nthird\n")
        with open(path) as f:
            done = subprocess.run(["sh", "-c", script], stdin=f, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(done.stdout, "first\n\nsecond\nthird\n")

    def test_a_dialogue_on_a_terminal(self):
        program = "printf 'your name? '; read n; echo hello $n; read rest || echo no more"
        pid, terminal = self.on_terminal("-n", 2, "sh", "-c", f"test $PMI_RANK = 1 || {{ {program}; }}")
        self.read_until(terminal, b"your name? ")
        os.write(terminal, b"Ada\n")
        self.read_until(terminal, b"hello Ada\r\n")
        os.write(terminal, b"\x04")
        self.read_until(terminal, b"no more\r\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_what_is_typed_ahead_is_left_for_the_next_program(self):
        job = f"{MPIEXEC} -n 2 sh -c 'while test ! -e {self.directory}/go; do sleep 0.01; done'; tr a-z A-Z"
        pid, terminal = pty.fork()
        if pid == 0:
            interruptible()
            os.execvp("bash", ["bash", str(self.file("script", job))])
        self.addCleanup(os.close, terminal)
        os.write(terminal, b"one\ntwo\nthree\n")
        wait_until(lambda: os.readlink(f"/proc/{pid}/fd/0").startswith("/dev/pts"), "the terminal is its input")
        other_side = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NOCTTY)
        self.addCleanup(os.close, other_side)

        def unread():
            return struct.unpack("i", fcntl.ioctl(other_side, termios.FIONREAD, b"\0" * 4))[0]

        wait_until(lambda: unread() <= len("two\nthree\n"), "mpiexec has taken a line for rank 0")
        (self.directory / "go").touch()
        self.read_until(terminal, b"TWO\r\nTHREE\r\n")
        os.write(terminal, b"\x04")
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_the_interrupt_key(self):
        pid, terminal = self.on_terminal("-n", 2, "sh", "-c", f"echo $$ >> {self.directory}/pids; exec sleep 1000")
        pids = self.pids_in("pids", 2)
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"the job was ended by signal 2 (Interrupt)")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        self.assert_all_gone(pids)

    def test_a_job_in_the_background_is_not_stopped_by_the_terminal(self):
        # The shell, not mpiexec, keeps the terminal: job control puts `&` into a group of its own.
        program = f"test $PMI_RANK = 1 || {{ sleep 0.3; echo over; }}"
        script = self.file("script", f"set -m\n{MPIEXEC} -n 2 sh -c '{program}' & wait $!; echo code $?\n")
        pid, terminal = pty.fork()
        if pid == 0:
            interruptible()
            os.execvp("bash", ["bash", str(script)])
        self.addCleanup(os.close, terminal)
        os.write(terminal, b"typed ahead for the shell\n")
        seen = self.read_until(terminal, b"code 0")
        self.assertIn(b"over\r\n", seen)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    unittest.main()
