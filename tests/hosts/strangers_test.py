"""Somebody on the network who is no process of the job connects to every port of its ranks, and says all sorts of things: the job
goes on. (What such a one says in libfabric's own language: tests/wire/ofi_stranger_test.cpp.)"""

import os
import random
import socket
import struct
import subprocess
import sys

from jobs import FAST, PATIENTLY, Case, main, program

ROUNDS = 6


class Strangers(Case):
    def ports(self, hosts, host):
        listening = subprocess.run(["ip", "netns", "exec", hosts.namespace(host), "ss", "-lntpH"], capture_output=True, text=True, check=True).stdout
        return {int(line.split()[3].rsplit(":", 1)[1]) for line in listening.splitlines() if '"stand"' in line}

    def dropped(self, path):
        """What the rank of this file has: strange, replayed. The rank may be writing it."""
        said = path.read_text().split()
        return [int(number) for number in said] if len(said) == 2 else [0, 0]

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
                job = self.start(hosts, *PATIENTLY, program("stand"), "messages", self.directory, per_host=2, variables={"HEDDLE_FABRIC_PROVIDER": provider})
                there = [self.directory / f"there.{rank}" for rank in range(4)]
                job.wait_for(lambda: all(path.exists() for path in there), "all ranks talk")
                job.wait_for(lambda: all(path.read_text().endswith("\n") for path in there), "all ranks have said what they dropped")
                self.assertEqual([self.dropped(path) for path in there], [[0, 0]] * 4)
                ports = {host: self.ports(hosts, host) for host in hosts.names}
                for host in hosts.names:  # each rank has one for the watch and one for its endpoint
                    self.assertGreaterEqual(len(ports[host]), 4, host)
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
                self.assertGreater(spoken, 40, f"{refused} refused")
                for path in there:
                    path.unlink(missing_ok=True)
                job.wait_for(lambda: all(path.exists() for path in there), "all ranks go on, and find every byte")
                # Each rank has dropped some, and says so; nothing was sent twice.
                job.wait_for(lambda: all(self.dropped(path)[0] > 0 for path in there), "all ranks have counted strangers")
                self.assertEqual([self.dropped(path)[1] for path in there], [0] * 4)
                print(f"{provider}: {spoken} strangers; dropped: {[self.dropped(path)[0] for path in there]}", file=sys.stderr)
                for stranger in kept:
                    stranger.close()
                job.process.terminate()
                self.assertEqual(job.finish().code, 143, job.err)
                self.assert_nothing_left(hosts)
                for path in there:
                    path.unlink()


if __name__ == "__main__":
    main()
