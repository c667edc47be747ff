"""Runs one command of a bench to its end, or stops it when it is silent for too long, and leaves nothing of it behind."""

import dataclasses
import itertools
import os
import pathlib
import selectors
import signal
import subprocess
import tempfile
import time

GRACE = 5  # seconds a launcher has, to stop its ranks and tidy up
MARK = "HEDDLE_BENCH_RUN"  # in the environment of every process of a command, so that its ranks are found again
numbers = itertools.count()


@dataclasses.dataclass
class Outcome:
    stdout: str
    stderr: str
    failure: str  # empty, `no end in N s` or `exit code N`


def processes_of(mark):
    wanted = f"{MARK}={mark}".encode()
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            pass  # it ended meanwhile, or is another user's
    return found


def shared_files_of(pids):
    """What these processes have mapped of /dev/shm: a library that is killed leaves it there."""
    found = set()
    for pid in pids:
        try:
            lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
        except OSError:
            continue
        found.update(name for name in (line.split(maxsplit=5)[-1] for line in lines) if name.startswith("/dev/shm/"))
    return found


class Run:
    """One command, and what it may leave."""

    def __init__(self, command, env, errors):
        self.mark = f"{os.getpid()}.{next(numbers)}"
        self.files = set()
        self.process = subprocess.Popen(command, env={**env, MARK: self.mark}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=errors)

    def read_until_silent(self, limit):
        """Its output, and whether it ended; it may not be silent for more than `limit` seconds."""
        output = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while selector.select(limit):
                data = os.read(self.process.stdout.fileno(), 1 << 16)
                if not data:
                    break
                if not output:  # once, while nothing is being timed yet: a rank that aborts cannot be asked later
                    self.files = shared_files_of(processes_of(self.mark))
                output += data
            else:
                return output, False
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            return output, False
        return output, True

    def stop(self):
        self.files |= shared_files_of(processes_of(self.mark))
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        while left := processes_of(self.mark):
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.01)
        for name in self.files:
            pathlib.Path(name).unlink(missing_ok=True)


def run(command, env, limit):
    with tempfile.TemporaryFile() as errors:
        running = Run(command, env, errors)
        ended = False
        try:
            output, ended = running.read_until_silent(limit)
        finally:
            if not ended or running.process.returncode != 0:
                running.stop()
            running.process.stdout.close()
        errors.seek(0)
        failure = ""
        if not ended:
            failure = f"no end in {limit} s"
        elif running.process.returncode != 0:
            failure = f"exit code {running.process.returncode}"
        return Outcome(output.decode(errors="replace"), errors.read().decode(errors="replace"), failure)
