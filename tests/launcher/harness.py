"""mpiexec as a person runs it: start, look, wait under a deadline, and see that nothing is left behind."""

import os
import pathlib
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

MPIEXEC = os.environ.get("HEDDLE_MPIEXEC", "build/release/bin/mpiexec")
HEDDLE_LIB = pathlib.Path(MPIEXEC).resolve().parent.parent / "lib"
PROBE = os.environ.get("HEDDLE_BOOT_PROBE", "build/release/tests/launcher/launcher_boot_probe")
MPICH = pathlib.Path(os.environ.get("HEDDLE_MPICH", pathlib.Path(__file__).parents[2] / ".cache/peers/mpich"))
PYTHON = sys.executable
HOST = socket.gethostname()
DEADLINE = 60  # of anything; a loaded machine is slow, a hang is forever


def interruptible():
    """A test under nohup or in a shell's background would hand an ignored SIGINT on, and mpiexec would honour it."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)


def wait_until(condition, what):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"after {DEADLINE} s: {what}")
        time.sleep(0.005)


def state(pid):
    """R running, S sleeping, T stopped, ...; Z ended, or gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def runs(pid):
    return state(pid) not in "ZX"


def status_field(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split()[1]


class Launched:
    """A running mpiexec. What a failed test leaves running, Case kills."""

    started = []

    def __init__(self, *args, launcher=MPIEXEC, **options):
        defaults = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=interruptible)
        self.process = subprocess.Popen([str(launcher), *map(str, args)], **{**defaults, **options})
        self.pid = self.process.pid
        Launched.started.append(self)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def finish(self, timeout=DEADLINE, **options):
        try:
            out, err = self.process.communicate(timeout=timeout, **options)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate(timeout=timeout)
            raise AssertionError(f"mpiexec did not end\nstdout: {out[-2000:]}\nstderr: {err[-2000:]}")
        self.code = self.process.returncode
        self.out = (out or b"").decode(errors="replace")
        self.err = (err or b"").decode(errors="replace")
        return self


def mpiexec(*args, **options):
    communicate = {k: options.pop(k) for k in ("input", "timeout") if k in options}
    if "input" in communicate:
        options["stdin"] = subprocess.PIPE
    return Launched(*args, **options).finish(**communicate)


class Case(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heddle-launcher-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.addCleanup(self.kill_all)

    def kill_all(self):
        while Launched.started:
            Launched.started.pop().kill()

    def file(self, name, text, mode=0o644):
        path = self.directory / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def pids_in(self, name, count):
        """The pids that ranks have written, one a line, once there are `count`."""
        path = self.directory / name

        def there():
            return path.exists() and path.read_text().count("\n") >= count

        wait_until(there, f"{count} pids in {path}")
        return [int(line) for line in path.read_text().split()]

    def on_terminal(self, *args):
        """mpiexec as the foreground job of a terminal of its own, as a shell would start it."""
        pid, terminal = pty.fork()
        if pid == 0:
            interruptible()
            os.execv(MPIEXEC, [MPIEXEC, *map(str, args)])
        self.addCleanup(os.close, terminal)
        return pid, terminal

    def read_until(self, terminal, text):
        seen = b""
        while text not in seen:
            try:
                piece = os.read(terminal, 1000)
            except OSError:  # how Linux says that the other side is gone
                break
            seen += piece
        self.assertIn(text, seen)
        return seen

    def assert_fails(self, done, code, *parts):
        self.assertEqual(done.code, code, done.err)
        for part in parts:
            self.assertIn(part, done.err)

    def assert_all_gone(self, pids):
        wait_until(lambda: not any(map(runs, pids)), f"{[p for p in pids if runs(p)]} still run")
