"""The suite's programs over hosts with a good network, by each provider. The programs verify every byte that they get."""

from jobs import FAST, PER_HOST, Case, main

PAIR = [("p2p_sizes", 1 << 18), ("p2p_order",), ("p2p_modes",), ("p2p_sendrecv",), ("threads",), ("datatypes_wire",)]
WINDOWS = [(f"rma_{name}", "create", "allocate", "dynamic")
           for name in ("put_get", "accumulate", "fence", "pscw", "lock", "flush", "poll", "threads", "atomics")]
MANY = [("coll_moves",), ("comm_create", PER_HOST), ("topo_neighbor",), ("intercomm",), ("sessions",)]
UDP = [("p2p_sizes", 1 << 12), ("p2p_modes",), ("comm_create", PER_HOST)]


class Clean(Case):
    count = 2

    def setUp(self):
        super().setUp()
        self.hosts = self.make_hosts(self.count)

    def over(self, provider, selection, per_host):
        self.run_all(self.hosts, selection, per_host, variables={"HEDDLE_FABRIC_PROVIDER": provider})


class Net(Clean):
    def test_pairs(self):
        self.over("net", PAIR, 1)

    def test_two_on_each(self):
        self.over("net", MANY, 2)

    def test_windows(self):
        self.over("net", WINDOWS, 1)
        self.over("net", WINDOWS, 2)


class TcpRxm(Clean):
    def test_pairs(self):
        self.over("tcp;ofi_rxm", PAIR, 1)

    def test_two_on_each(self):
        self.over("tcp;ofi_rxm", MANY, 2)

    def test_windows(self):
        self.over("tcp;ofi_rxm", WINDOWS, 2)


class UdpRxd(Clean):
    def test_some(self):
        self.over("udp;ofi_rxd", UDP, 1)


class FourHosts(Clean):
    count = 4

    def test_one_on_each(self):
        for provider in FAST:
            self.over(provider, [("comm_create", PER_HOST)], 1)

    def test_two_on_each(self):
        for provider in FAST:
            self.over(provider, [("comm_create", PER_HOST)], 2)
        self.over("net", [("soak", 1, 1, 1)], 2)


if __name__ == "__main__":
    main()
