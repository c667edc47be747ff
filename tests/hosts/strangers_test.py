"""Somebody on the network who is no process of the job connects to every port of its ranks, and says all sorts of things: the job
goes on. (What such a one says in libfabric's own language: tests/wire/ofi_stranger_test.cpp.)"""

import os
import random
import socket
import struct
import subprocess

from jobs import FAST, PATIENTLY, Case, main, program

ROUNDS = 6


class Strangers(Case):
    def ports(self, hosts, host):
        listening = subprocess.run(["ip", "netns", "exec", hosts.namespace(host), "ss", "-lntpH"], capture_output=True, text=True, check=True).stdout
        return {int(line.split()[3].rsplit(":", 1)[1]) for line in listening.splitlines() if '"soak"' in line}

    def speak(self, stranger, way):
        if way == 1:
            stranger.send(os.urandom(random.choice((1, 40, 64, 272, 70000))))
        elif way == 2:
            stranger.send(bytes(random.choice((1, 40, 4096))))
        elif way == 3:
            stranger.send(b"\xff" * random.choice((1, 40, 4096)))
        elif way == 4:
            stranger.send(bytes(random.randrange(4) for _ in range(300)))
        elif way == 5:  # it will reset the connection
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def test_nothing_comes_of_it(self):
        for provider in FAST:
            with self.subTest(provider):
                hosts = self.make_hosts(2)
                job = self.start(hosts, *PATIENTLY, program("soak"), 1, 1, 1, per_host=2, variables={"HEDDLE_FABRIC_PROVIDER": provider})
                # Each rank has one for the watch and one for its endpoint.
                job.wait_for(lambda: all(len(self.ports(hosts, host)) >= 4 for host in hosts.names), "all ranks listen")
                ports = {host: self.ports(hosts, host) for host in hosts.names}
                kept, refused, spoken = [], 0, 0
                for number in range(6 * ROUNDS):
                    for host, other in (("h0", "h1"), ("h1", "h0")):
                        for port in ports[host]:
                            stranger = hosts.socket(other, socket.SOCK_STREAM)
                            stranger.settimeout(1)
                            try:
                                stranger.connect((hosts.addresses[host], port))
                                self.speak(stranger, number % 6)
                                spoken += 1
                            except OSError:
                                refused += 1
                            if number % 2:
                                stranger.close()
                            else:
                                kept.append(stranger)
                job.finish()
                for stranger in kept:
                    stranger.close()
                self.assertEqual(job.code, 0, job.err)
                self.assertGreater(spoken, 40, f"{refused} refused")
                self.assert_nothing_left(hosts)


if __name__ == "__main__":
    main()
