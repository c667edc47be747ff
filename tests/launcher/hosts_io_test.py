"""Over several hosts: output, input, exit codes, signals and terminals."""

import os
import signal
import subprocess
import time
import unittest

from harness import PROBE, PYTHON, state, status_field, wait_until
from io_test import CHATTER
from remote import Hosts, read


class AcrossNodes(Hosts):
    """What a job is on one node, it is on several."""

    def test_lines_are_never_cut(self):
        done = self.mpiexec("-hosts", "a,b,c", "-n", 6, PYTHON, "-c", CHATTER, 300, stderr=subprocess.STDOUT)
        expected = sorted(f"<{r}:{i}:" + str(r) * (i * 37 % 300) + ">" for r in range(6) for i in range(300))
        self.assertEqual((done.code, sorted(done.out.splitlines())), (0, expected))

    def test_tags_and_last_lines(self):
        done = self.mpiexec("-l", "-hosts", "a,b", "-n", 2, "sh", "-c", "echo a; echo err >&2; printf end")
        self.assertEqual(sorted(done.out.splitlines()), ["[0] a", "[0] end", "[1] a", "[1] end"])
        self.assertEqual(sorted(done.err.splitlines()), ["[0] err", "[1] err"])

    def test_long_lines(self):
        done = self.mpiexec("-hosts", "a,b", "-n", 4, PYTHON, "-c", "import os; print(os.environ['PMI_RANK'] * 1_000_000)")
        self.assertEqual(sorted(done.out.splitlines()), [str(r) * 1_000_000 for r in range(4)])

    def test_input_goes_to_rank_0(self):
        text = "".join(f"line {i}\n" for i in range(50_000))
        done = self.mpiexec("-hosts", "a,b", "-n", 3, "sh", "-c", "wc -c", input=text.encode())
        self.assertEqual(sorted(map(int, done.out.split())), [0, 0, len(text)])

    def test_what_rank_0_leaves_of_a_file_stays(self):
        path = self.file("input", "first\nsecond\nthird\n")
        with open(path) as f:
            done = self.mpiexec("-hosts", "a,b", "-n", 2, "sh", "-c", "test $PMI_RANK = 1 || head -c 6", stdin=f)
            left = os.read(f.fileno(), 100)
        self.assertEqual((done.code, done.out, left), (0, "first\n", b"second\nthird\n"))

    def test_memory_stays_bounded_while_the_reader_sleeps(self):
        job = self.launched("-hosts", "a,b", "-n", 4, PYTHON, "-c", f"""
import os
open("{self.directory}/pids", "a").write(f"{{os.getpid()}}\\n")
for i in range(4000): os.write(1, b"x" * 4999 + b"\\n")
""")
        pids = self.pids_in("pids", 4)

        def stand_still():
            def written():
                return [read(f"/proc/{p}/io").split("wchar:")[1].split()[0] for p in pids]
            before = written()
            time.sleep(0.3)
            return before == written() and all(read(f"/proc/{p}/syscall").startswith("1 ") for p in pids)

        wait_until(stand_still, "all ranks stopped by the reader")
        for pid in (job.pid, *self.nodes(job).values()):
            self.assertLess(int(status_field(pid, "VmHWM")), 32 * 1024)
        self.assertEqual((len(job.finish().out), job.code), (4 * 4000 * 5000, 0))

    def test_a_reader_that_leaves(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "yes", "some text")
        self.assertEqual(job.process.stdout.readline(), b"some text\n")
        job.process.stdout.close()
        self.assertEqual(job.process.wait(timeout=60), 128 + signal.SIGPIPE)

    def test_exit_codes(self):
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 4, "sh", "-c", "test $PMI_RANK != 3 || exit 42"), 42,
                          "rank 3 (pid ", ") on b ended with exit code 42; ending the job\n")
        done = self.mpiexec("-hosts", "a,b", "-n", 2, "sh", "-c", f"{PROBE} late 1 6; c=$?; test $PMI_RANK = 1 || {{ sleep 0.6; echo left in peace; }}; exit $c")
        self.assert_fails(done, 6, "rank 1 (pid ", ") on b ended with exit code 6\n")
        self.assertEqual(done.out, "left in peace\n")

    def test_the_last_words_come_before_the_verdict(self):
        for _ in range(10):
            done = self.mpiexec("-hosts", "a,b", "-n", 2, "sh", "-c", "echo out; echo err $PMI_RANK >&2; test $PMI_RANK = 0 || kill -9 $$",
                                stderr=subprocess.STDOUT)
            before, verdict, _ = done.out.partition("signal 9")
            self.assertTrue(verdict, done.out)
            self.assertIn("err 1\n", before)

    def test_signals_are_passed_on(self):
        for number, name in ((signal.SIGINT, "2 (Interrupt)"), (signal.SIGTERM, "15 (Terminated)")):
            job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c", f"echo $$ >> {self.directory}/pids{number}; exec sleep 1000")
            pids = self.pids_in(f"pids{number}", 2)
            processes = self.processes(job)
            job.process.send_signal(number)
            done = job.finish()
            self.assertEqual((done.code, done.err), (128 + number, f"mpiexec: the job was ended by signal {name}\n"))
            self.assert_ends_clean(job, processes, pids)

    def test_user_signals_and_a_handlers_time(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c",
                            f"trap 'echo heard; exit 0' USR1; echo $$ >> {self.directory}/pids; while true; do sleep 0.01; done")
        self.pids_in("pids", 2)
        job.process.send_signal(signal.SIGUSR1)
        done = job.finish()
        self.assertEqual((done.code, done.out), (0, "heard\nheard\n"))

    def test_the_second_signal_kills(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c",
                            f"trap 'echo x >> {self.directory}/heard' INT; echo $$ >> {self.directory}/pids; while true; do sleep 0.01; done")
        pids = self.pids_in("pids", 2)
        job.process.send_signal(signal.SIGINT)
        wait_until(lambda: (self.directory / "heard").exists() and (self.directory / "heard").read_text() == "x\nx\n", "both have heard")
        job.process.send_signal(signal.SIGINT)
        self.assert_fails(job.finish(), 130, "killing the job: signal 2 (Interrupt) once more")
        self.assert_all_gone(pids)

    def test_stopped_for_longer_than_the_detection_time(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c", f"echo $$ >> {self.directory}/pids; exec sleep 1000",
                            variables={"HEDDLE_DETECTION_TIME": "2"})
        pids = self.pids_in("pids", 2)
        job.process.send_signal(signal.SIGTSTP)
        wait_until(lambda: state(job.pid) == "T" and all(state(p) == "T" for p in pids), "everything stopped")
        time.sleep(4)  # two detection times
        job.process.send_signal(signal.SIGCONT)
        wait_until(lambda: all(state(p) == "S" for p in pids), "everything goes on")
        job.process.send_signal(signal.SIGTERM)
        self.assertEqual(job.finish().code, 143)


    def test_a_dialogue_on_a_terminal(self):
        program = "printf 'your name? '; read n; echo hello $n; read rest || echo no more"
        pid, terminal = self.on_terminal("--rsh", self.shell, "-hosts", "a,b", "-n", 2, "sh", "-c", f"test $PMI_RANK = 1 || {{ {program}; }}")
        self.read_until(terminal, b"your name? ")  # a line without an end is shown when it stands still
        os.write(terminal, b"Ada\n")
        self.read_until(terminal, b"hello Ada\r\n")
        os.write(terminal, b"\x04")
        self.read_until(terminal, b"no more\r\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_the_interrupt_key(self):
        # It reaches mpiexec and not the remote shells, which it would end.
        pid, terminal = self.on_terminal("--rsh", self.shell, "-hosts", "a,b", "-n", 2, "sh", "-c",
                                         f"trap 'sleep 0.5; echo saved; exit 0' INT; echo $$ >> {self.directory}/pids; while true; do sleep 0.01; done")
        self.pids_in("pids", 2)
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"saved\r\nsaved\r\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
