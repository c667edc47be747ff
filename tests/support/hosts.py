#!/usr/bin/env python3
"""Several hosts on one machine, with a network between them that can be made slow, lossy, late or silent.

    with Hosts(3, rate="100mbit", loss=1) as hosts:
        hosts.run("h0", ["ip", "addr"])
        subprocess.run(["mpiexec", "-hosts", ",".join(hosts.names), "--rsh", hosts.rsh, ...])

    hosts.py --hosts 2 [--rate 100mbit] [--loss 1] [--delay 1ms] [--reorder 5] [--nowhere] [--in h0] -- COMMAND...
        runs COMMAND, where it was called or in a host, with HEDDLE_TEST_RSH and HEDDLE_TEST_HOSTS (h0,h1), and ends with its
        exit code. 125: there were no hosts.

Problem: what a library does between hosts shows only between hosts, and worst when their network is bad.
Method:  a host is a set of namespaces: of the network, the host name, System V IPC, and of mounts, for /etc/hosts (all hosts by
         name), /dev/shm, and a boot id of its own, which tells programs that h0 and h1 are two machines. Files and process ids are
         shared: it is a cluster whose home, /tmp and all else lie on one network file system.

             h0 eth0 10.77.0.1/24 --+
             h1 eth0 10.77.0.2/24 --+-- switch: a bridge in a namespace of its own, or the relay
             h2 eth0 10.77.0.3/24 --+

         Nothing is made in the caller's network. Packets are never larger than the MTU, so that a lost one is one.
  rate     tc's tbf on what a host sends, as tc writes it: 100mbit
  loss     so many percent of what arrives at a host are dropped by nftables, and counted
  delay_ms on the way from a host to another; `reorder` percent go at once, and overtake. By netem, or, where the kernel has none,
           by a relay (hosts_relay.py), which then is the switch.
  nowhere  every host has docker0, 172.17.0.1/16, up, with a carrier, the same everywhere, and it leads nowhere
  rsh      a program to be called like ssh: rsh h1 command... (hosts_rsh.py). It does not need the network.
Cleaning: a guard, a process of its own, removes all of it and kills what still runs in it when the caller closes its pipe or ends,
         by whatever signal. If the guard is killed as well, the next Hosts sweeps.
Needs:   root (in a container: a privileged one), iproute2, nftables, util-linux; of the kernel veth, bridges, and where asked for
         tbf, nftables with numgen, chains of a device (from Linux 5.16 on), TAP devices.
Speed:   one TCP connection on two cores: 2.4 Gbit/s, by the relay 0.8 Gbit/s; 96 Mbit/s at 100mbit. Round trip 16 us, by the
         relay 0.25 ms more than twice the delay. Making two hosts takes 0.1 s.
"""

import argparse
import ctypes
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = "heddle-net-"
NAMED = re.compile(PREFIX + r"(\d+)-(\d+)-[0-9a-f]+")  # pid and start time of who made it
NETNS = pathlib.Path("/run/netns")
DEADLINE = 30  # seconds, of any single step
TOOLS = {"ip": "iproute2", "tc": "iproute2", "nft": "nftables", "nsenter": "util-linux", "unshare": "util-linux",
         "mount": "mount", "setsid": "util-linux"}
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
CLONE_NEWNET = 0x40000000
SIOCETHTOOL, ETHTOOL_STSO, ETHTOOL_SGSO = 0x8946, 0x1F, 0x24

KEEPER = """
set -e
echo "$1" >/proc/sys/kernel/hostname
mount --bind "$2/hosts" /etc/hosts
mount --bind "$2/boot_id.$1" /proc/sys/kernel/random/boot_id
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
echo ready
exec sleep infinity
"""

LOSS = """
table inet heddle_loss {
  counter lost {}
  counter arrived {}
  chain input {
    type filter hook input priority 0;
    iifname "eth0" numgen random mod 1000 < %d counter name "lost" drop
    iifname "eth0" counter name "arrived"
  }
}
"""

# On the device itself: a drop in the output hook would be told to the sender as EPERM.
CUT = """
table netdev heddle_cut {
  chain in { type filter hook ingress device eth0 priority 0; policy drop; }
  chain out { type filter hook egress device eth0 priority 0; policy drop; }
}
"""

REFUSAL = """
table inet heddle_refusal {
  chain input {
    type filter hook input priority 0;
    iifname "eth0" tcp flags & (syn | ack) == syn reject with tcp reset
  }
}
"""


class HostsError(Exception):
    pass


class Hosts:
    def __init__(self, count=2, *, rate=None, loss=0, delay_ms=0, reorder=0, nowhere=False, relay=False, subnet="10.77.0"):
        """relay: delay by the relay even where the kernel has netem."""
        if not 2 <= count <= 4:
            raise HostsError(f"{count} hosts; there can be 2 to 4")
        if loss and not 0.1 <= loss <= 100:
            raise HostsError(f"a loss of {loss} %; it can be 0.1 to 100 in steps of 0.1")
        if reorder and not delay_ms:
            raise HostsError("reordering needs a delay: what is not delayed cannot be overtaken")
        self.name = f"{PREFIX}{os.getpid()}-{start_time(os.getpid())}-{uuid.uuid4().hex[:6]}"
        self.directory = pathlib.Path("/run") / self.name
        self.rsh = str(self.directory / "rsh")
        self.names = [f"h{i}" for i in range(count)]
        self.addresses = {name: f"{subnet}.{i + 1}" for i, name in enumerate(self.names)}
        self.delayed_by = None  # or netem, or relay
        self.options = dict(rate=rate, loss=loss, delay_ms=delay_ms, reorder=reorder, nowhere=nowhere, relay=relay)
        self.keepers = {}
        self.children = []
        self.guard = None

    def __enter__(self):
        check()
        sweep()
        try:
            self.make(**self.options)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def environment(self):
        return {**os.environ, "HEDDLE_TEST_RSH": self.rsh, "HEDDLE_TEST_HOSTS": ",".join(self.names)}

    # Programs

    def start(self, host, command, **options):
        """A Popen of the command in the host, in this directory and with `environment`. It ends with the hosts at the latest."""
        inside = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", os.getcwd(), *map(str, command)]
        return subprocess.Popen([*entering(self.keepers[host]), *inside], **{"env": self.environment, **options})

    def run(self, host, command, timeout=DEADLINE, **options):
        """The command's output and exit code, as subprocess.run gives them."""
        defaults = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with self.start(host, command, **{**defaults, **options}) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            finally:
                process.kill()
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def socket(self, host, kind=socket.SOCK_STREAM):
        """A socket of that host, in this process."""
        libc = ctypes.CDLL(None, use_errno=True)

        def enter(namespace):
            if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns to {namespace.name}")

        with open("/proc/thread-self/ns/net") as here, open(NETNS / self.namespace(host)) as there:
            enter(there)
            try:
                return socket.socket(socket.AF_INET, kind)
            finally:
                enter(here)

    def processes(self, host):
        """What runs in the host: command lines by process id."""
        return {pid: command_line(pid) for pid in processes_in(self.namespace(host), [self.keepers[host]])}

    def kill(self, host):
        """SIGKILL to every process of the host. The host itself stays, as if started anew."""
        kill_all(self.namespace(host), [self.keepers[host]])

    # The network

    def cut(self, host):
        """From now on nothing arrives at the host and nothing leaves it, and nobody is told."""
        self.nft(host, CUT, "netdev chains with an egress hook (CONFIG_NETFILTER_EGRESS)")

    def refuse(self, host):
        """From now on the host refuses each connection from another, as a firewall may."""
        self.nft(host, REFUSAL, "nftables with reject (CONFIG_NFT_REJECT)")

    def mend(self, host):
        self.nft(host, "add table netdev heddle_cut\ndelete table netdev heddle_cut\n", "netdev chains")

    def lost(self, host):
        """How many packets for the host have been dropped by `loss`."""
        return self.counter(host, "lost")

    def arrived(self, host):
        """How many packets `loss` has let through to the host."""
        return self.counter(host, "arrived")

    def counter(self, host, name):
        listed = command(["ip", "netns", "exec", self.namespace(host), *"nft -j list counter inet heddle_loss".split(), name])
        return next(entry["counter"]["packets"] for entry in json.loads(listed)["nftables"] if "counter" in entry)

    # Making and unmaking

    def close(self):
        """Returns when nothing is left. A second call does nothing."""
        for process in self.children:
            process.kill()
            process.communicate(timeout=DEADLINE)
        self.children.clear()
        if self.guard is not None:
            guard, self.guard = self.guard, None
            complaint, _ = guard.communicate(timeout=2 * DEADLINE)
            if complaint:
                raise HostsError(complaint.decode().strip())

    def make(self, rate, loss, delay_ms, reorder, nowhere, relay):
        # In a session of its own and nobody's child, so that neither a signal to a group nor to a tree of processes reaches it.
        self.guard = subprocess.Popen(["setsid", "--fork", sys.executable, __file__, "--guard", self.name],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for name in [*self.names, "switch"]:
            command(["ip", "netns", "add", self.namespace(name)], needs="network namespaces, and the right to make them")
        self.ip("switch", "link set lo up")
        netem = delay_ms and not relay and self.has_netem()
        if delay_ms and not netem:
            self.delayed_by = "relay"
            self.connect_by_relay(delay_ms, reorder)
        else:
            self.connect_by_bridge()
        for name in self.names:
            self.ip(name, f"link set lo up\naddr add {self.addresses[name]}/24 dev eth0\nlink set eth0 up")
            self.send_single_packets(name)
        wait_until(self.connected, "the links between the hosts are not up")
        for name in self.names:
            parent = "root"
            if netem:
                self.delayed_by = "netem"
                self.tc(name, f"root handle 1: netem delay {delay_ms}ms" + (f" reorder {reorder}%" if reorder else ""), "netem")
                parent = "parent 1:1"
            if rate:
                self.tc(name, f"{parent} handle 10: tbf rate {rate} burst 32kb latency 20ms", "tbf (CONFIG_NET_SCH_TBF)")
            if loss:
                self.nft(name, LOSS % round(10 * loss), "nftables with numgen (CONFIG_NFT_NUMGEN)")
            if nowhere:
                self.lead_nowhere(name)
        self.start_keepers()
        self.write_rsh()

    def connect_by_bridge(self):
        self.ip("switch", "link add br0 type bridge\nlink set br0 up", needs="bridges (CONFIG_BRIDGE)")
        for name in self.names:
            self.ip("switch", f"link add {name} type veth peer name eth0 netns {self.namespace(name)}\n"
                    f"link set {name} master br0 up", needs="pairs of devices (CONFIG_VETH)")

    def connect_by_relay(self, delay_ms, reorder):
        if not os.path.exists("/dev/net/tun"):
            raise HostsError("delay needs netem (CONFIG_NET_SCH_NETEM) or /dev/net/tun (CONFIG_TUN), and this machine has neither")
        self.start_child(["ip", "netns", "exec", self.namespace("switch"), sys.executable, HERE / "hosts_relay.py",
                          delay_ms, reorder, *self.names], "the relay between the hosts")
        for name in self.names:  # a queue for the time when the relay does not get the processor
            self.ip("switch", f"link set {name} txqueuelen 10000\nlink set {name} netns {self.namespace(name)} name eth0")

    def connected(self):
        links = [json.loads(command(["ip", "-j", "-n", self.namespace(name), "link", "show", "eth0"]))[0] for name in self.names]
        if self.delayed_by != "relay":
            links += json.loads(command(["ip", "-j", "-n", self.namespace("switch"), "link", "show", "master", "br0"]))
            ports = json.loads(command(["ip", "netns", "exec", self.namespace("switch"), "bridge", "-j", "link"]))
            if any(port["state"] != "forwarding" for port in ports):
                return False
        return all("LOWER_UP" in link["flags"] and link["operstate"] != "DOWN" for link in links)  # of a TAP it is UNKNOWN

    def send_single_packets(self, name):
        """Without segmentation by a device that is none: up to 44 packets of TCP would pass as one. (`ip link set gso_max_segs 1`
        does the same, at a fifth of the speed.)"""
        with self.socket(name) as asked:
            for switch in (ETHTOOL_STSO, ETHTOOL_SGSO):
                value = ctypes.create_string_buffer(struct.pack("II", switch, 0))
                fcntl.ioctl(asked, SIOCETHTOOL, struct.pack("16sQ16x", b"eth0", ctypes.addressof(value)))

    def lead_nowhere(self, name):
        """A bridge, as docker's is; its port gives it a carrier, and the port's other end has no address and no bridge."""
        self.ip(name, "link add docker0 type bridge\naddr add 172.17.0.1/16 dev docker0\n"
                f"link add nowhere type veth peer name nowhere-{name} netns {self.namespace('switch')}\n"
                "link set nowhere master docker0 up\nlink set docker0 up", needs="bridges (CONFIG_BRIDGE)")
        self.ip("switch", f"link set nowhere-{name} up")

    def has_netem(self):
        """Tried out: it may be a module that is not loaded yet."""
        tried = ["ip", "netns", "exec", self.namespace("switch"), *"tc qdisc add dev lo root netem delay 1ms".split()]
        return subprocess.run(tried, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE).returncode == 0

    def start_keepers(self):
        """Of each host a process that has its namespaces, for others to enter them."""
        self.directory.mkdir(mode=0o755)
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in self.addresses.items())]
        (self.directory / "hosts").write_text("\n".join(lines) + "\n")
        for name in self.names:
            (self.directory / f"boot_id.{name}").write_text(f"{uuid.uuid4()}\n")
            keeper = self.start_child(["ip", "netns", "exec", self.namespace(name), "unshare", "--uts", "--ipc",
                                       "sh", "-c", KEEPER, "sh", name, self.directory], f"the namespaces of host {name}")
            self.keepers[name] = keeper.pid

    def write_rsh(self):
        known = {name: dict(address=self.addresses[name], keeper=self.keepers[name]) for name in self.names}
        (self.directory / "hosts.json").write_text(json.dumps(known))
        script = pathlib.Path(self.rsh)
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{HERE}/hosts_rsh.py" "{self.directory}" "$@"\n')
        script.chmod(0o755)

    def start_child(self, arguments, what):
        """Starts a program that says `ready` when it is, and anything else when it can't."""
        child = subprocess.Popen(list(map(str, arguments)), start_new_session=True, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.children.append(child)
        os.set_blocking(child.stdout.fileno(), False)
        said = b""

        def answered():
            nonlocal said
            said += child.stdout.read() or b""
            return said.endswith(b"\n") or child.poll() is not None

        wait_until(answered, f"no word from {what}")
        if said != b"ready\n":
            raise HostsError(f"{what} could not be made: {said.decode().strip()}")
        return child

    def namespace(self, host):
        return f"{self.name}-{host}"

    def ip(self, host, lines, needs=None):
        command(["ip", "-n", self.namespace(host), "-batch", "-"], lines, needs)

    def tc(self, host, qdisc, needs):
        command(["ip", "netns", "exec", self.namespace(host), "tc", "qdisc", "add", "dev", "eth0", *qdisc.split()], needs=needs)

    def nft(self, host, rules, needs):
        command(["ip", "netns", "exec", self.namespace(host), "nft", "-f", "-"], rules, needs)


def command(arguments, lines="", needs=None):
    done = subprocess.run(arguments, input=lines, capture_output=True, text=True, timeout=DEADLINE)
    if done.returncode != 0:
        lacking = f"this machine lacks {needs}: " if needs else ""
        raise HostsError(f"{lacking}{' '.join(arguments)} {' '.join(lines.split())} failed: {done.stderr.strip()}")
    return done.stdout


def rights_lacking():
    held = int(re.search(r"^CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text(), re.M).group(1), 16)
    return [name for name, bit in CAPABILITIES.items() if not held >> bit & 1]


def check():
    lacking = rights_lacking()
    if lacking:
        raise HostsError(f"hosts made of network namespaces need root with all its rights; user {os.geteuid()} lacks "
                         f"{', '.join(lacking)} here")
    missing = [f"{tool} (package {package})" for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if missing:
        raise HostsError("not installed: " + ", ".join(missing))


def wait_until(condition, otherwise):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise HostsError(f"after {DEADLINE} s: {otherwise}")
        time.sleep(0.002)


def entering(keeper):
    return ["nsenter", f"--target={keeper}", "--net", "--uts", "--ipc", "--mount", "--"]


def start_time(pid):
    """In the kernel's ticks since boot; None when there is no such process."""
    try:
        state, *fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else int(fields[18])


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def processes_in(namespace, but=()):
    try:
        wanted = os.stat(NETNS / namespace)
    except FileNotFoundError:
        return []
    if os.path.samestat(wanted, os.stat("/proc/self/ns/net")):
        raise HostsError(f"this process is in {namespace}")
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and int(entry) not in but:
            try:
                if os.path.samestat(wanted, os.stat(f"/proc/{entry}/ns/net")):
                    found.append(int(entry))
            except OSError:  # ended meanwhile
                pass
    return found


def kill_all(namespace, but=()):
    killed = {}  # when those started; an ending process leaves its namespaces before it closes its files

    def none_left():
        pids = processes_in(namespace, but)
        for pid in pids:
            killed[pid] = start_time(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not pids and not any(start and start_time(pid) == start for pid, start in killed.items())

    wait_until(none_left, f"processes in {namespace} are not to be killed")


def sets():
    """The names of all that is there, of anyone."""
    entries = [path.name for folder in (NETNS, pathlib.Path("/run")) if folder.is_dir() for path in folder.iterdir()]
    return {match.group() for match in map(NAMED.match, entries) if match}


def remove(name):
    """Everything of that name. Others may be at the same."""
    namespaces = [path.name for path in NETNS.glob(f"{name}-*")]
    try:
        for namespace in namespaces:
            kill_all(namespace)
    finally:
        for namespace in namespaces:
            subprocess.run(["ip", "netns", "del", namespace], capture_output=True, timeout=DEADLINE)
        shutil.rmtree(pathlib.Path("/run") / name, ignore_errors=True)
    if name in sets():
        raise HostsError(f"{name} could not be removed")


def sweep():
    for name in sets():
        pid, started = NAMED.match(name).groups()
        if start_time(pid) != int(started):
            remove(name)


def guard(name):
    sys.stdin.buffer.read()
    remove(name)


def milliseconds(text):
    return float(text.removesuffix("ms"))


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--guard"]:
        return guard(arguments[1])
    at = arguments.index("--") if "--" in arguments else len(arguments)
    to_run = arguments[at + 1:]
    parser = argparse.ArgumentParser(usage="hosts.py [options] -- COMMAND...", description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=2, metavar="N", help="2 to 4")
    parser.add_argument("--rate", help="of what a host sends, as tc writes it: 100mbit")
    parser.add_argument("--loss", type=float, default=0, metavar="PERCENT")
    parser.add_argument("--delay", type=milliseconds, default=0, metavar="1ms", dest="delay_ms")
    parser.add_argument("--reorder", type=float, default=0, metavar="PERCENT", help="of what is delayed")
    parser.add_argument("--nowhere", action="store_true", help="an interface in each host that is up and leads nowhere")
    parser.add_argument("--relay", action="store_true", help="delay by the relay even where the kernel has netem")
    parser.add_argument("--in", metavar="HOST", dest="where", help="run COMMAND in that host, with an address the others reach")
    options = vars(parser.parse_args(arguments[:at]))
    if not to_run:
        parser.error("no COMMAND after --")

    def stop(number, _):
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, stop)
    where = options.pop("where")
    with Hosts(options.pop("hosts"), **options) as hosts:
        if where not in (None, *hosts.names):
            raise HostsError(f"no host {where}; there are {', '.join(hosts.names)}")
        try:
            process = hosts.start(where, to_run) if where else subprocess.Popen(to_run, env=hosts.environment)
        except OSError as error:
            raise HostsError(f"{to_run[0]}: {error.strerror}")
        try:
            code = process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except HostsError as error:
        print(f"hosts.py: {error}", file=sys.stderr)
        sys.exit(125)
