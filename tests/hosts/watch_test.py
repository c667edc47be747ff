"""The network between the ranks falls silent or closes while mpiexec still reaches all hosts: the ranks that wait must find out by
themselves, and say who; and a rank that only computes is let alone."""

import os
import signal
import sys
import time

from jobs import BUILD, PATIENTLY, Case, main, program

SECONDS = 2  # the detection time
DEFAULT = 10
SOON = 1.5  # seconds: to say it and to end the job


def lost(seconds, call):
    return rf"rank \d \(pid \d+\) on h\d cannot reach rank \d \(pid \d+\) on h\d: nothing has been heard of it for {seconds} s \(HEDDLE_DETECTION_TIME\).*; rank \d was in {call}; ending the job"


class Watched(Case):
    provider = "net"
    refused = r"cannot reach rank \d \(pid \d+\) on h\d: connections to 10\.77\.0\.\d+, port \d+, are refused: by a firewall"

    def start_job(self, hosts, *command, seconds=SECONDS, **options):
        """The detection time is for the ranks alone: on a machine that is too busy it would be mpiexec that complains."""
        return self.start(hosts, *PATIENTLY, f"HEDDLE_DETECTION_TIME={seconds}", *command,
                          variables={"HEDDLE_FABRIC_PROVIDER": self.provider}, **options)

    def cut(self, place, seconds=SECONDS):
        """Ranks 0 and 1 on h0, 2 and 3 on h1; mpiexec is on neither and does not use this network."""
        hosts = self.make_hosts(2)
        job = self.start_job(hosts, program("stand"), place, self.directory, per_host=2, seconds=seconds)
        there = [self.directory / f"there.{rank}" for rank in range(4)]
        job.wait_for(lambda: all(path.exists() for path in there), f"all ranks are in {place}")
        hosts.cut("h1")
        start = time.monotonic()
        job.finish()
        took = time.monotonic() - start
        self.assertLess(took, seconds + SOON, job.err)
        print(f"ended {took:.2f} s after the cut, with a detection time of {seconds} s", file=sys.stderr)
        return hosts, job

    def test_the_network_between_the_ranks_is_cut_in_messages(self):
        self.assert_fails(*self.cut("messages"), lost(SECONDS, "MPI_Sendrecv"))

    def test_the_network_between_the_ranks_is_cut_in_collectives(self):
        self.assert_fails(*self.cut("collectives"), lost(SECONDS, "MPI_(Allreduce|Bcast|Barrier)"))

    def test_the_network_is_cut_to_one_that_was_never_sent_to(self):
        """Who waits for somebody watches it; and somebody of each host watches the next one."""
        for place, call in (("receive", "MPI_Recv"), ("bcast", "MPI_Bcast"), ("anyone", "MPI_Recv"), ("test", "MPI_Test"), ("ibarrier", "MPI_Wait")):
            with self.subTest(place):
                self.assert_fails(*self.cut(place), lost(SECONDS, call))
                for path in self.directory.iterdir():
                    path.unlink()

    def test_the_usual_detection_time(self):
        self.assert_fails(*self.cut("messages", DEFAULT), lost(DEFAULT, "MPI_Sendrecv"))

    def test_a_host_refuses_all_connections(self):
        hosts = self.make_hosts(2)
        for host in ("h0", "h1"):
            hosts.refuse(host)
        job = self.start_job(hosts, program("stand"), "messages", self.directory).finish()
        self.assert_fails(hosts, job, self.refused)

    def test_a_rank_that_is_stopped_is_silent(self):
        hosts = self.make_hosts(2)
        job = self.start_job(hosts, program("stand"), "messages", self.directory)
        job.wait_for(lambda: (self.directory / "there.1").exists(), "rank 1 is there")
        os.kill(job.ranks()[1], signal.SIGSTOP)
        start = time.monotonic()
        job.finish()
        self.assertLess(time.monotonic() - start, SECONDS + SOON, job.err)
        self.assert_fails(hosts, job, lost(SECONDS, "MPI_Sendrecv").replace(r"reach rank \d", "reach rank 1"))

    def test_a_rank_that_computes_is_let_alone(self):
        hosts = self.make_hosts(2)
        job = self.start_job(hosts, BUILD / "tests/hosts/compute", 3 * SECONDS, per_host=2).finish()
        self.assertEqual(job.code, 0, job.err)
        self.assert_nothing_left(hosts)


class WatchedRxm(Watched):
    provider = "tcp;ofi_rxm"


if __name__ == "__main__":
    main()
