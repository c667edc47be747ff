"""Over several hosts: what ranks tell each other by the launcher."""

import unittest

from harness import PROBE, PYTHON, mpiexec
from pmi_test import SPEAKER
from remote import RUN_IT, Hosts


class PmiAcrossNodes(Hosts):
    def test_everyone_sees_everything(self):
        done = self.mpiexec("-hosts", "a:4,b:4,c:4", PROBE)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()),
                         sorted(f"rank {r} of 12: 12 values, 4 on this node, program 0" for r in range(12)))

    def test_many_rounds(self):
        done = self.mpiexec("-hosts", "a,b,c", "-n", 6, PROBE, "rounds", 100)
        self.assertEqual((done.code, done.out, done.err), (0, "", ""))

    def test_the_secret_is_the_jobs_alone(self):
        shell = self.remote_shell("listening", f"echo \"$@\" >> {self.directory}/seen; env >> {self.directory}/seen; {RUN_IT}")
        show = ("sh", "-c", f"env >> {self.directory}/seen; tr '\\0' '\\n' < /proc/$PPID/cmdline >> {self.directory}/seen; exec {PROBE} secret")
        first = self.mpiexec("-hosts", "a,b", "-n", 4, *show, shell=shell)
        secrets = set(first.out.split())
        self.assertEqual((first.code, len(first.out.split()), len(secrets)), (0, 4, 1))
        secret = secrets.pop()
        self.assertRegex(secret, "^[0-9a-f]{64}$")
        self.assertNotIn(secret, (self.directory / "seen").read_text())
        alone = mpiexec("-n", 2, PROBE, "secret").out.split()
        self.assertEqual(len(set(alone)), 1)
        self.assertNotEqual(alone[0], secret)

    def test_abort(self):
        done = self.mpiexec("-hosts", "a,b", "-n", 4, PROBE, "abort", 3, 7)
        self.assertEqual(done.code, 7)
        self.assertRegex(done.err, r"^probe: rank 3 gives up\nmpiexec: rank 3 \(pid \d+\) on b aborted the job with code 7\n$")

    def test_an_end_between_init_and_finalize(self):
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 3, PROBE, "leave", 1, 0), 1, "rank 1 (pid ", ") on b ended without MPI_Finalize")
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 3, PROBE, "leave", 1, 9), 9, "rank 1 (pid ", "exit code 9")
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 4, PROBE, "kill", 3), 137, "rank 3 (pid ", ") on b was ended by signal 9")

    def test_waiting_for_someone_who_has_left(self):
        for programs in ([PROBE, ":", "-n", 1, "true"], ["true", ":", "-n", 1, PROBE], [PROBE, ":", "-n", 1, "sh", "-c", "sleep 0.2"]):
            done = self.mpiexec("-hosts", "a,b", "-n", 1, *programs)
            self.assertEqual(done.code, 1)
            self.assertRegex(done.err, r"^mpiexec: rank [01] has ended without MPI_Init, and rank [01] waits for it; ending the job\n$")

    def test_one_of_a_node_waits_for_one_of_another(self):
        # Its neighbour on the node is in no barrier, so the node is never complete.
        done = self.mpiexec("-hosts", "a:2,b:1", "-n", 1, PROBE, ":", "-n", 1, "sleep", 1000, ":", "-n", 1, "true")
        self.assert_fails(done, 1, "rank 2 has ended without MPI_Init, and rank 0 waits for it; ending the job")

    def speak(self, code, *args):
        return self.mpiexec(*args, PYTHON, "-c", SPEAKER + code)

    def test_broken_speech(self):
        for say, why in (("hello", "not a PMI-1 line: 'hello'"), ("x" * 20_000, "a PMI-1 line of more than 16384 bytes")):
            done = self.speak(f"print(ask('{say}')); s.recv(1)", "-hosts", "a")
            self.assert_fails(done, 1, "rank 0 (pid ", ") on a broke the PMI protocol: " + why)

    def test_gets_inside_a_barrier(self):
        done = self.speak("""
rank = int(os.environ["PMI_RANK"])
job = ask("cmd=get_my_kvsname").split("kvsname=")[1]
ask(f"cmd=put kvsname={job} key=k{rank} value=v{rank}")
if rank == 0:
    f.write("cmd=barrier_in\\n"); f.flush()
    while True:  # until rank 1's is there, who waits for this one in no barrier
        got = ask(f"cmd=get kvsname={job} key=k1")
        if "value=v1" in got: break
    print(got)
    print(ask(f"cmd=get kvsname={job} key=k0"), ask(f"cmd=get kvsname={job} key=nobodys"))
    ask(f"cmd=put kvsname={job} key=go value=on")
    print(f.readline().rstrip())
else:
    while "value=on" not in ask(f"cmd=get kvsname={job} key=go"): pass
    ask("cmd=barrier_in")
""", "-hosts", "a,b")
        self.assertEqual(done.out.splitlines(), ["cmd=get_result rc=0 msg=success value=v1",
                                                 "cmd=get_result rc=0 msg=success value=v0 cmd=get_result rc=-1 msg=key_not_found",
                                                 "cmd=barrier_out rc=0"])

    def test_answers_keep_the_order_of_questions(self):
        done = self.speak("""
rank = int(os.environ["PMI_RANK"])
job = ask("cmd=get_my_kvsname").split("kvsname=")[1]
for i in range(200): ask(f"cmd=put kvsname={job} key=k{rank}.{i} value={rank}.{i}")
ask("cmd=barrier_in")
wanted = [f"{r}.{i}" for i in range(200) for r in (0, 1)]
f.write("".join(f"cmd=get kvsname={job} key=k{w}\\n" for w in wanted)); f.flush()
print([f.readline().split("value=")[1].rstrip() for w in wanted] == wanted)
""", "-hosts", "a,b")
        self.assertEqual((done.out, done.err), ("True\nTrue\n", ""))

    def test_ranks_of_another_program(self):
        # Rank 1 runs its second program while rank 0 still runs its first.
        done = self.mpiexec("-hosts", "a,b", "-n", 1, PROBE, ":", "-n", 1, "sh", "-c", f"{PYTHON} -c '{SPEAKER}\nask(\"cmd=init\"); ask(\"cmd=finalize\")'; exec {PROBE}")
        self.assert_fails(done, 1, "are not in the same program: ranks that run several have to run the same ones")


if __name__ == "__main__":
    unittest.main()
