"""MPI jobs over the hosts of tests/support/hosts.py: run under a deadline, and nothing is left of them on any host.

HEDDLE_BUILD says where the build is (default: build/release). A job that is not done in time fails the test, after the
backtraces of its ranks have been printed.
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SUPPORT = HERE.parent / "support"
sys.path.insert(0, str(SUPPORT))

import hosts as support  # noqa: E402
from hosts import Hosts, wait_until  # noqa: E402

BUILD = pathlib.Path(os.environ.get("HEDDLE_BUILD", HERE.parents[1] / "build/release")).resolve()
MPIEXEC = BUILD / "bin/mpiexec"
PROGRAMS = BUILD / "tests/programs"
DEADLINE = 60  # of a job; a loaded machine is slow, a hang is forever
FAST = ("net", "tcp;ofi_rxm")
# The hosts share their processors and do not know it: ranks that wait should not spin.
PATIENTLY = ("env", "HEDDLE_NODE_CORES=1")

PER_HOST = object()  # in a program's arguments: how many ranks are on each host


def load_run_mpi():
    loader = importlib.machinery.SourceFileLoader("run_mpi", str(SUPPORT / "run_mpi"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_mpi", loader))
    loader.exec_module(module)
    return module


run_mpi = load_run_mpi()


def program(name):
    return PROGRAMS / name


class Job:
    """A running mpiexec. It and its ranks end with the test at the latest."""

    def __init__(self, hosts, arguments, variables, inside=None):
        """inside: the host in which mpiexec itself runs; else it is none of them."""
        self.hosts = hosts
        self.arguments = list(map(str, arguments))
        self.started = time.monotonic()
        options = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                       env={**os.environ, **variables})
        if inside:
            self.process = hosts.start(inside, self.arguments, **options)
        else:
            self.process = subprocess.Popen(self.arguments, **options)

    def finish(self, within=DEADLINE):
        """Waits for its end. Afterwards `code`, `out`, `err` are what it has left, and `took` how long it ran."""
        try:
            self.out, self.err = self.process.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            self.fail(f"the job did not end within {within} s")
        self.code, self.took = self.process.returncode, time.monotonic() - self.started
        return self

    def wait_for(self, condition, what):
        """Until the condition holds, which it must before the job ends."""
        end = time.monotonic() + DEADLINE
        while not condition():
            if self.process.poll() is not None:
                self.fail(f"the job has ended before {what}")
            if time.monotonic() > end:
                self.fail(f"after {DEADLINE} s not yet {what}")
            time.sleep(0.005)

    def wait_until_gone(self, program, hosts, within):
        """Until no rank runs on these hosts any more, whatever the launcher does."""
        end = time.monotonic() + within
        while any(line.split()[0] == str(program) for host in hosts for line in self.hosts.processes(host).values() if line):
            if time.monotonic() > end:
                self.fail(f"after {within} s ranks still run")
            time.sleep(0.01)

    def fail(self, why):
        """Prints where each rank stands, ends the job, and the test."""
        print(f"{why}: {' '.join(self.arguments)}", file=sys.stderr)
        run_mpi.print_backtraces(self.pids())
        self.process.kill()
        for host in self.hosts.names:
            self.hosts.kill(host)
        out, err = self.process.communicate(timeout=DEADLINE)
        raise AssertionError(f"{why}\nstdout: {out[-3000:]}\nstderr: {err[-3000:]}")

    def pids(self):
        return [pid for host in self.hosts.names for pid in self.hosts.processes(host)]

    def ranks(self):
        """rank → pid"""
        return {run_mpi.rank_of(pid): pid for pid in self.pids() if run_mpi.rank_of(pid) is not None}

    def node(self, host):
        """The pid of the launcher's process on the host."""
        found = [pid for pid, line in self.hosts.processes(host).items() if line.split()[1:2] == ["--node"] and "mpiexec" in line.split()[0]]
        return min(found)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=DEADLINE)


@unittest.skipIf(support.rights_lacking(), f"needs {', '.join(support.rights_lacking())}")
class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heddle-hosts-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def make_hosts(self, count=2, **options):
        made = Hosts(count, **options)
        made.__enter__()
        self.addCleanup(made.close)
        return made

    def start(self, hosts, *command, per_host=1, variables=None, inside=None, shell=None):
        """`command` on all hosts, `per_host` ranks on each."""
        job = Job(hosts, [MPIEXEC, "--rsh", shell or hosts.rsh, "-hosts", ",".join(f"{host}:{per_host}" for host in hosts.names), *command],
                  variables or {}, inside)
        self.addCleanup(job.end)
        return job

    def run_job(self, hosts, *command, within=DEADLINE, **options):
        """A job that must end well."""
        done = self.start(hosts, *command, **options).finish(within)
        self.assertEqual(done.code, 0, f"{' '.join(done.arguments)}\nstdout: {done.out[-3000:]}\nstderr: {done.err[-3000:]}")
        self.assert_nothing_left(hosts)
        return done

    def run_all(self, hosts, selection, per_host, **options):
        """Several programs, one after the other: (name, arguments...)"""
        for name, *rest in selection:
            arguments = [per_host if argument is PER_HOST else argument for argument in rest]
            with self.subTest(program=name, hosts=len(hosts.names), per_host=per_host, **options.get("variables", {})):
                done = self.run_job(hosts, *PATIENTLY, program(name), *arguments, per_host=per_host, **options)
                print(f"{done.took:6.2f} s {' '.join(map(str, (name, *arguments)))}, {len(hosts.names)} hosts of {per_host}, {options.get('variables', '')}")

    def assert_fails(self, hosts, done, *regexes):
        """It has ended with an error, and says so in lines of which each regular expression matches one."""
        self.assertNotEqual(done.code, 0, done.err)
        for regex in regexes:
            self.assertRegex(done.err, regex)
        self.assert_nothing_left(hosts)

    def assert_nothing_left(self, hosts):
        """No process but the host's own and sshd's, and no shared memory. Those that were killed may take a moment to be gone, and
        have no command line then."""
        def left():
            found = {host: [line for line in hosts.processes(host).values() if line and "sshd" not in line] for host in hosts.names}
            return {host: lines for host, lines in found.items() if lines}

        end = time.monotonic() + 15
        while left() and time.monotonic() < end:
            time.sleep(0.005)
        self.assertEqual(left(), {}, "still running")
        for host in hosts.names:
            self.assertEqual(os.listdir(f"/proc/{hosts.keepers[host]}/root/dev/shm"), [], f"/dev/shm of {host}")


def main():
    # A test in the background of a shell would hand an ignored SIGINT on.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    unittest.main()
