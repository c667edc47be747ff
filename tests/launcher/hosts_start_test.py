"""Over several hosts: where ranks run, and what does not start."""

import os
import re
import select
import signal
import time
import unittest

from harness import MPIEXEC, PROBE, PYTHON, mpiexec
from remote import RUN_IT, Hosts


def machine_name():
    """As a profile has it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return f"{models[0] if models else 'unknown processor'}, {os.sysconf('SC_NPROCESSORS_CONF')} cores"


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

    def test_all_know_one_network(self):
        """Ranks that know different ones would wait for each other."""
        show = ("printenv", "HEDDLE_NETWORK")
        profile = self.file("profile", f"machine {machine_name()}\nnetwork between.latency 4e-6\nnetwork ports 2\n")
        told = "between.latency=4e-6,ports=2"
        mine = ("-env", "HEDDLE_NETWORK")
        for arguments, own, expected in ((show, "ports=3", "ports=3"),
                                         (show, "profile", told),
                                         (("-genv", "HEDDLE_NETWORK", "profile", *show), "off", told),
                                         ((*mine, "profile", *show, ":", *mine, "profile", *show), "off", told),
                                         ((*mine, "off", *show), "profile", "off")):
            with self.subTest(arguments, own=own):
                done = self.mpiexec("-hosts", "a,b", *arguments, variables={"HEDDLE_NETWORK": own, "HEDDLE_PROFILE": str(profile)})
                self.assertEqual((done.code, done.err, set(done.out.split())), (0, "", {expected}))
        done = self.mpiexec("-hosts", "a,b", *mine, "ports=2", *show, ":", *show, variables={"HEDDLE_NETWORK": "ports=3"})
        self.assertEqual((done.code, done.err.count("not the same for all programs"), set(done.out.split())), (0, 1, {"off"}))

    def test_host_files(self):
        path = self.file("hosts", "# two forms\n\na:2   # MPICH's\n  b slots=1 # Open MPI's\r\nc\r\n[::1]:2")
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
        self.assert_fails(self.mpiexec("-f", "/dev/zero", "true"), 2, "the host file '/dev/zero' has more than 16 MiB")

    def test_bad_lists(self):
        for text, problem in (("a:0,b:0", "'a' has '0' slots"), ("a,,b", "'' is no name of a host"), ("", "'' is no name of a host"),
                              ("-x", "'-x' is no name"), ("a b", "'a b' is no name"), ("a:2:3,b:x", "'b' has 'x' slots"),
                              ("[::1]x2", "'[::1]x2' is no host"), ("[::1", "'[::1' is no name of a host"), ("[a:4", "'[a' is no name of a host")):
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

    def test_a_shell_that_passes_no_input_on(self):
        for script in ('exec sh -c "$*" < /dev/null', 'true | sh -c "$*"'):
            self.refused("nothing comes from mpiexec: the remote shell has to pass its standard input on (ssh without -n or -f)",
                         shell=self.remote_shell("no-input", script))

    def test_an_input_that_cannot_be_awaited(self):
        """Of a file it is said above what is wrong; anything else is told as it is."""
        chain = [select.epoll()]
        for _ in range(4):  # one more is one too many for the kernel
            chain.append(select.epoll())
            chain[-1].register(chain[-2].fileno())
        done = mpiexec("--node", stdin=chain[-1].fileno())
        self.assert_fails(done, 1, "cannot wait for descriptor ", "Too many levels of symbolic links")
        self.assertNotIn("nothing comes from mpiexec", done.err)

    def test_a_shell_that_leaves_somebody_behind(self):
        """As an ssh does that stays for the next connection; it may hold the output, which must not keep mpiexec waiting."""
        start = time.monotonic()
        done = self.mpiexec("-hosts", "a,b", "-n", 2, "echo", "x",
                            shell=self.remote_shell("stays", f'sh -c "$*"; sleep 1000 & echo $! >> {self.directory}/pids; exit 0'))
        self.assert_all_gone(self.pids_in("pids", 2))
        self.assertEqual((done.code, done.out), (0, "x\nx\n"))
        self.assertLess(time.monotonic() - start, 5)

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
            other = self.file("mpiexec", f"#!/bin/sh\nprintf '\\nheddle-node-hello protocol=3 version={version}\\n{said}'\nexec cat >/dev/null\n", 0o755)
            done = self.refused("host 'a' (rank 0): ", arguments=("-hosts", "a", "--remote-mpiexec", other), variables={"HEDDLE_DETECTION_TIME": "1"})
            self.assertNotIn("this mpiexec is", done.err)  # its hello was taken

    def test_what_a_node_says_of_others_is_not_believed(self):
        version = mpiexec("--version").out.split()[-1]
        ready, started, ended, output, waits, aborted, left, phase = 11, 13, 14, 15, 18, 20, 23, 29
        for kind, fields in ((started, "=ii 5 1"), (started, "=ii -1 1"), (ended, "=iiii 5 0 1 1"), (output, "=iiii 0 5 0 0"), (output, "=iii 2 0 0"),
                             (output, "=iii 0 0 9"), (waits, "=i 1"), (aborted, "=ii 1 3"), (left, "=i -1"), (phase, "=ii 1 1"), (phase, "=ii 0 4"), (ready, "=")):
            other = self.file("mpiexec", f"""#!{PYTHON}
import struct, sys
layout, *numbers = "{fields}".split()
fields = struct.pack(layout, *map(int, numbers))
frame = lambda kind, fields: struct.pack("<IB3x", len(fields), kind) + fields
sys.stdout.buffer.write(b"\\nheddle-node-hello protocol=3 version={version}\\n" + frame({ready}, b"") + frame({kind}, fields))
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


if __name__ == "__main__":
    unittest.main()
