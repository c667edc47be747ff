"""Something dies or falls silent while a job is at a place of MPI: the job ends in time, with who and where, and nothing is left.

What is lost at once (a rank, Heddle's process on a host, all of a host) ends the job at once. What is silent (the network to a host
is cut, with the host alive or dead) ends it after the detection time; there the remote shell is the real ssh, over that network.
"""

import itertools
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from jobs import FAST, Case, main, program, wait_until

SOON = 4  # seconds, on a loaded machine
SILENCE = 4  # seconds: the detection time where the remote shell is ssh, which must also have started by then
ENDING = 1.5  # seconds: to say it and to end the job
LATE = 3  # the rank that the others wait for, where they wait
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])


class Faults:
    place = None
    during = "after it had begun to use MPI"  # what mpiexec knows of a rank there
    ranks_during = "while its ranks ran"  # and of a host's
    provider = "net"

    def setUp(self):
        super().setUp()
        self.hosts = self.make_hosts(2)

    def stand(self, variables=None, **options):
        """Ranks 0 and 1 on h0, 2 and 3 on h1, all at their place."""
        job = self.start(self.hosts, program("stand"), self.place, self.directory, LATE, per_host=2,
                         variables={"HEDDLE_FABRIC_PROVIDER": self.provider, **(variables or {})}, **options)
        there = [self.directory / f"there.{rank}" for rank in range(4)]
        job.wait_for(lambda: all(path.exists() for path in there), f"all ranks are in {self.place}")
        return job

    def assert_ends(self, job, within, *regexes):
        start = time.monotonic()
        job.finish()
        self.assertLess(time.monotonic() - start, within, job.err)
        self.assert_fails(self.hosts, job, *regexes)

    def test_a_rank_is_killed(self):
        job = self.stand()
        os.kill(job.ranks()[2], signal.SIGKILL)
        self.assert_ends(job, SOON, rf"rank 2 \(pid \d+\) on h1 was ended by signal 9 \(Killed\) {self.during}; ending the job")
        self.assertEqual(job.code, 128 + signal.SIGKILL)

    def test_the_process_on_a_host_is_killed(self):
        job = self.stand()
        os.kill(job.node("h1"), signal.SIGKILL)
        self.assert_ends(job, SOON, rf"host 'h1' \(ranks 2-3\) is lost {self.ranks_during}: the connection closed")

    def test_a_host_is_killed(self):
        job = self.stand()
        self.hosts.kill("h1")
        self.assert_ends(job, SOON, r"host 'h1' \(ranks 2-3\) is lost|rank [23] \(pid \d+\) on h1 was ended by signal 9")

    # Over ssh

    def ssh(self):
        """An sshd in each host, and the command that reaches them from any host; by keys that live as long as the test."""
        self.assertTrue(SSHD and shutil.which("ssh"), "needs openssh-server and openssh-client")
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / name], check=True)
        shutil.copy(self.directory / "user_key.pub", self.directory / "authorized_keys")
        key = (self.directory / "host_key.pub").read_text()
        (self.directory / "known_hosts").write_text("".join(f"{name} {key}" for name in self.hosts.names))
        # A bash that is not the first runs no start-up files of the user, which may be slow.
        (self.directory / "sshd_config").write_text(f"HostKey {self.directory}/host_key\nAuthorizedKeysFile {self.directory}/authorized_keys\n"
                                                    "StrictModes no\nPasswordAuthentication no\nUsePAM no\nPidFile none\nSetEnv SHLVL=5\n")
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # sshd wants it, and packages make it only at boot
        for host in self.hosts.names:
            sshd = self.hosts.start(host, [SSHD, "-D", "-f", self.directory / "sshd_config"], stderr=subprocess.DEVNULL)
            self.addCleanup(lambda sshd=sshd: (sshd.kill(), sshd.wait()))
            wait_until(lambda: self.listens(host, 22), f"sshd of {host} listens")
        return (f"ssh -F none -x -T -i {self.directory}/user_key -o BatchMode=yes -o IdentitiesOnly=yes "
                f"-o UserKnownHostsFile={self.directory}/known_hosts")

    def listens(self, host, port):
        with self.hosts.socket(host, socket.SOCK_STREAM) as asking:
            return asking.connect_ex((self.hosts.addresses[host], port)) == 0

    def cut(self):
        job = self.stand(variables={"HEDDLE_DETECTION_TIME": str(SILENCE)}, inside="h0", shell=self.ssh())
        self.hosts.cut("h1")
        return job

    def test_the_network_to_a_host_is_cut(self):
        self.assert_ends(self.cut(), SILENCE + ENDING, rf"host 'h1' \(ranks 2-3\) is lost {self.ranks_during}: nothing was heard of it for {SILENCE} s")

    def test_a_host_is_cut_off_and_dies(self):
        job = self.cut()
        self.hosts.kill("h1")
        self.assert_ends(job, SILENCE + ENDING, rf"host 'h1' \(ranks 2-3\) is lost {self.ranks_during}: nothing was heard of it for {SILENCE} s")


class Survive(Case):
    """The others handle errors themselves, and go on (tests/programs/lost.c)."""

    def setUp(self):
        super().setUp()
        self.hosts = self.make_hosts(2)

    def lost(self, provider, *arguments):
        return self.start(self.hosts, program("lost"), *arguments, per_host=2, variables={"HEDDLE_FABRIC_PROVIDER": provider})

    def assert_others_went_on(self, job, code, others, *regexes):
        job.finish()
        self.assertEqual(job.code, code, job.err)
        self.assertEqual(sorted(job.out.splitlines()), [f"rank {rank} went on" for rank in others], job.err)
        self.assert_fails(self.hosts, job, *regexes)

    def test_a_rank_is_killed(self):
        for provider in FAST:
            for place in ("receive", "send", "flood", "long", "middle", "collectives", "work", "late", "finalize", "buffered",
                          "partitioned"):
                with self.subTest(provider=provider, place=place):
                    job = self.lost(provider, place)
                    self.assert_others_went_on(job, 137, (0, 2, 3), r"rank 1 \(pid \d+\) on h0 was ended by signal 9.*the job goes on")

    def test_a_rank_is_killed_in_an_epoch(self):
        for provider, place in itertools.product(FAST, ("target", "lock", "fence", "pscw", "long")):
            with self.subTest(provider=provider, place=place):
                job = self.start(self.hosts, program("rma_killed"), place, "returns", "create", per_host=2,
                                 variables={"HEDDLE_FABRIC_PROVIDER": provider})
                self.assert_others_went_on(job, 137, (0, 2, 3), r"rank 1 \(pid \d+\) on h0 was ended by signal 9.*the job goes on")

    def test_a_rank_is_killed_in_an_epoch_and_errors_are_fatal(self):
        for provider, place in zip(FAST, ("target", "lock")):
            with self.subTest(provider=provider, place=place):
                job = self.start(self.hosts, program("rma_killed"), place, "create", per_host=2,
                                 variables={"HEDDLE_FABRIC_PROVIDER": provider})
                job.finish()
                self.assertEqual(job.out, "")
                self.assert_fails(self.hosts, job, r"rank 1 \(pid \d+\) on h0 was ended by signal 9")

    def test_a_host_is_lost(self):
        for provider in FAST:
            for place in ("receive", "wildcards", "collectives", "partitioned"):
                with self.subTest(provider=provider, place=place), tempfile.TemporaryDirectory() as directory:
                    job = self.lost(provider, place, "host", directory)
                    there = [pathlib.Path(directory, f"there.{rank}") for rank in (2, 3)]
                    job.wait_for(lambda: all(path.exists() for path in there), "the upper ranks stand still")
                    os.kill(job.node("h1"), signal.SIGKILL)
                    self.assert_others_went_on(job, 1, (0, 1), r"host 'h1' \(ranks 2-3\) is lost while .*the job goes on")

    def test_two_of_four_hosts_are_lost(self):
        """The two that are left go on by the network."""
        for provider in FAST:
            with self.subTest(provider=provider), tempfile.TemporaryDirectory() as directory:
                self.hosts = self.make_hosts(4)
                job = self.start(self.hosts, program("lost"), "collectives", "host", directory, per_host=1,
                                 variables={"HEDDLE_FABRIC_PROVIDER": provider})
                there = [pathlib.Path(directory, f"there.{rank}") for rank in (2, 3)]
                job.wait_for(lambda: all(path.exists() for path in there), "the upper ranks stand still")
                for host in ("h2", "h3"):
                    os.kill(job.node(host), signal.SIGKILL)
                self.assert_others_went_on(job, 1, (0, 1), r"host 'h2' \(rank 2\) is lost while .*the job goes on",
                                           r"host 'h3' \(rank 3\) is lost while .*the job goes on")

    def test_a_host_is_cut_off(self):
        """From the ranks, not from mpiexec: the ranks notice that nothing comes, and mpiexec ends those that they miss."""
        for provider, place in itertools.product(FAST, ("collectives", "one_waits")):
            with self.subTest(provider=provider, place=place), tempfile.TemporaryDirectory() as directory:
                hosts = self.make_hosts(2)
                job = self.start(hosts, "env", "HEDDLE_DETECTION_TIME=2", program("lost"), place, "host", directory, per_host=2,
                                 variables={"HEDDLE_FABRIC_PROVIDER": provider})
                there = [pathlib.Path(directory, f"there.{rank}") for rank in (2, 3)]
                job.wait_for(lambda: all(path.exists() for path in there), "the upper ranks stand still")
                hosts.cut("h1")
                job.finish()
                self.assertEqual((job.code, sorted(job.out.splitlines())), (1, ["rank 0 went on", "rank 1 went on"]), job.err)
                self.assert_fails(hosts, job, r"on h0 cannot reach rank \d .* on h1: nothing has been heard of it for 2 s.*; rank \d was in MPI_\w+; rank [23] is ended; the job goes on")


class InInit(Faults, Case):
    place = "init"
    during = "in MPI_Init"
    ranks_during = "(while rank 2 waited in MPI_Init|before all its ranks were through MPI_Init)"

    def stand(self, *arguments, **options):
        job = super().stand(*arguments, **options)
        ranks = job.ranks()  # one that is well in MPI_Init has a thread of the library's
        job.wait_for(lambda: all(len(os.listdir(f"/proc/{ranks[rank]}/task")) > 1 for rank in range(3)), "ranks 0 to 2 are in MPI_Init")
        return job


class InMessages(Faults, Case):
    place = "messages"


class InCollectives(Faults, Case):
    place = "collectives"


class InFinalize(Faults, Case):
    place = "finalize"
    during = "in MPI_Finalize"
    ranks_during = "(while rank 2 waited in MPI_Finalize|while some of its ranks were in MPI_Finalize)"


class InInitRxm(InInit):
    provider = "tcp;ofi_rxm"


class InMessagesRxm(InMessages):
    provider = "tcp;ofi_rxm"


class InCollectivesRxm(InCollectives):
    provider = "tcp;ofi_rxm"


class InFinalizeRxm(InFinalize):
    provider = "tcp;ofi_rxm"


class InInitRxd(InInit):
    provider = "udp;ofi_rxd"


class InMessagesRxd(InMessages):
    provider = "udp;ofi_rxd"


class InCollectivesRxd(InCollectives):
    provider = "udp;ofi_rxd"


class InFinalizeRxd(InFinalize):
    provider = "udp;ofi_rxd"


if __name__ == "__main__":
    main()
