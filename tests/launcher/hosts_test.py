"""A job over several hosts, which are one: the remote shell is a script that runs the command here."""

import os
import pathlib
import pty
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from harness import MPIEXEC, PROBE, PYTHON, Case, Launched, interruptible, mpiexec, state, status_field, wait_until
from io_test import CHATTER
from pmi_test import SPEAKER

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
        """host → pid of Heddle's process there."""
        result = {}
        for pid in self.processes(job):
            try:
                words = read(f"/proc/{pid}/cmdline").split("\0")
                name = read(f"/proc/{pid}/comm").strip()
                environment = read(f"/proc/{pid}/environ").split("\0")
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if words[1:2] == ["--node"] and name == "mpiexec":
                result[next(e for e in environment if e.startswith("FAKE_HOST="))[10:]] = pid
        return result

    def assert_ends_clean(self, job, processes, pids):
        self.assert_all_gone({*processes, *pids} - {job.pid})


class Placement(Hosts):
    def hosts_of_ranks(self, *args):
        done = self.mpiexec("-l", *args, *(() if ":" in args else ("sh", "-c", "echo $FAKE_HOST")))
        self.assertEqual((done.code, done.err), (0, ""))
        lines = dict(re.match(r"\[(\d+)\] (\S+)", l).groups() for l in done.out.splitlines())
        return " ".join(lines[str(r)] for r in range(len(lines)))

    def test_where_ranks_run(self):
        for arguments, expected in (("-hosts a,b -n 4", "a b a b"),
                                    ("-host a:2,b:2 -n 4", "a a b b"),
                                    ("-H a:2,b:2 -n 3", "a a b"),
                                    ("--hosts=a,b -ppn 2 -n 4", "a a b b"),
                                    ("-hosts a,b -ppn 2 -n 6", "a a b b a a"),
                                    ("-hosts a:2,b -n 5", "a a b a a"),
                                    ("-hosts a:1,b:2 -n 5 --oversubscribe", "a b b a b"),
                                    ("-hosts a:2,b", "a a b"),
                                    ("-hosts a,b -ppn 2", "a a b b"),
                                    ("-hosts a,b,c -n 2", "a b"),
                                    ("-hosts a,b,a -n 3", "a b a")):
            with self.subTest(arguments):
                self.assertEqual(self.hosts_of_ranks(*arguments.split()), expected)

    def test_several_programs_share_the_list(self):
        show = ("sh", "-c", "echo $FAKE_HOST.$0")
        self.assertEqual(self.hosts_of_ranks("-hosts", "a:2,b:2", "-n", 1, *show, 1, ":", "-n", 3, *show, 2), "a.1 a.2 b.2 b.2")

    def test_an_entry_without_ranks_is_left_alone(self):
        shell = self.remote_shell("counting", f'echo $FAKE_HOST >> {self.directory}/called\n{RUN_IT}')
        self.assertEqual(self.mpiexec("-hosts", "a,b,c", "-n", 2, "true", shell=shell).code, 0)
        self.assertEqual(sorted((self.directory / "called").read_text().split()), ["a", "b"])

    def test_host_files(self):
        path = self.file("hosts", "# two forms\n\na:2   # MPICH's\n  b slots=1 # Open MPI's\nc\n[::1]:2\n")
        for option in ("-f", "--hostfile", "-machinefile"):
            self.assertEqual(self.hosts_of_ranks(option, path), "a a b c ::1 ::1")

    def test_bad_host_files(self):
        for text, line, problem in (("a\nb:0\n", 2, "'b' has '0' slots; it takes a number of at least 1"),
                                    ("a slots=x\n", 1, "'a' has 'x' slots"),
                                    ("a\n\nb max_slots=4\n", 3, "'max_slots=4' is not known"),
                                    ("-oProxyCommand=x\n", 1, "'-oProxyCommand=x' is no name of a host"),
                                    ("a:\n", 1, "'a' has '' slots")):
            with self.subTest(text):
                path = self.file("hosts", text)
                self.assert_fails(self.mpiexec("-f", path, "true"), 2, f"{path}:{line}: {problem}")
        self.assert_fails(self.mpiexec("-f", self.file("hosts", "# nobody\n"), "true"), 2, "names no host")
        self.assert_fails(self.mpiexec("-f", "/no/such", "true"), 2, "cannot read the host file '/no/such': No such file")
        self.assert_fails(self.mpiexec("-f", self.directory, "true"), 2, f"cannot read the host file '{self.directory}'")

    def test_bad_lists(self):
        for text, problem in (("a:0,b:0", "'a' has '0' slots"), ("a,,b", "'' is no name of a host"), ("", "'' is no name of a host"),
                              ("-x", "'-x' is no name"), ("a b", "'a b' is no name"), ("a:2:3,b:x", "'b' has 'x' slots")):
            with self.subTest(text):
                self.assert_fails(self.mpiexec("-hosts", text, "true"), 2, "-hosts: " + problem)
        done = self.mpiexec("-hosts", "a:2,b:2", "-n", 5, "true")
        self.assert_fails(done, 2, "5 ranks, and the host list has 4 slots; give more hosts or slots, or say --oversubscribe")
        self.assert_fails(self.mpiexec("-hosts", "a", "-f", "x", "true"), 2, "a second list of hosts: 'x'")

    def test_what_ranks_are_told(self):
        show = "echo $PMI_RANK/$PMI_SIZE $HEDDLE_LOCAL_RANK/$HEDDLE_LOCAL_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS"
        done = self.mpiexec("-hosts", "a:2,b:1", "sh", "-c", show)
        self.assertEqual(sorted(done.out.splitlines()), ["0/3 0/2 0/2", "1/3 1/2 1/2", "2/3 0/1 0/1"])

    def test_environment(self):
        bare = self.remote_shell("bare", 'exec env -i FAKE_HOST="$FAKE_HOST" PATH="$PATH" sh -c "$*"')
        show = ("sh", "-c", "echo $A.$B.$C.$NOT_ASKED_FOR.$HEDDLE_THING.$HEDDLE_JOINED")
        done = self.mpiexec("-hosts", "a,b", "-genv", "A", "one two", "-x", "C", "-n", 1, "-env", "B", "2", *show, ":", "-n", 1, *show,
                            shell=bare, variables={"C": "c'\"$x", "NOT_ASKED_FOR": "x", "HEDDLE_THING": "t", "HEDDLE_JOINED": "1"})
        self.assertEqual(sorted(done.out.splitlines()), ["one two..c'\"$x..t.", "one two.2.c'\"$x..t."])

    def test_long_arguments_and_variables(self):
        count = ("sh", "-c", 'echo ${#1} ${#LONG} $#', "sh")
        done = self.mpiexec("-hosts", "a,b", "-genv", "LONG", "v" * 120_000, "-n", 2, *count, "a" * 120_000, *["word with spaces"] * 5000)
        self.assertEqual(done.out, "120000 120000 5001\n" * 2)

    def test_directory(self):
        done = self.mpiexec("-hosts", "a,b", "-n", 2, "pwd", cwd=self.directory)
        self.assertEqual(done.out, f"{self.directory}\n" * 2)
        self.assertEqual(self.mpiexec("-hosts", "a", "-wdir", "/", "pwd", cwd=self.directory).out, "/\n")
        only_here = self.directory / "only here"
        shell = self.remote_shell("removing", f"rmdir '{only_here}'; cd /; {RUN_IT}")
        only_here.mkdir()
        done = self.mpiexec("-hosts", "a", "true", cwd=only_here, shell=shell)
        self.assert_fails(done, 2, f"host 'a' (rank 0): cannot run in mpiexec's directory '{only_here}': No such file", "-wdir DIR")
        only_here.mkdir()
        self.assertEqual(self.mpiexec("-hosts", "a", "-wdir", "/", "pwd", cwd=only_here, shell=shell).out, "/\n")


class Starting(Hosts):
    """A host or a remote shell that does not do what it should: one line, soon."""

    def refused(self, *parts, code=1, arguments=("-hosts", "a:2,b:2"), program=("touch", "started"), limit=10, **options):
        start = time.monotonic()
        done = self.mpiexec(*arguments, *program, cwd=self.directory, **options)
        self.assertLess(time.monotonic() - start, limit)
        self.assert_fails(done, code, *parts)
        self.assertEqual(done.err.count("\n"), 1, done.err)
        self.assertFalse((self.directory / "started").exists())
        return done

    def only_b(self, script):
        return self.remote_shell("partly", f'if test $FAKE_HOST = b; then {script}; else {RUN_IT}; fi')

    def test_a_host_that_refuses(self):
        shell = self.only_b("echo 'ssh: connect to host b port 22: Connection refused' >&2; exit 255")
        self.refused("host 'b' (ranks 2-3): the remote shell", "ended with exit code 255",
                     '"ssh: connect to host b port 22: Connection refused"', f"does this work: {shell} b true", shell=shell)

    def test_a_host_that_does_not_resolve(self):
        self.refused("host 'no-such-host.invalid' (rank 0): the remote shell 'ssh ", "no-such-host.invalid", "ended with exit code 255",
                     arguments=("-hosts", "no-such-host.invalid"), shell="")

    def test_a_host_that_hangs(self):
        self.refused("host 'b' (ranks 2-3): no answer within 1 s (HEDDLE_DETECTION_TIME) from the remote shell",
                     shell=self.only_b("exec sleep 1000"), variables={"HEDDLE_DETECTION_TIME": "1"})
        self.refused('hangs: "Password:"', "no answer within 1 s", shell=self.only_b("printf 'hangs: \"Password:\"' >&2; exec sleep 1000"),
                     variables={"HEDDLE_DETECTION_TIME": "1"})

    def test_a_detection_time_that_is_none(self):
        for value in ("0", "", "1.5", "soon"):
            self.refused(f"HEDDLE_DETECTION_TIME is '{value}', not a number of seconds", variables={"HEDDLE_DETECTION_TIME": value})

    def test_no_such_shell(self):
        self.refused("the remote shell 'no-such-shell -x' ended with exit code 127", "not found", shell="no-such-shell -x")

    def test_a_shell_that_ends_by_a_signal_or_well(self):
        self.refused("was ended by signal 9 (Killed), and Heddle has not started there", shell=self.only_b("kill -9 $$"))
        self.refused("ended with exit code 0, and Heddle has not started there", shell=self.only_b("exit 0"))

    def test_no_heddle_there(self):
        self.refused("host 'a' (ranks 0-1)", "ended with exit code 127", "is Heddle there as '/no/such/mpiexec'? --remote-mpiexec PATH says where",
                     arguments=("-hosts", "a:2", "--remote-mpiexec", "/no/such/mpiexec"))

    def test_a_path_with_every_character(self):
        link = self.directory / "it's a \"$path\" \\ with;(all)\n& *"
        link.mkdir()
        (link / "mpiexec").symlink_to(os.path.abspath(MPIEXEC))
        done = self.mpiexec("-hosts", "a", "--remote-mpiexec", link / "mpiexec", "echo", "found")
        self.assertEqual((done.code, done.out, done.err), (0, "found\n", ""))

    def test_another_version(self):
        other = self.file("mpiexec", "#!/bin/sh\nprintf '\\nheddle-node-hello protocol=7 version=9.9\\n'\nexec cat >/dev/null\n", 0o755)
        done = self.refused("host 'a' (rank 0): there is Heddle 9.9 (protocol 7) as '", "and this mpiexec is Heddle ",
                            "install one version on all hosts", arguments=("-hosts", "a", "--remote-mpiexec", other))
        self.assertIn(str(other), done.err)

    def test_an_mpiexec_that_is_not_heddles(self):
        other = self.file("mpiexec", "#!/bin/sh\necho 'unrecognized argument node' >&2\nexit 1\n", 0o755)
        self.refused("ended with exit code 1, and Heddle has not started there", '"unrecognized argument node"',
                     arguments=("-hosts", "a", "--remote-mpiexec", other))

    def test_a_shell_that_talks(self):
        shell = self.remote_shell("talking", f"echo 'Welcome to this host!'; printf 'no end'; echo 'a banner' >&2; {RUN_IT}")
        done = self.mpiexec("-hosts", "a,b", "-n", 2, PROBE, shell=shell)
        self.assertEqual((done.code, done.out.count("2 values")), (0, 2))
        self.assertEqual(sorted(done.err.splitlines()), ["mpiexec: a: a banner", "mpiexec: b: a banner"])
        self.refused('on its output: "Welcome here / and there"', shell=self.only_b("echo Welcome here; echo and there; exit 3"))
        self.refused("the shell there prints too much before Heddle starts", shell=self.only_b("exec yes"))

    def test_sense_and_then_none(self):
        version = mpiexec("--version").out.split()[-1]
        for said in ("garbage that is longer than a header", "\\001\\000\\000\\000\\001\\000\\000", "\\377\\377\\377\\377\\001\\000\\000\\000",
                     "\\000\\000\\000\\000\\016\\000\\000\\000", "\\004\\000\\000\\000\\016\\000\\000\\000\\000\\000\\000\\000"):
            other = self.file("mpiexec", f"#!/bin/sh\nprintf '\\nheddle-node-hello protocol=1 version={version}\\n{said}'\nexec cat >/dev/null\n", 0o755)
            self.refused("host 'a' (rank 0): ", arguments=("-hosts", "a", "--remote-mpiexec", other), variables={"HEDDLE_DETECTION_TIME": "1"})

    def test_what_a_node_says_of_others_is_not_believed(self):
        version = mpiexec("--version").out.split()[-1]
        ready, started, ended, output, waits, aborted, left = 11, 13, 14, 15, 18, 20, 23
        for kind, fields in ((started, "=ii 5 1"), (started, "=ii -1 1"), (ended, "=iiii 5 0 1 1"), (output, "=iiii 0 5 0 0"), (output, "=iii 2 0 0"),
                             (output, "=iii 0 0 9"), (waits, "=i 1"), (aborted, "=ii 1 3"), (left, "=i -1"), (ready, "=")):
            other = self.file("mpiexec", f"""#!{PYTHON}
import struct, sys
layout, *numbers = "{fields}".split()
fields = struct.pack(layout, *map(int, numbers))
frame = lambda kind, fields: struct.pack("<IB3x", len(fields), kind) + fields
sys.stdout.buffer.write(b"\\nheddle-node-hello protocol=1 version={version}\\n" + frame({ready}, b"") + frame({kind}, fields))
sys.stdout.flush()
sys.stdin.read()
""", 0o755)
            with self.subTest(kind=kind, fields=fields):
                self.refused(f"host 'a' (rank 0) is lost while its ranks ran: it sends what makes no sense (frame {kind}); ending the job",
                             arguments=("-hosts", "a", "--remote-mpiexec", other))

    def test_what_cannot_be_started_there(self):
        self.refused("): there is no program 'no-such-program'", program=("no-such-program",), code=127)
        self.refused("'/etc/passwd' is not executable", program=("/etc/passwd",), code=126)
        done = self.mpiexec("-hosts", "a,b", "-n", 1, "sh", "-c", f"echo $$ > {self.directory}/pids; exec sleep 1000", ":", "-n", 1,
                            self.file("script", "#!/no/such/shell\n", 0o755))
        self.assert_fails(done, 127, "host 'b' (rank 1): cannot start rank 1", "interpreter")

    def test_interrupted_while_hosts_are_awaited(self):
        job = self.launched("-hosts", "a", "true", shell=self.remote_shell("slow", f"echo $$ > {self.directory}/pids; exec sleep 1000"))
        pids = self.pids_in("pids", 1)
        job.process.send_signal(signal.SIGINT)
        self.assert_fails(job.finish(), 130, "ended by signal 2 (Interrupt) before all hosts were ready")
        self.assert_all_gone(pids)


class AcrossNodes(Hosts):
    """What a job is on one node, it is on several."""

    def test_lines_are_never_cut(self):
        done = self.mpiexec("-hosts", "a,b,c", "-n", 6, PYTHON, "-c", CHATTER, 300, stderr=subprocess.STDOUT)
        expected = sorted(f"<{r}:{i}:" + str(r) * (i * 37 % 300) + ">" for r in range(6) for i in range(300))
        self.assertEqual((done.code, sorted(done.out.splitlines())), (0, expected))

    def test_tags_and_last_lines(self):
        done = self.mpiexec("-l", "-hosts", "a,b", "-n", 2, "sh", "-c", "echo a; echo err >&2; printf end")
        self.assertEqual(sorted(done.out.splitlines()), ["[0] a", "[0] end", "[1] a", "[1] end"])
        self.assertEqual(sorted(done.err.splitlines()), ["[0] err", "[1] err"])

    def test_long_lines(self):
        done = self.mpiexec("-hosts", "a,b", "-n", 4, PYTHON, "-c", "import os; print(os.environ['PMI_RANK'] * 1_000_000)")
        self.assertEqual(sorted(done.out.splitlines()), [str(r) * 1_000_000 for r in range(4)])

    def test_input_goes_to_rank_0(self):
        text = "".join(f"line {i}\n" for i in range(50_000))
        done = self.mpiexec("-hosts", "a,b", "-n", 3, "sh", "-c", "wc -c", input=text.encode())
        self.assertEqual(sorted(map(int, done.out.split())), [0, 0, len(text)])

    def test_what_rank_0_leaves_of_a_file_stays(self):
        path = self.file("input", "first\nsecond\nthird\n")
        with open(path) as f:
            done = self.mpiexec("-hosts", "a,b", "-n", 2, "sh", "-c", "test $PMI_RANK = 1 || head -c 6", stdin=f)
            left = os.read(f.fileno(), 100)
        self.assertEqual((done.code, done.out, left), (0, "first\n", b"second\nthird\n"))

    def test_memory_stays_bounded_while_the_reader_sleeps(self):
        job = self.launched("-hosts", "a,b", "-n", 4, PYTHON, "-c", f"""
import os
open("{self.directory}/pids", "a").write(f"{{os.getpid()}}\\n")
for i in range(4000): os.write(1, b"x" * 4999 + b"\\n")
""")
        pids = self.pids_in("pids", 4)

        def stand_still():
            def written():
                return [read(f"/proc/{p}/io").split("wchar:")[1].split()[0] for p in pids]
            before = written()
            time.sleep(0.3)
            return before == written() and all(read(f"/proc/{p}/syscall").startswith("1 ") for p in pids)

        wait_until(stand_still, "all ranks stopped by the reader")
        for pid in (job.pid, *self.nodes(job).values()):
            self.assertLess(int(status_field(pid, "VmHWM")), 32 * 1024)
        self.assertEqual((len(job.finish().out), job.code), (4 * 4000 * 5000, 0))

    def test_a_reader_that_leaves(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "yes", "some text")
        self.assertEqual(job.process.stdout.readline(), b"some text\n")
        job.process.stdout.close()
        self.assertEqual(job.process.wait(timeout=60), 128 + signal.SIGPIPE)

    def test_exit_codes(self):
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 4, "sh", "-c", "test $PMI_RANK != 3 || exit 42"), 42,
                          "rank 3 (pid ", ") on b ended with exit code 42; ending the job\n")
        done = self.mpiexec("-hosts", "a,b", "-n", 2, "sh", "-c", f"{PROBE} late 1 6; c=$?; test $PMI_RANK = 1 || {{ sleep 0.6; echo left in peace; }}; exit $c")
        self.assert_fails(done, 6, "rank 1 (pid ", ") on b ended with exit code 6\n")
        self.assertEqual(done.out, "left in peace\n")

    def test_the_last_words_come_before_the_verdict(self):
        for _ in range(10):
            done = self.mpiexec("-hosts", "a,b", "-n", 2, "sh", "-c", "echo out; echo err $PMI_RANK >&2; test $PMI_RANK = 0 || kill -9 $$",
                                stderr=subprocess.STDOUT)
            before, verdict, _ = done.out.partition("signal 9")
            self.assertTrue(verdict, done.out)
            self.assertIn("err 1\n", before)

    def test_signals_are_passed_on(self):
        for number, name in ((signal.SIGINT, "2 (Interrupt)"), (signal.SIGTERM, "15 (Terminated)")):
            job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c", f"echo $$ >> {self.directory}/pids{number}; exec sleep 1000")
            pids = self.pids_in(f"pids{number}", 2)
            processes = self.processes(job)
            job.process.send_signal(number)
            done = job.finish()
            self.assertEqual((done.code, done.err), (128 + number, f"mpiexec: the job was ended by signal {name}\n"))
            self.assert_ends_clean(job, processes, pids)

    def test_user_signals_and_a_handlers_time(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c",
                            f"trap 'echo heard; exit 0' USR1; echo $$ >> {self.directory}/pids; while true; do sleep 0.01; done")
        self.pids_in("pids", 2)
        job.process.send_signal(signal.SIGUSR1)
        done = job.finish()
        self.assertEqual((done.code, done.out), (0, "heard\nheard\n"))

    def test_the_second_signal_kills(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c",
                            f"trap 'echo x >> {self.directory}/heard' INT; echo $$ >> {self.directory}/pids; while true; do sleep 0.01; done")
        pids = self.pids_in("pids", 2)
        job.process.send_signal(signal.SIGINT)
        wait_until(lambda: (self.directory / "heard").exists() and (self.directory / "heard").read_text() == "x\nx\n", "both have heard")
        job.process.send_signal(signal.SIGINT)
        self.assert_fails(job.finish(), 130, "killing the job: signal 2 (Interrupt) once more")
        self.assert_all_gone(pids)

    def test_stopped_for_longer_than_the_detection_time(self):
        job = self.launched("-hosts", "a,b", "-n", 2, "sh", "-c", f"echo $$ >> {self.directory}/pids; exec sleep 1000",
                            variables={"HEDDLE_DETECTION_TIME": "2"})
        pids = self.pids_in("pids", 2)
        job.process.send_signal(signal.SIGTSTP)
        wait_until(lambda: state(job.pid) == "T" and all(state(p) == "T" for p in pids), "everything stopped")
        time.sleep(4)  # two detection times
        job.process.send_signal(signal.SIGCONT)
        wait_until(lambda: all(state(p) == "S" for p in pids), "everything goes on")
        job.process.send_signal(signal.SIGTERM)
        self.assertEqual(job.finish().code, 143)


    def on_terminal(self, *args):
        """mpiexec as the foreground job of a terminal of its own, as a shell would start it."""
        pid, terminal = pty.fork()
        if pid == 0:
            interruptible()
            os.environ["HEDDLE_RSH"] = str(self.shell)
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

    def test_a_dialogue_on_a_terminal(self):
        program = "printf 'your name? '; read n; echo hello $n; read rest || echo no more"
        pid, terminal = self.on_terminal("-hosts", "a,b", "-n", 2, "sh", "-c", f"test $PMI_RANK = 1 || {{ {program}; }}")
        self.read_until(terminal, b"your name? ")  # a line without an end is shown when it stands still
        os.write(terminal, b"Ada\n")
        self.read_until(terminal, b"hello Ada\r\n")
        os.write(terminal, b"\x04")
        self.read_until(terminal, b"no more\r\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_the_interrupt_key(self):
        # It reaches mpiexec and not the remote shells, which it would end.
        pid, terminal = self.on_terminal("-hosts", "a,b", "-n", 2, "sh", "-c",
                                         f"trap 'sleep 0.5; echo saved; exit 0' INT; echo $$ >> {self.directory}/pids; while true; do sleep 0.01; done")
        self.pids_in("pids", 2)
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"saved\r\nsaved\r\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


class PmiAcrossNodes(Hosts):
    def test_everyone_sees_everything(self):
        done = self.mpiexec("-hosts", "a:4,b:4,c:4", PROBE)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()),
                         sorted(f"rank {r} of 12: 12 values, 4 on this node, program 0" for r in range(12)))

    def test_many_rounds(self):
        done = self.mpiexec("-hosts", "a,b,c", "-n", 6, PROBE, "rounds", 100)
        self.assertEqual((done.code, done.out, done.err), (0, "", ""))

    def test_the_secret_is_the_jobs_alone(self):
        shell = self.remote_shell("listening", f"echo \"$@\" >> {self.directory}/seen; env >> {self.directory}/seen; {RUN_IT}")
        show = ("sh", "-c", f"env >> {self.directory}/seen; tr '\\0' '\\n' < /proc/$PPID/cmdline >> {self.directory}/seen; exec {PROBE} secret")
        first = self.mpiexec("-hosts", "a,b", "-n", 4, *show, shell=shell)
        secrets = set(first.out.split())
        self.assertEqual((first.code, len(first.out.split()), len(secrets)), (0, 4, 1))
        secret = secrets.pop()
        self.assertRegex(secret, "^[0-9a-f]{64}$")
        self.assertNotIn(secret, (self.directory / "seen").read_text())
        alone = mpiexec("-n", 2, PROBE, "secret").out.split()
        self.assertEqual(len(set(alone)), 1)
        self.assertNotEqual(alone[0], secret)

    def test_abort(self):
        done = self.mpiexec("-hosts", "a,b", "-n", 4, PROBE, "abort", 3, 7)
        self.assertEqual(done.code, 7)
        self.assertRegex(done.err, r"^probe: rank 3 gives up\nmpiexec: rank 3 \(pid \d+\) on b aborted the job with code 7\n$")

    def test_an_end_between_init_and_finalize(self):
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 3, PROBE, "leave", 1, 0), 1, "rank 1 (pid ", ") on b ended without MPI_Finalize")
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 3, PROBE, "leave", 1, 9), 9, "rank 1 (pid ", "exit code 9")
        self.assert_fails(self.mpiexec("-hosts", "a,b", "-n", 4, PROBE, "kill", 3), 137, "rank 3 (pid ", ") on b was ended by signal 9")

    def test_waiting_for_someone_who_has_left(self):
        for programs in ([PROBE, ":", "-n", 1, "true"], ["true", ":", "-n", 1, PROBE], [PROBE, ":", "-n", 1, "sh", "-c", "sleep 0.2"]):
            done = self.mpiexec("-hosts", "a,b", "-n", 1, *programs)
            self.assertEqual(done.code, 1)
            self.assertRegex(done.err, r"^mpiexec: rank [01] has ended without MPI_Init, and rank [01] waits for it; ending the job\n$")

    def test_one_of_a_node_waits_for_one_of_another(self):
        # Its neighbour on the node is in no barrier, so the node is never complete.
        done = self.mpiexec("-hosts", "a:2,b:1", "-n", 1, PROBE, ":", "-n", 1, "sleep", 1000, ":", "-n", 1, "true")
        self.assert_fails(done, 1, "rank 2 has ended without MPI_Init, and rank 0 waits for it; ending the job")

    def speak(self, code, *args):
        return self.mpiexec(*args, PYTHON, "-c", SPEAKER + code)

    def test_broken_speech(self):
        for say, why in (("hello", "not a PMI-1 line: 'hello'"), ("x" * 20_000, "a PMI-1 line of more than 16384 bytes")):
            done = self.speak(f"print(ask('{say}')); s.recv(1)", "-hosts", "a")
            self.assert_fails(done, 1, "rank 0 (pid ", ") on a broke the PMI protocol: " + why)

    def test_gets_inside_a_barrier(self):
        done = self.speak("""
rank = int(os.environ["PMI_RANK"])
job = ask("cmd=get_my_kvsname").split("kvsname=")[1]
ask(f"cmd=put kvsname={job} key=k{rank} value=v{rank}")
if rank == 0:
    f.write("cmd=barrier_in\\n"); f.flush()
    while True:  # until rank 1's is there, who waits for this one in no barrier
        got = ask(f"cmd=get kvsname={job} key=k1")
        if "value=v1" in got: break
    print(got)
    print(ask(f"cmd=get kvsname={job} key=k0"), ask(f"cmd=get kvsname={job} key=nobodys"))
    ask(f"cmd=put kvsname={job} key=go value=on")
    print(f.readline().rstrip())
else:
    while "value=on" not in ask(f"cmd=get kvsname={job} key=go"): pass
    ask("cmd=barrier_in")
""", "-hosts", "a,b")
        self.assertEqual(done.out.splitlines(), ["cmd=get_result rc=0 msg=success value=v1",
                                                 "cmd=get_result rc=0 msg=success value=v0 cmd=get_result rc=-1 msg=key_not_found",
                                                 "cmd=barrier_out rc=0"])

    def test_answers_keep_the_order_of_questions(self):
        done = self.speak("""
rank = int(os.environ["PMI_RANK"])
job = ask("cmd=get_my_kvsname").split("kvsname=")[1]
for i in range(200): ask(f"cmd=put kvsname={job} key=k{rank}.{i} value={rank}.{i}")
ask("cmd=barrier_in")
wanted = [f"{r}.{i}" for i in range(200) for r in (0, 1)]
f.write("".join(f"cmd=get kvsname={job} key=k{w}\\n" for w in wanted)); f.flush()
print([f.readline().split("value=")[1].rstrip() for w in wanted] == wanted)
""", "-hosts", "a,b")
        self.assertEqual((done.out, done.err), ("True\nTrue\n", ""))

    def test_ranks_of_another_program(self):
        # Rank 1 runs its second program while rank 0 still runs its first.
        done = self.mpiexec("-hosts", "a,b", "-n", 1, PROBE, ":", "-n", 1, "sh", "-c", f"{PYTHON} -c '{SPEAKER}\nask(\"cmd=init\"); ask(\"cmd=finalize\")'; exec {PROBE}")
        self.assert_fails(done, 1, "are not in the same program: ranks that run several have to run the same ones")


class Faults(Hosts):
    """Something on the way dies or is cut off: who, where and during what, in time, and nothing is left."""

    def start(self, detection=10, shell=None, ranks=4):
        program = f"echo $$ >> {self.directory}/pids; sleep 1000 & echo $! >> {self.directory}/pids; wait"
        job = self.launched("-hosts", "a,b", "-n", ranks, "sh", "-c", program, shell=shell or self.shell,
                            variables={"HEDDLE_DETECTION_TIME": str(detection)})
        pids = self.pids_in("pids", 2 * ranks)
        nodes = self.nodes(job)
        self.assertEqual(sorted(nodes), ["a", "b"])
        return job, nodes, self.processes(job), pids

    def test_a_rank_is_killed(self):
        job, _, processes, pids = self.start()
        start = time.monotonic()
        os.kill(pids[0], signal.SIGKILL)
        self.assertEqual(job.finish().code, 137)
        self.assertLess(time.monotonic() - start, 2)
        self.assert_ends_clean(job, processes, pids)

    def test_the_process_on_a_host_is_killed(self):
        for shell in (self.shell, self.remote_shell("apart", APART)):
            job, nodes, processes, pids = self.start(shell=shell)
            start = time.monotonic()
            os.kill(nodes["b"], signal.SIGKILL)
            self.assert_fails(job.finish(), 1, "host 'b' (ranks 1, 3) is lost while its ranks ran: the connection closed; the remote shell '", "; ending the job\n")
            self.assertLess(time.monotonic() - start, 3)
            self.assert_ends_clean(job, processes, pids)
            (self.directory / "pids").unlink()

    def test_the_process_on_a_host_outlives_its_shell_and_is_killed(self):
        leave = f'exec 3<&0; sh -c "$*" <&3 & while test ! -e {self.directory}/go; do sleep 0.01; done; echo $$ >> {self.directory}/left'
        job, nodes, processes, pids = self.start(shell=self.remote_shell("leaving", leave))
        (self.directory / "go").touch()
        self.assert_all_gone(self.pids_in("left", 2))
        os.kill(nodes["b"], signal.SIGKILL)
        self.assert_fails(job.finish(), 1, "host 'b' (ranks 1, 3) is lost while its ranks ran: the connection closed", "ended with exit code 0")
        self.assert_ends_clean(job, processes, pids)

    def test_mpiexec_is_killed(self):
        for shell in (self.shell, self.remote_shell("apart", APART)):
            job, _, processes, pids = self.start(shell=shell)
            os.kill(job.pid, signal.SIGKILL)
            self.assertEqual(job.finish().code, -signal.SIGKILL)
            self.assert_ends_clean(job, processes, pids)
            (self.directory / "pids").unlink()

    def test_the_process_on_a_host_hangs(self):
        for shell in (self.shell, self.remote_shell("apart", APART)):
            job, nodes, processes, pids = self.start(detection=2, shell=shell)
            start = time.monotonic()
            os.kill(nodes["b"], signal.SIGSTOP)
            done = job.finish()
            self.assertLess(time.monotonic() - start, 10)  # on a loaded machine
            self.assert_fails(done, 1, "host 'b' (ranks 1, 3) is lost while its ranks ran: nothing was heard of it for 2 s (HEDDLE_DETECTION_TIME)")
            self.assert_ends_clean(job, processes, pids)  # where mpiexec cannot reach it, its guard can
            (self.directory / "pids").unlink()

    def test_mpiexec_hangs(self):
        job, _, _, pids = self.start(detection=2)
        os.kill(job.pid, signal.SIGSTOP)
        self.assert_all_gone(pids)
        os.kill(job.pid, signal.SIGCONT)
        self.assert_fails(job.finish(), 1, "is lost", "nothing was heard of mpiexec for 2 s")

    def test_a_host_dies_while_ranks_wait(self):
        # The answer to what follows the barrier says that the barrier has been heard.
        wait = """
if os.environ["PMI_RANK"] == "1":
    f.write("cmd=barrier_in\\n"); f.flush()
    ask("cmd=get_maxes")
open("pids", "a").write(f"{os.getpid()}\\n")
s.recv(1)
"""
        job = self.launched("-hosts", "a,b", "-n", 2, PYTHON, "-c", SPEAKER + wait, cwd=self.directory)
        pids = self.pids_in("pids", 2)
        os.kill(self.nodes(job)["b"], signal.SIGKILL)
        self.assert_fails(job.finish(), 1, "host 'b' (rank 1) is lost while rank 1 waited in MPI_Init or a barrier: the connection closed")
        self.assert_all_gone(pids)

    def test_the_process_on_a_host_is_ended(self):
        job, nodes, processes, pids = self.start()
        os.kill(nodes["b"], signal.SIGTERM)
        self.assert_fails(job.finish(), 1, "host 'b' (ranks 1, 3) is lost", "was ended by signal 15 (Terminated)")
        self.assert_ends_clean(job, processes, pids)


class Ssh(Hosts):
    """The real thing: an sshd of our own on this host, with keys that live as long as the test."""

    def setUp(self):
        super().setUp()
        sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
        self.assertTrue(sshd and shutil.which("ssh"), "needs openssh-server and openssh-client")
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / name], check=True)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.file("authorized_keys", (self.directory / "user_key.pub").read_text(), 0o600)
        self.file("known_hosts", f"[127.0.0.1]:{self.port} {(self.directory / 'host_key.pub').read_text()}")
        self.file("sshd_config", f"""
Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.directory}/host_key
AuthorizedKeysFile {self.directory}/authorized_keys
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PidFile none
MaxStartups 100
""")
        if os.getuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # sshd wants it, and packages make it only at boot
        with open(self.directory / "sshd.log", "w") as log:
            self.sshd = subprocess.Popen([sshd, "-D", "-e", "-f", self.directory / "sshd_config"], stderr=log)
        self.addCleanup(lambda: (self.sshd.kill(), self.sshd.wait()))
        wait_until(self.listens, f"sshd listens on port {self.port}; {(self.directory / 'sshd.log').read_text()}")
        user = pwd.getpwuid(os.getuid()).pw_name
        self.shell = (f"ssh -F none -x -T -p {self.port} -l {user} -i '{self.directory}/user_key' -o BatchMode=yes -o ConnectTimeout=9 "
                      f"-o IdentitiesOnly=yes -o UserKnownHostsFile='{self.directory}/known_hosts'")

    def listens(self):
        self.assertIsNone(self.sshd.poll(), (self.directory / "sshd.log").read_text())
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def test_a_job(self):
        done = self.mpiexec("-hosts", "127.0.0.1:2,127.0.0.1:2", "-n", 4, PROBE)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()), [f"rank {r} of 4: 4 values, 2 on this node, program 0" for r in range(4)])

    def test_input_and_quotes(self):
        done = self.mpiexec("-hosts", "127.0.0.1", "-n", 2, "sh", "-c", 'cat; echo "$PMI_RANK: $1"', "sh", "it's \"$HOME\"", input=b"x\n" * 10_000)
        self.assertEqual(sorted(done.out.splitlines()), ["0: it's \"$HOME\"", "1: it's \"$HOME\""] + ["x"] * 10_000)

    def test_a_wrong_key(self):
        self.file("authorized_keys", "")
        self.assert_fails(self.mpiexec("-hosts", "127.0.0.1", "true"), 1, "host '127.0.0.1' (rank 0): the remote shell 'ssh ",
                          "ended with exit code 255", "Permission denied")

    def test_ssh_is_killed(self):
        self.end_by(lambda job: os.kill(next(p for p in self.processes(job) if read(f"/proc/{p}/comm") == "ssh\n"), signal.SIGKILL))

    def test_mpiexec_is_killed(self):
        self.end_by(lambda job: os.kill(job.pid, signal.SIGKILL))

    def test_a_rank_is_killed(self):
        self.end_by(lambda job: os.kill(self.pids_in("pids", 4)[0], signal.SIGKILL))

    def end_by(self, fault):
        job = self.launched("-hosts", "127.0.0.1,127.0.0.1", "-n", 2, "sh", "-c",
                            f"echo $$ >> {self.directory}/pids; echo $PPID >> {self.directory}/pids; exec sleep 1000")
        pids = self.pids_in("pids", 4)  # the ranks, and Heddle's processes beside them
        start = time.monotonic()
        fault(job)
        self.assertNotEqual(job.finish().code, 0)
        self.assert_all_gone(pids)
        self.assertLess(time.monotonic() - start, 5)


if __name__ == "__main__":
    unittest.main()
