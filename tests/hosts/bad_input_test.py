"""What a user can get wrong about a fabric: a clear line within seconds, and an exit code that is not 0."""

from jobs import Case, main, program

SOON = 5  # seconds, on a loaded machine


class BadInput(Case):
    def setUp(self):
        super().setUp()
        self.hosts = self.make_hosts(2)

    def refused(self, *regexes, hosts=None, command=None, **options):
        hosts = hosts or self.hosts
        job = self.start(hosts, *(command or [program("coll_barrier")]), **options).finish()
        self.assertLess(job.took, SOON, job.err)
        self.assert_fails(hosts, job, *regexes)
        return job

    def test_a_provider_that_is_not_there(self):
        self.refused("provider 'verbs;nonsense' that Heddle can use .*`heddle info --fabric` lists what there is, HEDDLE_FABRIC_PROVIDER chooses",
                     variables={"HEDDLE_FABRIC_PROVIDER": "verbs;nonsense"})

    def test_a_provider_that_does_not_lead_to_other_hosts(self):
        for provider in ("shm", "sockets"):
            self.refused(f"provider '{provider}' of libfabric does not lead to other hosts, or Heddle does not work over it", variables={"HEDDLE_FABRIC_PROVIDER": provider})

    def test_a_filter_of_libfabrics_own_that_leaves_nothing(self):
        self.refused("nothing for provider 'any' that Heddle can use where FI_PROVIDER is 'verbs'", command=["-genv", "FI_PROVIDER", "verbs", program("coll_barrier")])
        self.refused("provider 'any' of libfabric where FI_PROVIDER is 'sockets' does not lead to other hosts, or Heddle does not work over it",
                     command=["-genv", "FI_PROVIDER", "sockets", program("coll_barrier")])

    def test_a_library_that_is_not_there(self):
        self.refused("needs libfabric, and cannot load it .*no-such-library.so.*HEDDLE_FABRIC_LIBRARY",
                     variables={"HEDDLE_FABRIC_LIBRARY": "no-such-library.so"})

    def test_a_library_that_is_another(self):
        self.refused("libm.so.6 is not a libfabric that Heddle knows", variables={"HEDDLE_FABRIC_LIBRARY": "libm.so.6"})

    def test_different_providers(self):
        self.refused(r"rank \d .* cannot reach rank \d .*: it uses (net|tcp;ofi_rxm) and this process (net|tcp;ofi_rxm); "
                     "set HEDDLE_FABRIC_PROVIDER to the same for all",
                     command=["-n", 1, "-env", "HEDDLE_FABRIC_PROVIDER", "net", program("coll_barrier"),
                              ":", "-n", 1, "-env", "HEDDLE_FABRIC_PROVIDER", "tcp;ofi_rxm", program("coll_barrier")])

    def test_too_few_descriptors(self):
        """Without a look at them libfabric would try again for ever."""
        self.refused(r"the network needs \d+ more file descriptors, and of the 26 that this process may have \(ulimit -n\) too few are left",
                     command=["sh", "-c", f"ulimit -n 26; exec {program('coll_barrier')}"])
        self.run_job(self.hosts, "sh", "-c", f"ulimit -Sn 26; exec {program('coll_barrier')}")

    def test_a_host_that_does_not_exist(self):
        self.hosts.names.append("h9")
        try:
            job = self.start(self.hosts, program("coll_barrier")).finish()
        finally:
            self.hosts.names.remove("h9")
        self.assertLess(job.took, SOON, job.err)
        self.assert_fails(self.hosts, job, r"host 'h9' \(rank 2\): .*no host h9; there are h0, h1")

    def test_an_interface_that_is_not_there(self):
        job = self.refused(r"HEDDLE_FABRIC_INTERFACE='nonsense' is no interface of this host that is up; there are: .*eth0 \(10\.77\.0\.\d\)",
                           variables={"HEDDLE_FABRIC_INTERFACE": "nonsense"})
        self.assertNotIn("Segmentation", job.err)


if __name__ == "__main__":
    main()
