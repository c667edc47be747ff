"""The suite's programs over a network that is slow, loses packets, delays and reorders them, or has an interface that leads nowhere."""

import statistics

from jobs import BUILD, PER_HOST, Case, main, program

SOON = 5  # seconds, on a loaded machine


class Bad(Case):
    network = {}
    selection = ()

    def over(self, provider, count=2, selection=None):
        hosts = self.make_hosts(count, **self.network)
        self.run_all(hosts, selection or self.selection, 1, variables={"HEDDLE_FABRIC_PROVIDER": provider})
        return hosts


class Slow(Bad):
    network = dict(rate="100mbit")
    selection = [("p2p_sizes", 1 << 18), ("p2p_order",), ("coll_reduce",)]

    def test_net(self):
        self.over("net")

    def test_tcp_rxm(self):
        self.over("tcp;ofi_rxm")

    def test_udp_rxd(self):
        self.over("udp;ofi_rxd")


    def test_windows_and_partitions(self):
        self.over("net", selection=[("rma_put_get",), ("part", "rules")])


class Lossy(Bad):
    network = dict(loss=1)
    selection = [("p2p_sizes", 1 << 18), ("p2p_order",), ("comm_create", PER_HOST)]

    def assert_lost(self, hosts):
        for host in hosts.names:
            self.assertGreater(hosts.lost(host), 0, f"of {hosts.arrived(host)} packets that arrived at {host} none was lost")

    def test_net(self):
        self.assert_lost(self.over("net"))

    def test_tcp_rxm(self):
        self.assert_lost(self.over("tcp;ofi_rxm"))

    def test_udp_rxd(self):
        self.assert_lost(self.over("udp;ofi_rxd"))

    def test_four_hosts(self):
        self.assert_lost(self.over("net", 4, [("p2p_match",), ("coll_moves",), ("rma_put_get",), ("part",)]))


class Late(Bad):
    network = dict(delay_ms=1, reorder=5)
    selection = [("p2p_sizes", 1 << 16), ("p2p_order",), ("comm_create", PER_HOST)]

    def test_net(self):
        self.over("net")

    def test_tcp_rxm(self):
        self.over("tcp;ofi_rxm")

    def test_udp_rxd(self):
        self.over("udp;ofi_rxd")


    def test_windows_and_partitions(self):
        self.over("net", selection=[("rma_put_get",), ("part", "rules")])


class Nowhere(Case):
    """Each host has docker0: up, with a carrier and the same address, and it does not lead to the others."""

    def setUp(self):
        super().setUp()
        self.hosts = self.make_hosts(2, nowhere=True)

    def time_of_a_small_job(self, hosts, **variables):
        return statistics.median(self.run_job(hosts, program("p2p_sendrecv"), per_host=1, variables=variables).took for _ in range(3))

    def test_the_other_is_found_within_a_second(self):
        plain = self.time_of_a_small_job(self.make_hosts(2, subnet="10.78.0"))
        self.assertLess(self.time_of_a_small_job(self.hosts), plain + 1)

    def test_programs(self):
        for provider in ("net", "tcp;ofi_rxm"):
            self.run_all(self.hosts, [("comm_create", PER_HOST)], 2, variables={"HEDDLE_FABRIC_PROVIDER": provider})

    def test_the_right_one_named(self):
        for variables in ({"HEDDLE_FABRIC_INTERFACE": "eth0"}, {"HEDDLE_FABRIC_INTERFACE": "eth0", "HEDDLE_FABRIC_PROVIDER": "tcp;ofi_rxm"}):
            self.run_job(self.hosts, program("p2p_sendrecv"), per_host=1, variables=variables)

    def test_the_right_one_named_by_address(self):
        for provider in ("net", "tcp;ofi_rxm"):
            self.run_job(self.hosts, "sh", "-c", f"h=$(hostname); HEDDLE_FABRIC_INTERFACE=10.77.0.$((${{h#h}} + 1)) exec {program('p2p_sendrecv')}",
                         per_host=1, variables={"HEDDLE_FABRIC_PROVIDER": provider})

    def test_the_one_that_is_asked_comes_late(self):
        """Ranks 0 and 1 need not wait for it but ask rank 3; when it comes, rank 0, the first that it would ask, has ended."""
        done = self.run_job(self.hosts, BUILD / "tests/hosts/compute", SOON + 1, 2, per_host=2)
        self.assertEqual(done.out.count(": "), 4, done.out)
        for rank in (0, 1, 3):
            self.assertRegex(done.out, rf"rank {rank}: [0-{SOON - 1}] s")

    def test_all_who_could_be_asked_have_ended(self):
        """Ranks 1 to 3 ask each other, and end; then rank 0 comes."""
        done = self.run_job(self.hosts, BUILD / "tests/hosts/compute", 3, 0, "gone", per_host=2)
        self.assertEqual(done.out.count(": "), 4, done.out)

    def test_nobody_comes_who_could_be_asked(self):
        done = self.run_job(self.hosts, "env", "HEDDLE_DETECTION_TIME=1", BUILD / "tests/hosts/compute", SOON, 1, per_host=1)
        self.assertRegex(done.err, "rank 0 waits in MPI_Init: this host has several network interfaces, and no rank of another host has come")

    def test_the_wrong_one_named(self):
        for wrong in ("docker0", "172.17.0.1"):
            with self.subTest(wrong):
                done = self.start(self.hosts, program("p2p_sendrecv"), per_host=1, variables={"HEDDLE_FABRIC_INTERFACE": wrong}).finish()
                self.assertLess(done.took, SOON, done.err)
                self.assert_fails(self.hosts, done, "docker0|172.17.0.1")

    def test_an_address_of_none(self):
        done = self.start(self.hosts, program("p2p_sendrecv"), per_host=1, variables={"HEDDLE_FABRIC_INTERFACE": "10.77.0.99"}).finish()
        self.assertLess(done.took, SOON, done.err)
        self.assert_fails(self.hosts, done, r"'10.77.0.99' is no interface of this host that is up; there are: .*docker0 \(172\.17\.0\.1\)")

    def test_none_named(self):
        done = self.start(self.hosts, program("p2p_sendrecv"), per_host=1, variables={"HEDDLE_FABRIC_INTERFACE": "nonsense"}).finish()
        self.assertLess(done.took, SOON, done.err)
        self.assert_fails(self.hosts, done, r"'nonsense' is no interface of this host that is up; there are: .*docker0 \(172\.17\.0\.1\)")


if __name__ == "__main__":
    main()
