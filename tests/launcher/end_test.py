"""How a job ends: failures of ranks, and signals to mpiexec."""

import os
import re
import signal
import subprocess
import time
import unittest

from harness import HOST, PYTHON, Case, Launched, mpiexec, runs, state, status_field, wait_until


class Failures(Case):
    def test_exit_codes(self):
        self.assertEqual(mpiexec("-n", 4, "true").code, 0)
        done = mpiexec("-n", 1, "true", ":", "-n", 1, "sh", "-c", "exit 42")
        self.assert_fails(done, 42, "rank 1 (pid ", f") on {HOST} ended with exit code 42; ending the job\n")
        self.assertEqual(done.err.count("\n"), 1)

    def test_a_rank_that_ends_well_before_the_others(self):
        done = mpiexec("-n", 3, "sh", "-c", "test $PMI_RANK = 0 || sleep 0.2; echo $PMI_RANK")
        self.assertEqual((done.code, done.out.split()[0], done.err), (0, "0", ""))

    def test_a_signal_ends_all_within_a_second(self):
        for number, name in ((signal.SIGKILL, "9 (Killed)"), (signal.SIGSEGV, "11 (Segmentation fault)")):
            job = Launched("-n", 4, "sh", "-c", f"echo $$ >> {self.directory}/pids{number}; exec sleep 1000")
            pids = self.pids_in(f"pids{number}", 4)
            start = time.monotonic()
            os.kill(pids[2], number)
            done = job.finish()
            self.assertLess(time.monotonic() - start, 1)
            self.assertEqual(done.code, 128 + number)
            self.assertRegex(done.err, rf"^mpiexec: rank \d \(pid {pids[2]}\) on {HOST} was ended by signal {re.escape(name)}"
                                       r"(, core dumped)?; ending the job\n$")
            self.assert_all_gone(pids)

    def test_the_whole_family_goes(self):
        # A shell that waits for a child, a child in the background, and one that will not listen to SIGTERM.
        family = f"""
            p() {{ echo $1 >> {self.directory}/pids; }}
            p $$; sleep 1000 & p $!
            (trap '' TERM; while true; do sleep 1000; done) & p $!
            wait"""
        job = Launched("-n", 3, "sh", "-c", family)
        pids = self.pids_in("pids", 9)
        start = time.monotonic()
        os.kill(pids[0], signal.SIGKILL)
        self.assertEqual(job.finish().code, 137)
        self.assertLess(time.monotonic() - start, 1)
        self.assert_all_gone(pids)

    def test_ranks_that_ignore_sigterm_or_leave_the_group(self):
        stubborn = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.environ["PMI_RANK"] == "1": os.setsid()
open("{self.directory}/pids", "a").write(f"{{os.getpid()}}\\n")
time.sleep(1000)
"""
        job = Launched("-n", 2, PYTHON, "-c", stubborn, ":", "sh", "-c", f"while test ! -e {self.directory}/go; do sleep 0.01; done; exit 3")
        pids = self.pids_in("pids", 2)
        start = time.monotonic()
        (self.directory / "go").touch()
        self.assert_fails(job.finish(), 3, "rank 2")
        self.assertLess(time.monotonic() - start, 1)
        self.assert_all_gone(pids)

    def test_ranks_may_say_a_last_word(self):
        polite = f"trap 'echo last word; exit 0' TERM; touch {self.directory}/ready; while true; do sleep 0.01; done"
        job = Launched("sh", "-c", polite, ":", "sh", "-c", f"while test ! -e {self.directory}/ready; do sleep 0.01; done; exit 5")
        done = job.finish()
        self.assertEqual((done.code, done.out), (5, "last word\n"))

    def test_stopped_ranks_go_too_and_may_say_a_last_word(self):
        program = f"trap 'echo last word; exit' TERM; echo $$ >> {self.directory}/pids; while true; do sleep 0.01; done"
        job = Launched("-n", 2, "sh", "-c", program)
        pids = self.pids_in("pids", 2)
        os.kill(pids[0], signal.SIGSTOP)
        os.kill(pids[1], signal.SIGKILL)
        done = job.finish()
        self.assertEqual((done.code, done.out), (137, "last word\n"))
        self.assert_all_gone(pids)

    def test_mpiexec_killed_leaves_nothing(self):
        job = Launched("-n", 3, "sh", "-c", f"echo $$ >> {self.directory}/pids; sleep 1000 & echo $! >> {self.directory}/pids; wait")
        pids = self.pids_in("pids", 6)
        os.kill(job.pid, signal.SIGKILL)
        self.assertEqual(job.finish().code, -signal.SIGKILL)  # and nobody holds its output open
        self.assert_all_gone(pids)

    def test_mpiexec_killed_leaves_no_rank_that_left_the_group(self):
        program = f"""
import os, time
os.setsid()
open("{self.directory}/pids", "a").write(f"{{os.getpid()}}\\n")
time.sleep(1000)
"""
        job = Launched("-n", 2, PYTHON, "-c", program)
        pids = self.pids_in("pids", 2)
        os.kill(job.pid, signal.SIGKILL)
        job.finish()
        self.assert_all_gone(pids)

    def test_the_last_words_come_before_the_verdict(self):
        for _ in range(20):
            done = mpiexec("-n", 2, "sh", "-c", "echo out; echo err $PMI_RANK >&2; test $PMI_RANK = 0 || kill -9 $$",
                           stderr=subprocess.STDOUT)
            before, verdict, _ = done.out.partition("signal 9")
            self.assertTrue(verdict, done.out)
            self.assertIn("err 1\n", before)  # rank 0 may still speak after it


class Signals(Case):
    def start(self, program, ranks=2):
        job = Launched("-n", ranks, "sh", "-c", program.replace("READY", f"echo $$ >> {self.directory}/pids"))
        return job, self.pids_in("pids", ranks)

    def test_passed_on_and_ended_by(self):
        for number, name in ((signal.SIGINT, "2 (Interrupt)"), (signal.SIGTERM, "15 (Terminated)"), (signal.SIGHUP, "1 (Hangup)")):
            job, pids = self.start("READY; exec sleep 1000")
            job.process.send_signal(number)
            done = job.finish()
            self.assertEqual(done.code, 128 + number)
            self.assertEqual(done.err, f"mpiexec: the job was ended by signal {name}\n")
            self.assert_all_gone(pids)
            (self.directory / "pids").unlink()

    def test_a_handler_has_its_time(self):
        # Longer than what a failed job is given.
        job, _ = self.start("trap 'sleep 0.7; echo saved; exit 0' TERM; READY; while true; do sleep 0.01; done")
        job.process.send_signal(signal.SIGTERM)
        done = job.finish()
        self.assertEqual((done.code, done.out), (0, "saved\nsaved\n"))

    def test_the_code_of_a_handler(self):
        job, _ = self.start("trap 'exit $((PMI_RANK + 4))' TERM; READY; while true; do sleep 0.01; done", ranks=1)
        job.process.send_signal(signal.SIGTERM)
        self.assert_fails(job.finish(), 4, "rank 0 (pid ", "ended with exit code 4")

    def test_the_second_kills(self):
        job, pids = self.start(f"trap 'echo x >> {self.directory}/heard' INT; READY; while true; do sleep 0.01; done")
        job.process.send_signal(signal.SIGINT)
        wait_until(lambda: (self.directory / "heard").exists(), "the first SIGINT heard")
        self.assertTrue(all(map(runs, pids)))
        job.process.send_signal(signal.SIGINT)
        done = job.finish()
        self.assert_fails(done, 130, "killing the job: signal 2 (Interrupt) once more")
        self.assert_all_gone(pids)

    def test_user_signals(self):
        job, _ = self.start(f"trap 'echo heard; exit 0' USR1; READY; while true; do sleep 0.01; done")
        job.process.send_signal(signal.SIGUSR1)
        done = job.finish()
        self.assertEqual((done.code, done.out), (0, "heard\nheard\n"))

    def test_stop_and_continue(self):
        job, pids = self.start("READY; exec sleep 1000")

        job.process.send_signal(signal.SIGTSTP)
        wait_until(lambda: state(job.pid) == "T" and all(state(p) == "T" for p in pids), "everything stopped")
        job.process.send_signal(signal.SIGCONT)
        wait_until(lambda: all(state(p) == "S" for p in pids), "everything goes on")
        job.process.send_signal(signal.SIGTERM)
        self.assertEqual(job.finish().code, 143)

    def test_an_ignored_signal_stays_ignored(self):
        job = Launched("sh", "-c", f"echo $$ > {self.directory}/pids; exec sleep 1000",
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        pids = self.pids_in("pids", 1)
        for pid in (job.pid, *pids):
            os.kill(pid, signal.SIGINT)
        self.assertTrue(int(status_field(pids[0], "SigIgn"), 16) & (1 << (signal.SIGINT - 1)))
        job.process.send_signal(signal.SIGTERM)
        self.assertEqual(job.finish().code, 143)

    def test_ranks_start_with_clean_signals(self):
        done = mpiexec("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", restore_signals=True)
        # Python leaves no signal ignored in its children
        self.assertEqual([int(l.split()[1], 16) for l in done.out.splitlines()], [0, 0])


if __name__ == "__main__":
    unittest.main()
