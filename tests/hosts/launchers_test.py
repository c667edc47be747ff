"""Something dies or falls silent under other launchers, Hydra and PRRTE, over two hosts: the ranks notice by themselves, since those
launchers do not tell, and the job ends within the detection time, with who and why.

HEDDLE_TEST_HYDRA and HEDDLE_TEST_PRRTE: the directories of mpiexec.hydra and prterun; without one its tests are skipped.
(tests/clients/running/run has them.)"""

import os
import signal
import subprocess
import sys
import time
import unittest

from jobs import PATIENTLY, Case, Job, main, program

SECONDS = 3  # the detection time
ENDING = 1.5  # seconds: to say it and to end the job
SILENT = (rf"rank [0-3], on node [01] of the job, is lost: nothing has been heard of it for {SECONDS} s \(HEDDLE_DETECTION_TIME\)"
          r".*; rank [0-3] was in MPI_")


class Foreign:
    """Ranks 0 and 1 on h0, where the launcher runs, 2 and 3 on h1."""

    provider = "net"

    def setUp(self):
        super().setUp()
        self.hosts = self.make_hosts(2)

    def stand(self, place):
        # Hydra ends the ranks when one asks for it, at times before it has handed on what that one has said.
        said = ("sh", "-c", f'exec "$@" 2>>{self.directory}/said', "sh")
        job = Job(self.hosts, [*self.launcher(), *said, *PATIENTLY, f"HEDDLE_DETECTION_TIME={SECONDS}", f"HEDDLE_FABRIC_PROVIDER={self.provider}",
                               program("stand"), place, self.directory], self.variables, inside="h0")
        self.addCleanup(job.end)
        job.wait_for(lambda: all((self.directory / f"there.{rank}").exists() for rank in range(4)), f"all ranks are in {place}")
        return job

    def assert_ends(self, job, hosts, *regexes):
        """The ranks do, on these hosts. What the launcher makes of it is its own: PRRTE's waits for a host that is cut off."""
        start = time.monotonic()
        job.wait_until_gone(program("stand"), hosts, SECONDS + ENDING)
        print(f"ended after {time.monotonic() - start:.2f} s, with a detection time of {SECONDS} s", file=sys.stderr)
        job.process.terminate()
        for host in self.hosts.names:
            self.hosts.kill(host)
        job.finish()
        job.err += (self.directory / "said").read_text()
        self.assert_fails(self.hosts, job, *regexes)

    def watched(self):
        """How many ranks of h0 are connected to one of h1."""
        listed = subprocess.run(["ip", "netns", "exec", self.hosts.namespace("h0"), "ss", "-tnpH", "dst", self.hosts.addresses["h1"]],
                                capture_output=True, text=True, check=True).stdout
        return listed.count('"stand"')

    def test_a_host_is_cut_off(self):
        job = self.stand("messages")
        self.hosts.cut("h1")
        self.assert_ends(job, self.hosts.names, SILENT)

    def test_a_host_is_cut_off_that_was_never_sent_to(self):
        """Those who wait for it have watched it before."""
        self.assert_notices("receive", 3, SILENT + "Recv")

    def test_a_host_is_cut_off_and_who_waits_names_nobody(self):
        """Somebody of each host watches the next one."""
        self.assert_notices("anyone", 2, SILENT + "Recv")

    def assert_notices(self, place, watched, regex):
        """Ranks 0 and 1 do, which wait there for what does not come: each watches rank 2, and whom it waits for."""
        job = self.stand(place)
        job.wait_for(lambda: self.watched() == watched, f"ranks 0 and 1 watch ranks of h1 by {watched} connections")
        self.hosts.cut("h1")
        self.assert_ends(job, ["h0"], regex)

    def test_a_rank_is_stopped(self):
        job = self.stand("messages")
        os.kill(job.ranks()[2], signal.SIGSTOP)
        self.assert_ends(job, ["h0"], SILENT.replace("rank [0-3], on node [01]", "rank 2, on node 1"))

    def test_a_host_refuses_connections(self):
        self.assert_notices_refusal("go")

    def assert_notices_refusal(self, place):
        job = self.stand(place)
        for host in self.hosts.names:
            self.hosts.refuse(host)
        (self.directory / "go").touch()
        self.assert_ends(job, self.hosts.names, r"rank [0-3], on node [01] of the job, is lost: connections to 10\.77\.0\.[12], port \d+, are refused: by a firewall")


@unittest.skipUnless(os.environ.get("HEDDLE_TEST_HYDRA"), "HEDDLE_TEST_HYDRA does not say where mpiexec.hydra is")
class Hydra(Foreign, Case):
    variables = {}

    def launcher(self):
        return [f"{os.environ['HEDDLE_TEST_HYDRA']}/mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", self.hosts.rsh,
                "-hosts", "h0,h1", "-ppn", 2, "-n", 4]

    def test_a_host_refuses_connections_of_sessions(self):
        """Where a peer could have left in order: who waits for it learns of it after the detection time. (PRRTE does not end the ranks of a
        host that it does not reach, so there one stays that waits for one of its own host.)"""
        self.assert_notices_refusal("session")


@unittest.skipUnless(os.environ.get("HEDDLE_TEST_PRRTE"), "HEDDLE_TEST_PRRTE does not say where prterun is")
class Prrte(Foreign, Case):
    variables = {name: "1" for name in ("PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")}

    def launcher(self):
        home = os.path.dirname(os.environ["HEDDLE_TEST_PRRTE"])
        return [f"{home}/bin/prterun", "--prefix", home, "--prtemca", "plm_ssh_agent", self.hosts.rsh, "--host", "h0:2,h1:2", "-n", 4]


if __name__ == "__main__":
    main()
