"""Over several hosts: something dies or hangs; and the same over the real ssh."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
import unittest

from harness import PROBE, PYTHON, state, wait_until
from pmi_test import SPEAKER
from remote import APART, Hosts, read


class Faults(Hosts):
    """Something on the way dies or is cut off: who, where and during what, in time, and nothing is left."""

    def start(self, detection=10, shell=None, ranks=4):
        program = f"echo $$ >> {self.directory}/pids; sleep 1000 & echo $! >> {self.directory}/pids; wait"
        job = self.launched("-hosts", "a,b", "-n", ranks, "sh", "-c", program, shell=shell or self.shell,
                            variables={"HEDDLE_DETECTION_TIME": str(detection)})
        pids = self.pids_in("pids", 2 * ranks)
        nodes = self.nodes(job)
        self.assertEqual(sorted(nodes), ["a", "b"])
        return job, nodes, self.processes(job), pids

    def test_a_rank_is_killed(self):
        job, _, processes, pids = self.start()
        start = time.monotonic()
        os.kill(pids[0], signal.SIGKILL)
        self.assertEqual(job.finish().code, 137)
        self.assertLess(time.monotonic() - start, 2)
        self.assert_ends_clean(job, processes, pids)

    def test_the_process_on_a_host_is_killed(self):
        for shell in (self.shell, self.remote_shell("apart", APART)):
            job, nodes, processes, pids = self.start(shell=shell)
            start = time.monotonic()
            os.kill(nodes["b"], signal.SIGKILL)
            self.assert_fails(job.finish(), 1, "host 'b' (ranks 1, 3) is lost while its ranks ran: the connection closed; the remote shell '", "; ending the job\n")
            self.assertLess(time.monotonic() - start, 3)
            self.assert_ends_clean(job, processes, pids)
            (self.directory / "pids").unlink()

    def test_the_process_on_a_host_outlives_its_shell_and_is_killed(self):
        leave = f'exec 3<&0; sh -c "$*" <&3 & while test ! -e {self.directory}/go; do sleep 0.01; done; echo $$ >> {self.directory}/left'
        job, nodes, processes, pids = self.start(shell=self.remote_shell("leaving", leave))
        (self.directory / "go").touch()
        self.assert_all_gone(self.pids_in("left", 2))
        os.kill(nodes["b"], signal.SIGKILL)
        self.assert_fails(job.finish(), 1, "host 'b' (ranks 1, 3) is lost while its ranks ran: the connection closed", "ended with exit code 0")
        self.assert_ends_clean(job, processes, pids)

    def test_mpiexec_is_killed(self):
        for shell in (self.shell, self.remote_shell("apart", APART)):
            job, _, processes, pids = self.start(shell=shell)
            os.kill(job.pid, signal.SIGKILL)
            self.assertEqual(job.finish().code, -signal.SIGKILL)
            self.assert_ends_clean(job, processes, pids)
            (self.directory / "pids").unlink()

    def test_the_process_on_a_host_hangs(self):
        for shell in (self.shell, self.remote_shell("apart", APART)):
            job, nodes, processes, pids = self.start(detection=2, shell=shell)
            start = time.monotonic()
            os.kill(nodes["b"], signal.SIGSTOP)
            done = job.finish()
            self.assertLess(time.monotonic() - start, 10)  # on a loaded machine
            self.assert_fails(done, 1, "host 'b' (ranks 1, 3) is lost while its ranks ran: nothing was heard of it for 2 s (HEDDLE_DETECTION_TIME)")
            self.assert_ends_clean(job, processes, pids)  # where mpiexec cannot reach it, its guard can
            (self.directory / "pids").unlink()

    def test_mpiexec_hangs(self):
        job, _, _, pids = self.start(detection=2)
        os.kill(job.pid, signal.SIGSTOP)
        self.assert_all_gone(pids)
        os.kill(job.pid, signal.SIGCONT)
        self.assert_fails(job.finish(), 1, "is lost", "nothing was heard of mpiexec for 2 s")

    def test_a_host_dies_while_ranks_wait(self):
        # The answer to what follows the barrier says that the barrier has been heard.
        wait = """
if os.environ["PMI_RANK"] == "1":
    f.write("cmd=barrier_in\\n"); f.flush()
    ask("cmd=get_maxes")
open("pids", "a").write(f"{os.getpid()}\\n")
s.recv(1)
"""
        job = self.launched("-hosts", "a,b", "-n", 2, PYTHON, "-c", SPEAKER + wait, cwd=self.directory)
        pids = self.pids_in("pids", 2)
        os.kill(self.nodes(job)["b"], signal.SIGKILL)
        self.assert_fails(job.finish(), 1, "host 'b' (rank 1) is lost while rank 1 waited in MPI_Init or a barrier: the connection closed")
        self.assert_all_gone(pids)

    def late(self, where, said, told="", seconds=2):
        """Rank 0 waits for rank 1, which is a child of a shell and has said `said`."""
        script = f"""
if os.environ["PMI_RANK"] == "1":
    {said}
    open("pids", "a").write(f"{{os.getpid()}}\\n")
    {told}
ask("cmd=barrier_in")
ask("cmd=finalize")
"""
        self.file("late.py", SPEAKER + script)
        job = self.launched(*where, "-n", 2, "sh", "-c", f"{PYTHON} late.py; exit $?", cwd=self.directory,
                            variables={"HEDDLE_DETECTION_TIME": str(seconds)})
        return job, self.pids_in("pids", 1)

    INIT = 'ask("cmd=init pmi_version=1 pmi_subversion=1")'

    def test_a_rank_is_stopped_within_init(self):
        for where in ((), ("-hosts", "a,b")):
            job, pids = self.late(where, self.INIT, "s.recv(1)")
            os.kill(pids[0], signal.SIGSTOP)
            self.assert_fails(job.finish(), 1, "rank 1 (pid ", f"has been stopped (process {pids[0]}, by SIGSTOP or a terminal) for 2 s "
                              "(HEDDLE_DETECTION_TIME), and rank 0 waits for it in MPI_Init or a barrier; ending the job")
            self.assert_all_gone(pids)
            (self.directory / "pids").unlink()

    def test_a_rank_that_is_late_is_waited_for(self):
        # Asleep within MPI_Init, and stopped before it, as for a debugger: for longer than the detection time.
        for where in ((), ("-hosts", "a,b")):
            job, pids = self.late(where, self.INIT, "import time; time.sleep(4)", seconds=1)
            self.assertEqual(job.finish().code, 0)
            (self.directory / "pids").unlink()
            job, pids = self.late(where, "pass", seconds=1, told="import signal; os.kill(os.getpid(), signal.SIGSTOP)")
            wait_until(lambda: state(pids[0]) == "T", "stopped")
            time.sleep(4)
            os.kill(pids[0], signal.SIGCONT)
            self.assertEqual(job.finish().code, 0)
            (self.directory / "pids").unlink()

    def test_the_process_on_a_host_is_ended(self):
        job, nodes, processes, pids = self.start()
        os.kill(nodes["b"], signal.SIGTERM)
        self.assert_fails(job.finish(), 1, "host 'b' (ranks 1, 3) is lost", "was ended by signal 15 (Terminated)")
        self.assert_ends_clean(job, processes, pids)


class Ssh(Hosts):
    """The real thing: an sshd of our own on this host, with keys that live as long as the test."""

    def setUp(self):
        super().setUp()
        sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
        self.assertTrue(sshd and shutil.which("ssh"), "needs openssh-server and openssh-client")
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / name], check=True)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.file("authorized_keys", (self.directory / "user_key.pub").read_text(), 0o600)
        self.file("known_hosts", f"[127.0.0.1]:{self.port} {(self.directory / 'host_key.pub').read_text()}")
        self.file("sshd_config", f"""
Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.directory}/host_key
AuthorizedKeysFile {self.directory}/authorized_keys
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PidFile none
MaxStartups 100
""")
        if os.getuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # sshd wants it, and packages make it only at boot
        with open(self.directory / "sshd.log", "w") as log:
            self.sshd = subprocess.Popen([sshd, "-D", "-e", "-f", self.directory / "sshd_config"], stderr=log)
        self.addCleanup(lambda: (self.sshd.kill(), self.sshd.wait()))
        wait_until(self.listens, f"sshd listens on port {self.port}; {(self.directory / 'sshd.log').read_text()}")
        user = pwd.getpwuid(os.getuid()).pw_name
        self.shell = (f"ssh -F none -x -T -p {self.port} -l {user} -i '{self.directory}/user_key' -o BatchMode=yes -o ConnectTimeout=9 "
                      f"-o IdentitiesOnly=yes -o UserKnownHostsFile='{self.directory}/known_hosts'")

    def listens(self):
        self.assertIsNone(self.sshd.poll(), (self.directory / "sshd.log").read_text())
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def test_a_job(self):
        done = self.mpiexec("-hosts", "127.0.0.1:2,127.0.0.1:2", "-n", 4, PROBE)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()), [f"rank {r} of 4: 4 values, 2 on this node, program 0" for r in range(4)])

    def test_input_and_quotes(self):
        done = self.mpiexec("-hosts", "127.0.0.1", "-n", 2, "sh", "-c", 'cat; echo "$PMI_RANK: $1"', "sh", "it's \"$HOME\"", input=b"x\n" * 10_000)
        self.assertEqual(sorted(done.out.splitlines()), ["0: it's \"$HOME\"", "1: it's \"$HOME\""] + ["x"] * 10_000)

    def test_a_wrong_key(self):
        self.file("authorized_keys", "")
        self.assert_fails(self.mpiexec("-hosts", "127.0.0.1", "true"), 1, "host '127.0.0.1' (rank 0): the remote shell 'ssh ",
                          "ended with exit code 255", "Permission denied")

    def test_ssh_is_killed(self):
        self.end_by(lambda job: os.kill(next(p for p in self.processes(job) if read(f"/proc/{p}/comm") == "ssh\n"), signal.SIGKILL))

    def test_mpiexec_is_killed(self):
        self.end_by(lambda job: os.kill(job.pid, signal.SIGKILL))

    def test_a_rank_is_killed(self):
        self.end_by(lambda job: os.kill(self.pids_in("pids", 4)[0], signal.SIGKILL))

    def end_by(self, fault):
        job = self.launched("-hosts", "127.0.0.1,127.0.0.1", "-n", 2, "sh", "-c",
                            f"echo $$ >> {self.directory}/pids; echo $PPID >> {self.directory}/pids; exec sleep 1000")
        pids = self.pids_in("pids", 4)  # the ranks, and Heddle's processes beside them
        start = time.monotonic()
        fault(job)
        self.assertNotEqual(job.finish().code, 0)
        self.assert_all_gone(pids)
        self.assertLess(time.monotonic() - start, 5)


if __name__ == "__main__":
    unittest.main()
