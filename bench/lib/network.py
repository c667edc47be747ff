"""The way between hosts, measured on one machine: each library over TCP by loopback, without its shared memory, or between two
hosts that are network namespaces (tests/support/hosts.py).

Beside Heddle's figures stand those of libfabric's own ping-pong with the same provider: what the network's software takes
before any MPI. A peer goes its usual way over TCP: MPICH by libfabric's `tcp`, Open MPI by its own.
"""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import time

import suites

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/support"))
import hosts  # noqa: E402

SIZES = (8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)  # as pingpong.c's: a row each
PORT = 47592  # where fi_pingpong's two sides find each other
PEERS = {
    "mpich": ({"MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "tcp"}, ()),
    "openmpi": ({}, ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self")),
}


def listens(pid):
    """Somebody waits for connections at fi_pingpong's port, on the host of that process."""
    rows = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return any(row[3] == "0A" and int(row[1].split(":")[1], 16) == PORT for row in rows)


def programs(_):
    return [
        suites.Program("p2p/pingpong.c", 2),
        suites.Program("p2p/message_rate.c", 2),
        suites.Program("threads/pairs.c", 2, ("own", "threads"), ("2", "4")),
        suites.Program("threads/pairs.c", 2, ("own", "oneway"), ("2", "4")),
        *(suites.Program("threads/pairs.c", 2, ("own", "bytes", threads), suites.words((64 << 10, 1 << 20, 4 << 20))) for threads in ("2", "4")),
        suites.Program("rma/sizes.c", 2, (), ("allocate",)),
    ]


class Loopback:
    """Where the programs run: this host."""

    def command(self, command, _):
        return command

    address = "127.0.0.1"

    def library(self, library, provider):
        heddle = ({"HEDDLE_FABRIC": "always", "HEDDLE_FABRIC_PROVIDER": provider}, ())
        variables, arguments = PEERS.get(library.name, heddle)
        return dataclasses.replace(library, variables=variables, launcher_args=(*library.launcher_args, *arguments))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class TwoHosts(hosts.Hosts):
    """Where the programs run: a rank on each of two hosts."""

    def __init__(self):
        super().__init__(2)

    def command(self, command, host):
        return [*hosts.entering(self.keepers[f"h{host}"]), *command]

    @property
    def address(self):
        return self.addresses["h0"]

    def library(self, library, provider):
        names = ",".join(self.names)
        arguments = {
            "heddle": ("--rsh", self.rsh, "-hosts", names, "-ppn", "1"),
            "mpich": ("-launcher", "ssh", "-launcher-exec", self.rsh, "-hosts", names, "-ppn", "1"),
            "openmpi": ("--prtemca", "plm_ssh_agent", self.rsh, "--host", ",".join(f"{n}:1" for n in self.names), *PEERS["openmpi"][1]),
        }[library.name]
        variables = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"} if library.name == "mpich" else {"HEDDLE_FABRIC_PROVIDER": provider}
        return dataclasses.replace(library, variables=variables, launcher_args=(*library.launcher_args, *arguments), inside=self.command([], 0))


class Network(suites.Programs):
    def __init__(self, name, provider, where=Loopback):
        way = "TCP by loopback" if where is Loopback else "TCP between two network namespaces"
        super().__init__(name, f"the same between two hosts, over {way}; Heddle and libfabric's own ping-pong by {provider}", programs)
        self.provider, self.where = provider, where

    def lacking(self):
        """None: nothing."""
        if shutil.which("fi_pingpong") is None:
            return "needs fi_pingpong; install it (apt-get install libfabric-bin)"
        if self.where is TwoHosts and hosts.rights_lacking():
            return f"needs {', '.join(hosts.rights_lacking())}"
        return None

    def build(self, library, work):
        if library.name == "heddle" and self.lacking():
            sys.exit(f"bench/run: the suite `{self.name}` {self.lacking()}")
        super().build(library, work)

    def run(self, library, work, cpus, samples, steadiness):
        with self.where() as where:
            super().run(where.library(library, self.provider), work, cpus, samples, steadiness)
            if library.name == "heddle":
                for size in SIZES:
                    samples.add(self.name, "raw", size, library.name, self.pingpong(where, size, cpus), "us")

    def pingpong(self, where, size, cpus):
        """One way, µs."""
        rounds = str(max(200, min(20_000, (400 << 20) // size)))
        command = ["fi_pingpong", "-p", self.provider, "-e", "rdm", "-I", rounds, "-S", str(size)]
        pins = [where.command(["taskset", "-c", str(cpu)], host) for host, cpu in enumerate((cpus[0], cpus[-1]))]
        server = subprocess.Popen([*pins[0], *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 20
            while not listens(server.pid) and time.monotonic() < deadline and server.poll() is None:
                time.sleep(0.01)
            client = subprocess.run([*pins[1], *command, where.address], capture_output=True, text=True, timeout=120)
        finally:
            server.kill()
            server.wait()
        found = re.search(r"(\S+)\s+\S+\s*$", client.stdout.strip())
        if client.returncode != 0 or found is None:
            sys.exit(f"\nbench/run: fi_pingpong over {self.provider}: {client.stdout}{client.stderr}")
        return float(found.group(1))


class LongBetweenHosts(suites.LongMessages):
    """Where both ways cost what a network costs."""

    def __init__(self, provider):
        what = f"the suite `long` between two network namespaces, over TCP; Heddle by {provider}"
        super().__init__("long-hosts", what, suites.long_messages)
        self.provider = provider

    def lacking(self):
        return f"needs {', '.join(hosts.rights_lacking())}" if hosts.rights_lacking() else None

    def run(self, library, work, cpus, samples, steadiness):
        with TwoHosts() as where:
            super().run(where.library(library, self.provider), work, cpus, samples, steadiness)


SUITES = {suite.name: suite for suite in (
    Network("network", "net"), Network("network-rxm", "tcp;ofi_rxm"),
    Network("hosts", "net", TwoHosts), Network("hosts-rxm", "tcp;ofi_rxm", TwoHosts),
    LongBetweenHosts("net"))}
