"""The suite's programs over hosts with a good network, by each provider. The programs verify every byte that they get."""

import pathlib

from jobs import FAST, MPIEXEC, PER_HOST, Case, Job, main, program

PAIR = [("p2p_sizes", 1 << 18), ("p2p_order",), ("p2p_modes",), ("p2p_cancel",), ("p2p_sendrecv",), ("threads",),
        ("datatypes_wire",)]
WINDOWS = [(f"rma_{name}", "create", "allocate", "dynamic")
           for name in ("put_get", "accumulate", "fence", "pscw", "lock", "flush", "poll", "threads", "atomics", "requests", "long")]
WINDOWS += [("rma_errors",), ("rma_dynamic", "outside"), ("rma_objects",)]
PARTITIONED = [("part", what) for what in ("rules", "comms", "errors", "threads")] + [("part", "mapping", "written")]
PARTITIONED_COLLECTIVES = [("part_coll", what) for what in ("content", "early", "errors", "threads")]
MANY = [("coll_moves",), ("comm_create", PER_HOST), ("topo_neighbor",), ("intercomm",), ("sessions",)]
COLLECTIVES = [("coll_reduce",), ("coll_persistent",), ("coll_mix", 6, 200, 12)]
PORTALS = [(f"../portals4/portals_{name}",)
           for name in ("put_get", "lists", "flow_control", "atomics", "triggered", "objects", "reopen", "threads", "stress", "example")]
KEPT = ("limit", 4, "disables", 1)  # MiB; three ranks send 6
FLOOD = [("flood", 2000, 1024, way, *rest, *KEPT)
         for way in ("order", "reverse", "any", "probe", "mprobe") for rest in ((), ("isend",))]
# 46 MiB are sent. Over ofi_rxm memory grew by up to 9 MiB of 59, by another number each time.
FLOOD += [("flood", 16000, 1024, "last", "isend", "limit", 24, "disables", 1), ("flood", 2000, 8, "last", "disables", 1)]
FEW = {"HEDDLE_UNEXPECTED_HEADERS": "64", "HEDDLE_UNEXPECTED_BYTES": "16384"}
UDP = [("p2p_sizes", 1 << 12), ("p2p_modes",), ("comm_create", PER_HOST)]


class Clean(Case):
    count = 2

    def setUp(self):
        super().setUp()
        self.hosts = self.make_hosts(self.count)

    def over(self, provider, selection, per_host, **more):
        self.run_all(self.hosts, selection, per_host, variables={"HEDDLE_FABRIC_PROVIDER": provider, **more})


class Net(Clean):
    def test_pairs(self):
        self.over("net", PAIR, 1)

    def test_two_on_each(self):
        self.over("net", MANY + COLLECTIVES, 2)

    def test_windows(self):
        self.over("net", [*WINDOWS, ("rma_hammer", "allocate")], 1)
        self.over("net", [*WINDOWS, ("rma_hammer", "create", "allocate", "dynamic")], 2)

    def test_windows_by_packets_on_a_host_too(self):
        self.over("net", [("rma_long", "create"), ("rma_hammer", "create")], 2, HEDDLE_SINGLE_COPY="off")


class TcpRxm(Clean):
    def test_pairs(self):
        self.over("tcp;ofi_rxm", PAIR, 1)

    def test_two_on_each(self):
        self.over("tcp;ofi_rxm", MANY, 2)

    def test_windows(self):
        self.over("tcp;ofi_rxm", [*WINDOWS, ("rma_hammer", "allocate")], 2)


class UdpRxd(Clean):
    def test_some(self):
        self.over("udp;ofi_rxd", UDP, 1)


class Tuned(Clean):
    """What was measured between hosts is in the profile of who has measured, and chooses the plans of all ranks."""

    def tune(self):
        """The environment in which the profile is found, and the profile."""
        cache = self.directory / "cache"
        env = {"XDG_CACHE_HOME": str(cache)}
        heddle = MPIEXEC.parent / "heddle"
        job = Job(self.hosts, [heddle, "tune", "--anyway", "--hosts", ",".join(self.hosts.names), "--", "--rsh", self.hosts.rsh],
                  env | {"HEDDLE_NODE_CORES": "1"})
        self.addCleanup(job.end)
        done = job.finish()
        self.assertEqual(done.code, 0, done.err)
        (profile,) = [path for path in cache.rglob("*") if path.is_file()]
        return env, profile

    def test_tune(self):
        env, profile = self.tune()
        measured = dict(line.split()[1:] for line in profile.read_text().splitlines() if line.startswith("network "))
        for key in ("within.latency", "between.latency", "between.overhead", "between.byte", "ports", "copy", "reduce", "crowding", "crowd"):
            self.assertGreaterEqual(float(measured[key]), 0, key)
        self.assertGreater(float(measured["between.latency"]), 0)
        text = ",".join(f"{key}={value}" for key, value in measured.items())
        untold = self.run_job(self.hosts, "env", variables=env)
        self.assertNotIn("HEDDLE_NETWORK", untold.out)
        wish = env | {"HEDDLE_NETWORK": "profile"}
        told = self.run_job(self.hosts, "printenv", "HEDDLE_NETWORK", per_host=2, variables=wish)
        self.assertEqual(told.out.split(), [text] * 4)
        own = self.run_job(self.hosts, "printenv", "HEDDLE_NETWORK", variables=env | {"HEDDLE_NETWORK": "off"})
        self.assertEqual(own.out.split(), ["off"] * 2)
        self.run_all(self.hosts, COLLECTIVES, 2, variables=wish)
        (machine,) = [line for line in profile.read_text().splitlines(True) if line.startswith("machine ")]
        profile.write_text("network between.latency 4e-6\n")
        done = self.run_job(self.hosts, "printenv", "HEDDLE_NETWORK", variables=wish)
        self.assertEqual((done.out.split(), done.err.count(f"{profile} does not say of which machine it is")), (["off"] * 2, 1))
        profile.write_text("network within.latency 1e-7\n" + machine)
        done = self.run_job(self.hosts, "printenv", "HEDDLE_NETWORK", variables=wish)
        self.assertEqual((done.out.split(), done.err.count(f"nothing was measured between hosts in {profile}")), (["off"] * 2, 1))
        profile.write_text("network between.latency 2\n" + machine)
        done = self.run_job(self.hosts, program("coll_mix"), 6, 20, 12, per_host=2, variables=wish)
        self.assertIn(f"{profile} is broken: line 1, 'network between.latency 2'; ", done.err)
        self.assertNotIn("HEDDLE_NETWORK", done.err)


class TunedFour(Tuned):
    """Hierarchical plans: four hosts of two."""
    count = 4

    def test_tune(self):
        env, profile = self.tune()
        self.assertRegex(profile.read_text(), r"\nnetwork between.latency [0-9.e-]+\n")
        self.run_all(self.hosts, [("coll_moves",), ("coll_reduce",), ("coll_mix", 6, 200, 12)], 2, variables=env | {"HEDDLE_NETWORK": "profile"})


class Reproducible(Clean):
    def bits(self, nodes, **variables):
        job = Job(self.hosts, [MPIEXEC, "--rsh", self.hosts.rsh, "-hosts", nodes, program("coll_reproducible")], variables)
        self.addCleanup(job.end)
        done = job.finish()
        self.assertEqual(done.code, 0, done.err)
        return done.out

    def test_wherever_the_ranks_are(self):
        alone = self.bits("h0:6", HEDDLE_REPRODUCIBLE="on")
        self.assertRegex(alone, r"allreduce [0-9a-f]{16}\nreduce [0-9a-f]{16}\nscan [0-9a-f]{16}\n")
        for nodes in ("h0:3,h1:3", "h0:2,h1:2,h0:2", "h0:1,h1:5"):
            self.assertEqual(self.bits(nodes, HEDDLE_REPRODUCIBLE="on"), alone, nodes)


class Flood(Clean):
    def test_more_than_is_kept(self):
        for provider in FAST:
            self.over(provider, [*FLOOD, ("soak", 1, 1, 1)], 2, **FEW)


class Eager(Clean):
    """Long messages that go as a whole."""

    def test_pairs(self):
        for provider in FAST:
            self.over(provider, [*PAIR, ("flood", 200, 200000, "reverse", "isend")], 1, HEDDLE_LONG_MESSAGES="eager")

    def test_soak(self):
        self.over("net", [("soak", 1, 1, 1), ("coll_moves",)], 2, HEDDLE_LONG_MESSAGES="eager", HEDDLE_SINGLE_COPY="off")


class Library(Clean):
    def test_loaded_only_for_a_second_host(self):
        for hosts, loaded in (("h0:2", False), ("h0:1,h1:1", True)):
            with self.subTest(hosts):
                job = Job(self.hosts, [MPIEXEC, "--rsh", self.hosts.rsh, "-hosts", hosts, program("stand"), "messages", self.directory], {})
                self.addCleanup(job.end)
                there = [self.directory / f"there.{rank}" for rank in range(2)]
                job.wait_for(lambda: all(path.exists() for path in there), "both ranks talk")
                ranks = job.ranks()
                self.assertEqual(len(ranks), 2)
                for pid in ranks.values():
                    self.assertEqual("libfabric" in pathlib.Path(f"/proc/{pid}/maps").read_text(), loaded)
                job.process.terminate()
                job.finish()
                self.assert_nothing_left(self.hosts)
                for path in there:
                    path.unlink()


class Progress(Clean):
    def test_while_the_target_computes(self):
        for provider in FAST:
            self.over(provider, [("progress", "windows"), ("progress", "collectives"), ("rma_passive",)], 1,
                      HEDDLE_PROGRESS_THREAD="on")
        self.over("net", [("progress", "windows")], 2, HEDDLE_PROGRESS_THREAD="on")


class Partitioned(Clean):
    def test_one_on_each(self):
        for provider in FAST:
            self.over(provider, PARTITIONED + PARTITIONED_COLLECTIVES, 1)

    def test_two_on_each(self):
        self.over("net", PARTITIONED + PARTITIONED_COLLECTIVES, 2)


class Portals(Clean):
    def test_each(self):
        for provider in FAST:
            self.over(provider, PORTALS, 1)
        self.over("net", PORTALS, 2)


class FourHosts(Clean):
    count = 4

    def test_one_on_each(self):
        for provider in FAST:
            self.over(provider, [("comm_create", PER_HOST)], 1)

    def test_two_on_each(self):
        for provider in FAST:
            self.over(provider, [("comm_create", PER_HOST)], 2)
        self.over("net", [("soak", 1, 1, 1), ("coll_moves",), *COLLECTIVES], 2)


if __name__ == "__main__":
    main()
