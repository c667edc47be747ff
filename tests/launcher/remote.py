"""Jobs over several hosts, which are one: the remote shell is a script that runs the command here."""

import os
import pathlib

from harness import Case, Launched, mpiexec

# Called like ssh. A rank can tell its host by FAKE_HOST.
FAKE_SHELL = '''#!/bin/sh
export FAKE_HOST="$1"
shift
%s
'''
RUN_IT = 'exec sh -c "$*"'
# As over a network: when the remote shell dies, what it has started does not.
APART = 'setsid --fork --wait sh -c "$*"'


def read(path):
    return pathlib.Path(path).read_text()


def parent(pid):
    return int(read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])


class Hosts(Case):
    def setUp(self):
        super().setUp()
        self.shell = self.remote_shell("rsh", RUN_IT)

    def remote_shell(self, name, script):
        return self.file(name, FAKE_SHELL % script, 0o755)

    def arguments(self, args, options):
        environment = {**os.environ, "HEDDLE_RSH": str(options.pop("shell", self.shell)), **options.pop("variables", {})}
        return args, {"env": environment, **options}

    def mpiexec(self, *args, **options):
        args, options = self.arguments(args, options)
        return mpiexec(*args, **options)

    def launched(self, *args, **options):
        args, options = self.arguments(args, options)
        return Launched(*args, **options)

    def processes(self, job):
        """All that the job has here: mpiexec's children and theirs, whoever has adopted them."""
        found, todo = set(), [job.pid]
        while todo:
            pid = todo.pop()
            try:
                children = [int(p) for task in os.listdir(f"/proc/{pid}/task")
                            for p in read(f"/proc/{pid}/task/{task}/children").split()]
            except (FileNotFoundError, ProcessLookupError):
                continue
            todo += [p for p in children if p not in found]
            found |= set(children)
        return found

    def nodes(self, job):
        """host → pid of Heddle's process there. Its guard has the same name and words until it first runs."""
        found = {}
        for pid in self.processes(job):
            try:
                words = read(f"/proc/{pid}/cmdline").split("\0")
                name = read(f"/proc/{pid}/comm").strip()
                environment = read(f"/proc/{pid}/environ").split("\0")
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if words[1:2] == ["--node"] and name == "mpiexec":
                found[pid] = next(e for e in environment if e.startswith("FAKE_HOST="))[10:]
        return {host: pid for pid, host in found.items() if parent(pid) not in found}

    def assert_ends_clean(self, job, processes, pids):
        self.assert_all_gone({*processes, *pids} - {job.pid})
