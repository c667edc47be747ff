"""PMI-1: Heddle's boot under mpiexec, hostile ranks, and MPICH on either side."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from harness import DEADLINE, HEDDLE_LIB, HOST, MPICH, PROBE, PYTHON, Case, interruptible, mpiexec


SHM = pathlib.Path("/dev/shm")
SPEAKER = """
import os, socket, sys
s = socket.socket(fileno=int(os.environ["PMI_FD"]))
f = s.makefile("rw", newline="\\n")
def ask(line):
    f.write(line + "\\n"); f.flush()
    return f.readline().rstrip("\\n")
"""


class Pmi(Case):
    def speak(self, code, *args):
        return mpiexec(*args, PYTHON, "-c", SPEAKER + code)

    def test_everyone_sees_everything(self):
        for ranks in (1, 2, 16):
            done = mpiexec("-n", ranks, PROBE)
            self.assertEqual((done.code, done.err), (0, ""))
            self.assertEqual(sorted(done.out.splitlines()),
                             sorted(f"rank {r} of {ranks}: {ranks} values, {ranks} on this node, program 0" for r in range(ranks)))

    def test_programs_have_numbers(self):
        done = mpiexec("-n", 1, PROBE, ":", "-n", 2, PROBE)
        self.assertEqual([l[-1] for l in sorted(done.out.splitlines())], ["0", "1", "1"])

    def test_through_shells_and_env(self):
        done = mpiexec("-n", 3, "sh", "-c", f"true; env A=B {PROBE}; exit $?")
        self.assertEqual((done.code, done.out.count("3 values")), (0, 3))

    def test_without_mpiexec(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PMI", "HEDDLE"))}
        done = subprocess.run([PROBE], capture_output=True, text=True, timeout=DEADLINE, env=clean)
        self.assertEqual((done.returncode, done.stdout), (0, "rank 0 of 1: 1 values, 1 on this node, program 0\n"))

    def test_a_stale_environment(self):
        done = subprocess.run([PROBE], capture_output=True, text=True, timeout=DEADLINE,
                              env={**os.environ, "PMI_FD": "9", "PMI_RANK": "0", "PMI_SIZE": "2"})
        self.assertEqual(done.returncode, 90)
        self.assertIn("PMI_FD is 9, which is not an open socket", done.stderr)

    def test_abort(self):
        done = mpiexec("-n", 4, PROBE, "abort", 2, 7)
        self.assertEqual(done.code, 7)
        self.assertRegex(done.err, rf"^probe: rank 2 gives up\nmpiexec: rank 2 \(pid \d+\) on {HOST} aborted the job with code 7\n$")
        self.assertEqual(mpiexec("-n", 2, PROBE, "abort", 1, 256).code, 1, "256 must not look like success")

    def test_an_end_between_init_and_finalize(self):
        done = mpiexec("-n", 3, PROBE, "leave", 1, 0)
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, r"^mpiexec: rank 1 \(pid \d+\) on \S+ ended without MPI_Finalize \(exit code 0\); ending the job\n$")
        self.assert_fails(mpiexec("-n", 3, PROBE, "leave", 1, 9), 9, "rank 1", "exit code 9")

    def test_killed_while_others_wait(self):
        start = time.monotonic()
        self.assert_fails(mpiexec("-n", 4, PROBE, "kill", 3), 137, "rank 3 (pid ", "was ended by signal 9 (Killed) after it had begun to use MPI; ending the job")
        self.assertLess(time.monotonic() - start, 2)

    def test_a_code_after_finalize_lets_the_others_leave(self):
        done = mpiexec("-n", 2, "sh", "-c", f"{PROBE} late 1 6; c=$?; test $PMI_RANK = 1 || {{ sleep 0.6; echo left in peace; }}; exit $c")
        self.assert_fails(done, 6, "rank 1 (pid ", "ended with exit code 6\n")
        self.assertEqual(done.out, "left in peace\n")

    def test_waiting_for_someone_who_has_left(self):
        for programs in ([PROBE, ":", "true"], ["true", ":", PROBE], [PROBE, ":", "sh", "-c", "sleep 0.2"]):
            done = mpiexec(*programs)
            self.assertEqual(done.code, 1)
            self.assertRegex(done.err, r"^mpiexec: rank [01] has ended without MPI_Init, and rank [01] waits for it; ending the job\n$")

    def test_broken_speech(self):
        for say, why in (("hello", "not a PMI-1 line: 'hello'"), ("cmd=frobnicate", "PMI-1 has no command 'frobnicate'"),
                         ("cmd=\\x00", "not a PMI-1 line: it has the byte 0x00"), ("x" * 20_000, "a PMI-1 line of more than 16384 bytes")):
            done = self.speak(f"print(ask('{say}')); s.recv(1)", "-n", 1)
            self.assert_fails(done, 1, "rank 0 (pid ", "broke the PMI protocol: " + why)

    def test_an_end_in_the_middle_of_a_line(self):
        self.assertEqual(self.speak("f.write('cmd=in'); f.flush()").code, 0)

    def test_what_is_refused_politely(self):
        done = self.speak("""
print(ask("mcmd=spawn\\nnprocs=1\\nexecname=x\\nendcmd"))
print(ask("cmd=publish_name service=a port=b"))
print(ask("cmd=put kvsname=wrong key=a value=b"))
job = ask("cmd=get_my_kvsname").split("kvsname=")[1]
print(ask(f"cmd=put kvsname={job} key=a value=" + "b" * 1025))
print(ask(f"cmd=put kvsname={job} key=a"))
print(ask(f"cmd=get kvsname={job} key=a"))
print(ask(f"cmd=put kvsname={job} key=a value=(b=c)"), ask(f"cmd=get kvsname={job} key=a"))
""")
        self.assertEqual(done.out.splitlines(), [
            "cmd=spawn_result rc=-1 msg=not_supported", "cmd=publish_result rc=-1 info=not_supported msg=not_supported",
            "cmd=put_result rc=-1 msg=incomplete", "cmd=put_result rc=-1 msg=too_long", "cmd=put_result rc=-1 msg=incomplete",
            "cmd=get_result rc=-1 msg=key_not_found",
            "cmd=put_result rc=0 msg=success cmd=get_result rc=0 msg=success value=(b=c)"])

    def test_a_rank_that_asks_and_never_listens(self):
        # More answers than a socket holds: mpiexec must neither block nor lose them.
        done = self.speak("""
import threading
n = 20_000
threading.Thread(target=lambda: (f.write("cmd=get_maxes\\n" * n), f.flush())).start()
import time; time.sleep(0.3)
print(sum(f.readline().startswith("cmd=maxes") for _ in range(n)))
""")
        self.assertEqual((done.code, done.out), (0, "20000\n"))

    def test_nothing_in_shared_memory(self):
        before = set(os.listdir("/dev/shm"))
        mpiexec("-n", 4, PROBE)
        self.assertEqual({n for n in os.listdir("/dev/shm") if "heddle" in n.lower()} - before, set())


CPI = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, size, sum, found, *program, node_size;
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &found);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_size);
  printf("rank %d of %d sum %d program %d node %d\n", rank, size, sum, found ? *program : -1, node_size);
  fflush(stdout);
  if (argc > 1 && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
"""


def hydra(*args):
    """Under MPICH's mpiexec, which on a loaded machine dies of a SIGPIPE when a job ends at once, be it `true`."""
    def without_sigpipe():
        interruptible()
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    return mpiexec(*args, launcher=MPICH / "bin/mpiexec", preexec_fn=without_sigpipe)


@unittest.skipUnless((MPICH / "bin/mpiexec").exists(), f"no MPICH in {MPICH}; bench/run installs one, or set HEDDLE_MPICH")
class Peers(Case):
    def setUp(self):
        super().setUp()
        # An MPICH that is aborted leaves files behind, and other tests look for such.
        before = set(SHM.glob("mpich_shm_*"))
        self.addCleanup(lambda: [left.unlink(missing_ok=True) for left in set(SHM.glob("mpich_shm_*")) - before])
        self.program = self.directory / "cpi"
        subprocess.run([MPICH / "bin/mpicc", "-o", self.program, self.file("cpi.c", CPI)], check=True, timeout=DEADLINE)

    def test_mpich_under_our_mpiexec(self):
        done = mpiexec("-n", 3, self.program, ":", "-n", 1, self.program)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()), [f"rank {r} of 4 sum 6 program {int(r == 3)} node 4" for r in range(4)])

    def test_mpich_aborts(self):
        self.assert_fails(mpiexec("-n", 3, self.program, 7), 7, "rank 1 (pid ", "aborted the job with code 7")

    def test_built_by_mpich_run_by_heddle(self):
        # One ABI: the program that MPICH's wrapper made takes Heddle's library instead.
        flags = subprocess.run([HEDDLE_LIB.parent / "bin/mpicc", "--showme:compile"], capture_output=True, text=True, check=True)
        if "-fsanitize" in flags.stdout:
            self.skipTest("the library of a sanitizer needs programs of that sanitizer")
        built = self.directory / "built_by_mpich"
        subprocess.run([MPICH / "bin/mpicc_abi", "-o", built, self.directory / "cpi.c"], check=True, timeout=DEADLINE)
        done = mpiexec("-n", 3, built, env={**os.environ, "LD_LIBRARY_PATH": str(HEDDLE_LIB), "LD_DEBUG": "libs"})
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(sorted(done.out.splitlines()), [f"rank {r} of 3 sum 3 program 0 node 3" for r in range(3)])
        self.assertIn(f"calling init: {HEDDLE_LIB}/libmpi_abi.so.1", done.err)

    def test_heddle_under_hydra(self):
        program = self.directory / "with_heddle"
        subprocess.run([HEDDLE_LIB.parent / "bin/mpicc", "-o", program, self.directory / "cpi.c"], check=True, timeout=DEADLINE)
        done = hydra("-n", 3, program)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()), [f"rank {r} of 3 sum 3 program 0 node 3" for r in range(3)])
        self.assertEqual(hydra("-n", 3, program, 7).code, 7)

    def test_sessions_under_hydra(self):
        program = HEDDLE_LIB.parent / "tests/programs/sessions"  # beside what it is built with
        if not program.exists():
            self.skipTest(f"no {program}")
        for ranks in (1, 3):
            done = hydra("-n", ranks, program)
            self.assertEqual((done.code, done.out, done.err), (0, "", ""))

    def test_our_boot_under_hydra(self):
        for ranks in (1, 4):
            done = hydra("-n", ranks, PROBE)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(sorted(done.out.splitlines()),
                             [f"rank {r} of {ranks}: {ranks} values, {ranks} on this node, program 0" for r in range(ranks)])
        done = hydra("-n", 1, PROBE, ":", "-n", 1, PROBE)
        self.assertEqual([l[-1] for l in sorted(done.out.splitlines())], ["0", "1"])

    def test_our_abort_under_hydra(self):
        heard = ""
        for _ in range(10):  # on a busy machine Hydra may end the job before it has passed on what was written
            done = hydra("-n", 4, PROBE, "abort", 2, 7)
            self.assertEqual(done.code, 7, done.err)
            heard += done.err
            if heard:
                break
        self.assertIn("probe: rank 2 gives up", heard)


if __name__ == "__main__":
    unittest.main()
