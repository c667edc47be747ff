"""hosts.py keeps what it promises: hosts that reach each other, a network as bad as asked for, and nothing left afterwards."""

import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

import hosts
from hosts import Hosts, HostsError, wait_until

COMMAND = [sys.executable, str(pathlib.Path(hosts.__file__))]
DEADLINE = 60  # of anything
SILENCE = 0.3  # seconds without a packet, where one takes less than a millisecond
PORT = 5000


def links_here():
    return {link["ifname"] for link in json.loads(hosts.command(["ip", "-j", "link"]))}


def runs(pid):
    return hosts.start_time(pid) is not None


def left_of(pid):
    return [name for name in hosts.sets() if hosts.NAMED.match(name).group(1) == str(pid)]


def text(path):
    return pathlib.Path(path).read_text().strip()


@unittest.skipIf(hosts.rights_lacking(), f"needs {', '.join(hosts.rights_lacking())}")
class Case(unittest.TestCase):
    def hosts(self, *args, **options):
        made = Hosts(*args, **options)
        made.__enter__()
        self.addCleanup(made.close)
        return made

    def own(self, made, host, kind):
        new = made.socket(host, kind)
        new.settimeout(DEADLINE)
        self.addCleanup(new.close)
        return new

    def connection(self, made, a, b):
        """Two sockets of this process, of which one is in each host."""
        listening, near = self.own(made, b, socket.SOCK_STREAM), self.own(made, a, socket.SOCK_STREAM)
        listening.bind((made.addresses[b], 0))
        listening.listen()
        near.connect(listening.getsockname())
        far, peer = listening.accept()
        self.addCleanup(far.close)
        self.assertEqual(peer[0], made.addresses[a])
        far.settimeout(DEADLINE)
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return near, far

    def transfer(self, near, far, size):
        """Seconds."""
        sender = threading.Thread(target=near.sendall, args=(bytes(size),), daemon=True)
        into, received, start = bytearray(1 << 16), 0, time.monotonic()
        sender.start()
        while received < size:
            count = far.recv_into(into)
            self.assertGreater(count, 0)
            received += count
        sender.join(DEADLINE)
        return time.monotonic() - start

    def round_trip(self, near, far, count=100):
        """The median, in seconds."""
        took = []
        for _ in range(count):
            start = time.perf_counter()
            near.sendall(b"?")
            far.recv(1)
            far.sendall(b"!")
            near.recv(1)
            took.append(time.perf_counter() - start)
        return statistics.median(took)

    def datagrams(self, made, count, rate_of_packets):
        """The order in which numbered datagrams from h0 arrive at h1; what is lost is missing."""
        source, target = self.own(made, "h0", socket.SOCK_DGRAM), self.own(made, "h1", socket.SOCK_DGRAM)
        target.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        target.bind((made.addresses["h1"], PORT))
        source.connect(target.getsockname())

        def send():
            start = time.monotonic()
            for number in range(count):
                while time.monotonic() < start + number / rate_of_packets:
                    time.sleep(0.0001)
                source.send(number.to_bytes(4, "big"))

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        target.settimeout(SILENCE)
        arrived = []
        while len(arrived) < count:
            ended = not sender.is_alive()
            try:
                arrived.append(int.from_bytes(target.recv(4), "big"))
            except TimeoutError:
                if ended:
                    break
        sender.join(DEADLINE)
        return arrived


class Identity(Case):
    def test_each_is_a_host_of_its_own(self):
        before = links_here(), text("/etc/hosts"), socket.gethostname()
        mine = pathlib.Path(f"/dev/shm/heddle-hosts-test-{os.getpid()}")
        made = self.hosts(3)
        boots = {text("/proc/sys/kernel/random/boot_id")}
        for name in made.names:
            self.assertEqual(made.run(name, ["hostname"]).stdout, f"{name}\n")
            boots.add(made.run(name, ["cat", "/proc/sys/kernel/random/boot_id"]).stdout.strip())
            self.assertEqual(made.run(name, ["ls", "-A", "/dev/shm"]).stdout, "")
            made.run(name, ["touch", mine])
            done = made.run(name, ["sh", "-c", "echo $HEDDLE_TEST_HOSTS; pwd"])
            self.assertEqual(done.stdout, f"h0,h1,h2\n{os.getcwd()}\n")
            self.assertFalse(mine.exists())
        self.assertEqual(len(boots), 4)
        self.assertEqual(before, (links_here(), text("/etc/hosts"), socket.gethostname()))

    def test_all_reach_all(self):
        made = self.hosts(4)
        for a in made.names:
            for b in made.names:
                if a != b:
                    near, far = self.connection(made, a, b)
                    near.sendall(b"x")
                    self.assertEqual(far.recv(1), b"x")

    def test_names(self):
        made = self.hosts(2)
        answer = ("import socket; s = socket.create_server(('h1', 5000)); print('up', flush=True);"
                  "s.accept()[0].sendall(b'hello')")
        server = made.start("h1", [sys.executable, "-c", answer], stdout=subprocess.PIPE)
        with server.stdout:
            self.assertEqual(server.stdout.readline(), b"up\n")
        client = "import socket; print(socket.create_connection(('h1', 5000)).recv(5).decode())"
        self.assertEqual(made.run("h0", [sys.executable, "-c", client]).stdout, "hello\n")
        self.assertEqual(server.wait(DEADLINE), 0)

    def test_an_interface_that_leads_nowhere(self):
        made = self.hosts(2, nowhere=True)
        for name in made.names:
            def docker0():
                return json.loads(made.run(name, ["ip", "-j", "addr", "show", "docker0"]).stdout)[0]

            wait_until(lambda: docker0()["operstate"] == "UP", "docker0 is not up")
            link = docker0()
            self.assertLessEqual({"UP", "LOWER_UP"}, set(link["flags"]))
            self.assertIn(("172.17.0.1", 16), [(a["local"], a["prefixlen"]) for a in link["addr_info"]])
        listening, trying = self.own(made, "h1", socket.SOCK_STREAM), self.own(made, "h0", socket.SOCK_STREAM)
        listening.bind(("172.17.0.1", PORT))
        listening.listen()
        with self.assertRaises(ConnectionRefusedError):  # it is oneself
            trying.connect(("172.17.0.1", PORT))
        waiting = self.own(made, "h0", socket.SOCK_STREAM)
        waiting.settimeout(SILENCE)
        with self.assertRaises(TimeoutError):
            waiting.connect(("172.17.0.2", PORT))
        self.connection(made, "h0", "h1")


class RemoteShell(Case):
    def setUp(self):
        self.made = self.hosts(2)

    def rsh(self, *args, **options):
        return subprocess.run([self.made.rsh, *args], **{**dict(capture_output=True, text=True, timeout=DEADLINE), **options})

    def test_as_ssh(self):
        done = self.rsh("-x", "-o", "BatchMode=yes", "-p", "22", "someone@h1", "-q", "hostname; echo 'a  b'", "c; exit 7")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("h1\na  b c\n", "", 7))
        self.assertEqual(self.rsh("10.77.0.1", "hostname").stdout, "h0\n")
        data = os.urandom(1 << 20)
        done = self.rsh("h0", "cat; cat >&2 /etc/hosts", input=data, text=False)
        self.assertEqual((done.stdout, done.stderr.split(b"\n")[-2]), (data, b"10.77.0.2 h1"))
        self.assertEqual(self.rsh("-n", "h0", "cat", input="unread").stdout, "")
        self.assertEqual(self.rsh("h0", "kill -9 $$").returncode, 255)
        self.assertEqual(self.rsh("h0", "pwd").stdout.strip(), os.path.expanduser("~root"))
        self.assertEqual(self.rsh("h0", "echo $MINE.", env={**os.environ, "MINE": "1"}).stdout, ".\n")

    def test_it_does_not_wait_for_unread_input(self):
        process = subprocess.Popen([self.made.rsh, "h0", "exit 3"], stdin=subprocess.PIPE)
        with process.stdin:
            self.assertEqual(process.wait(DEADLINE), 3)

    def test_from_host_to_host(self):
        self.assertEqual(self.made.run("h0", [self.made.rsh, "h1", "hostname; cat /etc/hosts"]).stdout.split()[0], "h1")

    def test_misuse(self):
        for arguments, sentence in ((["h7", "true"], "no host h7; there are h0, h1"), (["h1"], "no host and command"),
                                    ([], "no host and command"), (["-Z", "h1", "true"], "option -Z not recognized")):
            done = self.rsh(*arguments)
            self.assertEqual(done.returncode, 255)
            self.assertIn(sentence, done.stderr)

    def test_a_killed_shell_leaves_its_command(self):
        process = subprocess.Popen([self.made.rsh, "h1", "echo $$; cat; exec sleep 1000"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with process.stdin, process.stdout:
            pid = int(process.stdout.readline())
            process.kill()
            process.wait(DEADLINE)
            wait_until(lambda: "sleep" in hosts.command_line(pid), "the command did not see the end of its input")
        self.assertIn(pid, self.made.processes("h1"))


class Network(Case):
    def test_unhindered(self):
        made = self.hosts(2)
        near, far = self.connection(made, "h0", "h1")
        self.assertLess(self.round_trip(near, far), 1e-3)
        self.assertLess(min(self.transfer(near, far, 5_000_000) for _ in range(3)), 0.4)  # at 100 Mbit/s

    def test_rate(self):
        made = self.hosts(2, rate="100mbit")
        for ends in (self.connection(made, "h0", "h1"), self.connection(made, "h1", "h0")):
            took = self.transfer(*ends, 2_000_000)  # 0.16 s at 100 Mbit/s, without headers
            self.assertGreater(took, 0.15)
            self.assertLess(took, 0.5)

    def test_loss(self):
        made = self.hosts(2, loss=1)
        count = 20_000
        arrived = self.datagrams(made, count, 40_000)
        lost = made.lost("h1")
        some = 20  # packets of IPv6, which the kernel sends by itself, are counted as well
        self.assertLess(abs(len(arrived) + lost - count), some)
        self.assertGreater(lost, count / 200)
        self.assertLess(lost, count / 50)
        self.assertLess(abs(made.arrived("h1") - len(arrived)), some)
        self.assertLess(made.lost("h0"), some)
        self.transfer(*self.connection(made, "h1", "h0"), 2_000_000)  # 1400 packets and more: one is one, not 44
        self.assertGreater(made.lost("h0") + made.arrived("h0"), 1300)
        self.assertGreater(made.lost("h0"), 0)

    def test_delay(self):
        for relay in (False, True):
            made = self.hosts(3, delay_ms=1, relay=relay)
            self.assertIn(made.delayed_by, ["relay"] if relay else ["netem", "relay"])
            for a, b in (("h0", "h1"), ("h2", "h0")):
                took = self.round_trip(*self.connection(made, a, b))
                self.assertGreater(took, 2e-3)
                self.assertLess(took, 20e-3)

    def test_reordering(self):
        for relay in (False, True):
            made = self.hosts(2, delay_ms=1, reorder=5, relay=relay)
            self.connection(made, "h0", "h1")  # else what waits for the neighbour's address is overtaken by what does not
            arrived = self.datagrams(made, 2000, 10_000)
            self.assertTrue(sorted(arrived) == list(range(2000)), arrived)  # assertEqual takes minutes to show a difference
            overtaken = sum(1 for before, after in zip(arrived, arrived[1:]) if after < before)
            self.assertGreater(overtaken, 20)
            self.assertLess(overtaken, 300)

    def test_a_delayed_network_in_order(self):
        made = self.hosts(2, delay_ms=1)
        self.connection(made, "h0", "h1")
        arrived = self.datagrams(made, 2000, 10_000)
        self.assertTrue(arrived == list(range(2000)), arrived)

    def test_the_relay_is_faster_than_the_rate(self):
        near, far = self.connection(self.hosts(2, delay_ms=0.1, relay=True), "h0", "h1")
        self.assertLess(min(self.transfer(near, far, 5_000_000) for _ in range(3)), 0.4)  # at 100 Mbit/s

    def test_everything_at_once(self):
        made = self.hosts(4, rate="100mbit", loss=1, delay_ms=1, reorder=5, nowhere=True)
        near, far = self.connection(made, "h3", "h1")
        self.assertGreater(self.transfer(near, far, 2_000_000), 0.15)
        self.assertGreater(made.lost("h1"), 0)

    def test_cut_and_mend(self):
        for options in ({}, dict(delay_ms=1, relay=True)):
            made = self.hosts(3, **options)
            near, far = self.connection(made, "h0", "h1")
            others = self.connection(made, "h0", "h2")
            self.round_trip(near, far, 10)
            made.cut("h1")
            made.cut("h1")
            for sender, receiver in ((near, far), (far, near)):
                sender.sendall(b"lost at first")
                receiver.settimeout(SILENCE)
                with self.assertRaises(TimeoutError):
                    receiver.recv(1)
            link, = json.loads(made.run("h1", ["ip", "-j", "link", "show", "eth0"]).stdout)
            self.assertLessEqual({"UP", "LOWER_UP"}, set(link["flags"]))
            self.round_trip(*others, 10)
            made.mend("h1")
            made.mend("h1")
            for receiver in (near, far):
                receiver.settimeout(DEADLINE)
                self.assertEqual(receiver.recv(100), b"lost at first")


class Processes(Case):
    def test_what_runs_and_kill(self):
        made = self.hosts(2)
        self.assertEqual([made.processes(name) for name in made.names], [{}, {}])
        forking = "for i in 1 2 3; do setsid sleep 1000 & done; echo started; trap '' TERM INT HUP; wait"
        process = made.start("h0", ["sh", "-c", forking], stdout=subprocess.PIPE)
        other = made.start("h1", ["sleep", "1000"])
        with process.stdout:
            process.stdout.readline()
        wait_until(lambda: list(made.processes("h0").values()).count("sleep 1000") == 3, "three processes in h0")
        pids = list(made.processes("h0"))
        self.assertIn(process.pid, pids)
        near, far = self.connection(made, "h0", "h1")
        made.kill("h0")
        self.assertEqual(process.wait(DEADLINE), -signal.SIGKILL)
        self.assertFalse(any(map(runs, pids)))
        self.assertEqual(made.processes("h0"), {})
        self.assertEqual(list(made.processes("h1")), [other.pid])
        self.assertEqual(made.run("h0", ["hostname"]).stdout, "h0\n")
        made.close()
        self.assertEqual(other.wait(DEADLINE), -signal.SIGKILL)

    def test_a_command_that_does_not_end(self):
        made = self.hosts(2)
        with self.assertRaises(subprocess.TimeoutExpired):
            made.run("h0", ["sleep", "1000"], timeout=0.1)
        self.assertEqual(made.processes("h0"), {})


class Cleaning(Case):
    def test_after_an_exception(self):
        before = links_here()
        with self.assertRaises(ZeroDivisionError), Hosts(2, delay_ms=1, relay=True, nowhere=True) as made:
            process = made.start("h0", ["sh", "-c", "setsid sleep 1000 & sleep 1000"])
            wait_until(lambda: len(made.processes("h0")) == 3, "processes in h0")
            pids = [*made.processes("h0"), *made.keepers.values(), *(child.pid for child in made.children)]
            1 // 0
        process.wait(DEADLINE)
        self.assertFalse(any(map(runs, pids)))
        self.assertEqual(left_of(os.getpid()), [])
        self.assertEqual(links_here(), before)
        made.close()

    def test_after_a_failed_start(self):
        with mock.patch.object(hosts, "LOSS", hosts.LOSS.replace("numgen", "nonesuch")):
            with self.assertRaisesRegex(HostsError, "this machine lacks nftables with numgen .CONFIG_NFT_NUMGEN.: .*nonesuch"):
                self.hosts(2, loss=1)
        with self.assertRaisesRegex(HostsError, "this machine lacks tbf .CONFIG_NET_SCH_TBF.: .* failed: "):
            self.hosts(2, rate="fast")
        with mock.patch.object(hosts, "KEEPER", "echo no >&2; exit 1"):
            with self.assertRaisesRegex(HostsError, "the namespaces of host h0 could not be made: no"):
                self.hosts(2)
        self.assertEqual(left_of(os.getpid()), [])

    def killed(self, number):
        """Kills the maker of hosts and all of its group; the exit code, once the guard has removed them."""
        inside = "$HEDDLE_TEST_RSH h0 'echo $$; sleep 1000 & wait'"
        process = subprocess.Popen([*COMMAND, "--delay", "1ms", "--", "sh", "-c", inside], stdout=subprocess.PIPE,
                                   start_new_session=True)
        with process.stdout:
            pid = int(process.stdout.readline())
            name, = left_of(process.pid)
            self.addCleanup(hosts.remove, name)
            pids = [entry for host in ("h0", "h1", "switch") for entry in hosts.processes_in(f"{name}-{host}")]
            self.assertIn(pid, pids)
            os.killpg(process.pid, number)
            code = process.wait(DEADLINE)
        wait_until(lambda: not left_of(process.pid), "the guard did not clean")
        self.assertFalse(any(map(runs, pids)))
        return code

    def test_after_signals(self):
        self.assertEqual(self.killed(signal.SIGTERM), 128 + signal.SIGTERM)
        self.assertEqual(self.killed(signal.SIGINT), 128 + signal.SIGINT)
        self.assertEqual(self.killed(signal.SIGKILL), -signal.SIGKILL)

    def test_stale_ones_are_swept_and_living_ones_are_not(self):
        living = self.hosts(2)
        gone = subprocess.Popen(["true"])
        gone.wait(DEADLINE)
        for pid in (gone.pid, os.getpid()):  # the second: a pid in use again
            name = f"{hosts.PREFIX}{pid}-1-abcdef"
            hosts.command(["ip", "netns", "add", f"{name}-h0"])
            (pathlib.Path("/run") / name).mkdir()
            process = subprocess.Popen(["ip", "netns", "exec", f"{name}-h0", "sleep", "1000"])
            self.addCleanup(process.kill)
            self.addCleanup(hosts.remove, name)
            wait_until(lambda: hosts.processes_in(f"{name}-h0") == [process.pid], "the process of a stale namespace")
            with Hosts(2):
                self.assertEqual(process.wait(DEADLINE), -signal.SIGKILL)
                self.assertNotIn(name, hosts.sets())
        self.round_trip(*self.connection(living, "h0", "h1"), 10)
        self.assertEqual(left_of(os.getpid()), [living.name])


class Command(Case):
    def hosts_py(self, *args):
        return subprocess.run([*COMMAND, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE)

    def test_command(self):
        show = 'echo $HEDDLE_TEST_HOSTS; hostname; echo "$@"; for h in h0 h2; do $HEDDLE_TEST_RSH $h hostname; done; exit 9'
        options = "--hosts", "3", "--rate", "100mbit", "--loss", "1", "--nowhere"
        done = self.hosts_py(*options, "--", "sh", "-c", show, "sh", "--", "-x")
        self.assertEqual((done.returncode, done.stderr), (9, ""))
        self.assertEqual(done.stdout, f"h0,h1,h2\n{socket.gethostname()}\n-- -x\nh0\nh2\n")
        self.assertEqual(self.hosts_py("--", "sh", "-c", "kill -9 $$").returncode, 128 + 9)
        done = self.hosts_py("--in", "h1", "--", "sh", "-c", "hostname; $HEDDLE_TEST_RSH h0 hostname")
        self.assertEqual(done.stdout, "h1\nh0\n")

    def test_misuse(self):
        for arguments, code, sentence in ((["--hosts", "5", "--", "true"], 125, "hosts.py: 5 hosts; there can be 2 to 4\n"),
                                          (["--reorder", "1", "--", "true"], 125, "reordering needs a delay"),
                                          (["--in", "h2", "--", "true"], 125, "hosts.py: no host h2; there are h0, h1\n"),
                                          (["--loss", "0.01", "--", "true"], 125, "a loss of 0.01 %"),
                                          (["--", "/nonesuch"], 125, "hosts.py: /nonesuch: No such file or directory\n"),
                                          (["true"], 2, ""), ([], 2, "no COMMAND after --")):
            done = self.hosts_py(*arguments)
            self.assertEqual(done.returncode, code)
            self.assertIn(sentence, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_without_root(self):
        os.seteuid(65534)
        try:
            with self.assertRaisesRegex(HostsError, "need root with .*; user 65534 lacks CAP_NET_ADMIN, CAP_SYS_ADMIN"):
                self.hosts(2)
        finally:
            os.seteuid(0)

    def test_without_tools(self):
        with mock.patch.dict(os.environ, PATH="/nonesuch"):
            with self.assertRaisesRegex(HostsError, "not installed: ip .package iproute2., .*nft"):
                self.hosts(2)


if __name__ == "__main__":
    unittest.main()
