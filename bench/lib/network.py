"""The way between hosts, measured within one: each library over TCP by loopback, without its shared memory.

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

SIZES = (8, 64 << 10, 1 << 20, 4 << 20)
PORT = 47592  # where fi_pingpong's two sides find each other
PEERS = {
    "mpich": ({"MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "tcp"}, ()),
    "openmpi": ({}, ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self")),
}


def listens(port):
    """Somebody waits for connections there."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[3] == "0A" and int(row[1].split(":")[1], 16) == port for row in rows)


def programs(_):
    return [
        suites.Program("p2p/pingpong.c", 2),
        suites.Program("p2p/message_rate.c", 2),
        suites.Program("threads/pairs.c", 2, ("own", "threads"), ("2", "4")),
    ]


class Network(suites.Programs):
    def __init__(self, name, provider):
        super().__init__(name, f"the same between two hosts, over TCP by loopback; Heddle and libfabric's own ping-pong by {provider}",
                         programs)
        self.provider = provider

    def build(self, library, work):
        if library.name == "heddle" and shutil.which("fi_pingpong") is None:
            sys.exit(f"bench/run: the suite `{self.name}` needs fi_pingpong; install it (apt-get install libfabric-bin)")
        super().build(library, work)

    def run(self, library, work, cpus, samples, steadiness):
        heddle = ({"HEDDLE_FABRIC": "always", "HEDDLE_FABRIC_PROVIDER": self.provider}, ())
        variables, arguments = PEERS.get(library.name, heddle)
        over = dataclasses.replace(library, variables=variables, launcher_args=(*library.launcher_args, *arguments))
        super().run(over, work, cpus, samples, steadiness)
        if library.name == "heddle":
            for size in SIZES:
                samples.add(self.name, "raw", size, library.name, self.pingpong(size, cpus), "us")

    def pingpong(self, size, cpus):
        """One way, µs."""
        rounds = str(max(200, min(20_000, (400 << 20) // size)))
        command = ["fi_pingpong", "-p", self.provider, "-e", "rdm", "-I", rounds, "-S", str(size)]
        pins = [["taskset", "-c", str(cpu)] for cpu in (cpus[0], cpus[-1])]
        server = subprocess.Popen([*pins[0], *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 20
            while not listens(PORT) and time.monotonic() < deadline and server.poll() is None:
                time.sleep(0.01)
            client = subprocess.run([*pins[1], *command, "127.0.0.1"], capture_output=True, text=True, timeout=120)
        finally:
            server.kill()
            server.wait()
        found = re.search(r"(\S+)\s+\S+\s*$", client.stdout.strip())
        if client.returncode != 0 or found is None:
            sys.exit(f"\nbench/run: fi_pingpong over {self.provider}: {client.stdout}{client.stderr}")
        return float(found.group(1))


SUITES = {suite.name: suite for suite in (Network("network", "net"), Network("network-rxm", "tcp;ofi_rxm"))}
