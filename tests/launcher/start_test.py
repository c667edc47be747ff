"""What mpiexec is asked for, and how it starts it: options, environment, programs, limits."""

import os
import resource
import unittest

from harness import MPIEXEC, PYTHON, Case, Launched, mpiexec


class Options(Case):
    def test_number_of_ranks_in_every_spelling(self):
        for option in (["-n", "3"], ["-np", "3"], ["--np", "3"], ["--n", "3"], ["-c", "3"], ["--np=3"], ["-ppn", "3"]):
            with self.subTest(option):
                self.assertEqual(mpiexec(*option, "echo", "x").out, "x\n" * 3)
        self.assertEqual(mpiexec("echo", "x").out, "x\n")

    def test_several_programs(self):
        done = mpiexec("-n", 2, "sh", "-c", "echo a $PMI_RANK of $PMI_SIZE", ":", "-n", 1, "sh", "-c", "echo b $PMI_RANK of $PMI_SIZE")
        self.assertEqual(sorted(done.out.splitlines()), ["a 0 of 3", "a 1 of 3", "b 2 of 3"])

    def test_what_follows_the_program_belongs_to_it(self):
        self.assertEqual(mpiexec("-n", 1, "echo", "-n2", "-np", "4", "--help", "-x").out, "-n2 -np 4 --help -x\n")
        self.assertEqual(mpiexec("-n", 1, "--", "echo", "--", "-l").out, "-- -l\n")

    def test_an_unknown_option_names_the_nearest(self):
        for wrong, right in (("--bindto", "--bind-to"), ("-bind-too", "--bind-to"), ("--oversubcribe", "--oversubscribe"),
                             ("-nn", "-n"), ("--genvv", "--genv"), ("--tag_output", "--tag-output"), ("--hlep", "--help")):
            with self.subTest(wrong):
                done = mpiexec(wrong, "4", "true")
                self.assert_fails(done, 2, f"unknown option '{wrong}'; did you mean '{right}'?")
                self.assertEqual(done.err.count("\n"), 1)

    def test_nothing_near_is_no_suggestion(self):
        self.assert_fails(mpiexec("--frobnicate", "true"), 2, "unknown option '--frobnicate' (mpiexec --help lists all)")

    def test_bad_numbers(self):
        for number in ("0", "x", "-1", "", "1.5", "2 ", "+3", "99999999999999999999", "2000000"):
            with self.subTest(number):
                self.assert_fails(mpiexec("-n", number, "true"), 2, f"-n needs a number of at least 1, not '{number}'")
        self.assert_fails(mpiexec("-n", "1000000", "true", ":", "-n", "1000000", "true"), 2, "more than 1048576 ranks")

    def test_something_missing(self):
        self.assert_fails(mpiexec(), 2, "no program to start")
        self.assert_fails(mpiexec("-n", 2), 2, "no program to start")
        self.assert_fails(mpiexec("-n", 2, "true", ":"), 2, "no program to start after ':'")
        self.assert_fails(mpiexec(":", "true"), 2, "no program to start")
        self.assert_fails(mpiexec("-n"), 2, "-n needs N")
        self.assert_fails(mpiexec("-env", "A"), 2, "--env needs VAR VALUE")

    def test_bad_units(self):
        self.assert_fails(mpiexec("--bind-to", "sockets", "true"), 2, "--bind-to does not know 'sockets'; did you mean 'socket'?")
        self.assert_fails(mpiexec("-map-by", "ppr:2:node", "true"), 2, "--map-by does not know 'ppr:2:node'", "core, slot, socket")

    def test_accepted_for_other_launchers_sake(self):
        done = mpiexec("--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", "-mca", "a", "b", "-n", 2, "echo", "x")
        self.assertEqual((done.code, done.out), (0, "x\nx\n"))
        self.assertEqual(done.err, "mpiexec: --mca is Open MPI's and has no meaning here; ignored\n")

    def test_error_handler_and_memory_of_one_program(self):
        show = ("sh", "-c", "echo ${HEDDLE_INITIAL_ERRHANDLER-none}")
        done = mpiexec("-initial-errhandler", "MPI_Errors_Return", *show, ":", "-memory-alloc-kinds", "system, mpi:win_allocate:alloc_mem,", *show)
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(sorted(done.out.splitlines()), ["mpi_errors_return", "none"])
        self.assert_fails(mpiexec("--initial-errhandler", "mpi_errors_retrun", "true"), 2,
                          "-initial-errhandler does not know 'mpi_errors_retrun'; did you mean 'mpi_errors_return'?")
        done = mpiexec("-memory-alloc-kinds", "mpi,cuda:device", "true")
        self.assertEqual((done.code, done.err), (0, "mpiexec: -memory-alloc-kinds: there is no support for 'cuda:device'; the program is told: system,mpi\n"))

    def test_soft_numbers_of_ranks(self):
        for number, soft, ranks in (("5", "1:9:2", 5), ("4", "1:9:2", 3), ("3", "7,2", 2), ("6", "9:0:-4", 5), ("3", "0:2,3:1", 2),
                                    ("4", "2,2147483647", 2), ("4", "-2,3", 3), ("4", "-5:100000:4", 3), ("4", "2147483647:-2147483648:-1", 4),
                                    ("4", "-2147483648:2147483647", 4), ("9", "-2147483640:2147483647:2147483647", 7)):
            with self.subTest(soft):
                self.assertEqual(mpiexec("-soft", soft, "-n", number, "echo", "x").out, "x\n" * ranks)
        self.assert_fails(mpiexec("-n", 2, "-soft", "3:9", "true"), 2, "-soft 3:9 has no number of ranks from 1 to 2")
        self.assert_fails(mpiexec("-n", 2, "-soft", "-7:0,100000", "true"), 2, "-soft -7:0,100000 has no number of ranks from 1 to ")
        for wrong in ("", "x", "1:", "1:2:0", "1:2:3:4", ",", "1,,2", "1,", "1:2147483648"):
            with self.subTest(wrong):
                self.assert_fails(mpiexec("-n", 2, "-soft", wrong, "true"), 2, "-soft")

    def test_architecture_and_file(self):
        machine = os.uname().machine
        self.assertEqual(mpiexec("-arch", machine, "echo", "x").out, "x\n")
        self.assert_fails(mpiexec("-arch", "sparc", "true"), 2, "-arch 'sparc'", f"like this one, which is '{machine}'")
        self.assert_fails(mpiexec("-file", "x", "true"), 2, "-file 'x' is not supported", "-configfile")

    def test_programs_from_a_file(self):
        show = "sh -c 'echo $0 $PMI_RANK of $PMI_SIZE in $PWD'"
        path = self.file("programs", f"# three ranks\n\n-n 2 \\\n  -wdir / {show} \"a b\"\n  # c\\ d\n".replace("  # c", f"{show} c"))
        done = mpiexec("-l", "-configfile", path, cwd="/")
        self.assertEqual(sorted(done.out.splitlines()), ["[0] a b 0 of 3 in /", "[1] a b 1 of 3 in /", "[2] c d 2 of 3 in /"])
        words = self.file("words", "")
        words.write_bytes(rb"""printf "%s\n" 'a\b' a\\b "a\b \"\\\$\`" \" """ + b"\\\r\n  last\\\\\r\n")
        self.assertEqual(mpiexec("-configfile", words).out, 'a\\b\na\\b\na\\b "\\$`\n"\nlast\\\n')
        self.assert_fails(mpiexec("-n", 2, "-configfile", path), 2, "-configfile stands for all programs")
        self.assert_fails(mpiexec("-configfile", path, "-configfile", "x"), 2, "a second -configfile: 'x'")
        self.assert_fails(mpiexec("-configfile", "/dev/zero"), 2, "the file '/dev/zero' has more than 16 MiB")
        self.assert_fails(mpiexec("-configfile", path, "true"), 2, "-configfile stands for all programs")
        self.assert_fails(mpiexec("-configfile", "/no/such"), 2, "cannot read the file '/no/such': No such file")
        for text, message in (("# nothing\n", "there is no program in the file"), ("-n 2 \\\n", "the last line of"), ("true \\", "the last line of"),
                              ("sh 'x\n", "a quote ' is not closed"), ("-configfile y\n", "names another -configfile"),
                              ("-n x true\n", "-n needs a number"), ("true : : true\n", "no program to start after ':'")):
            with self.subTest(text):
                self.assert_fails(mpiexec("-configfile", self.file("wrong", text)), 2, message)

    def test_help_and_version(self):
        for option in ("--help", "-help", "-h"):
            done = mpiexec(option)
            self.assertEqual(done.code, 0)
            for name in ("-n, -np", "--wdir", "--env", "--genv", "-x VAR", "--tag-output", "--bind-to", "--map-by", "--ppn",
                         "--oversubscribe", "--allow-run-as-root", "--mca", "--help", "--version"):
                self.assertIn(name, done.out)
        self.assertRegex(mpiexec("--version").out, r"^mpiexec \(Heddle\) \d+\.\d+\.\d+\n$")
        self.assertEqual(mpiexec("--version", launcher=os.path.join(os.path.dirname(MPIEXEC), "mpirun")).code, 0)

    def test_binding_stays_inside_the_inherited_cpus(self):
        mine = sorted(os.sched_getaffinity(0))
        show = (PYTHON, "-c", "import os; print(*os.sched_getaffinity(0))")
        done = mpiexec("-n", 1, "--bind-to", "hwthread", *show, preexec_fn=lambda: os.sched_setaffinity(0, {mine[-1]}))
        self.assertEqual(done.out, f"{mine[-1]}\n")
        done = mpiexec("-l", "-n", len(mine), "--bind-to", "hwthread", "--map-by", "hwthread", *show)
        self.assertEqual(sorted(int(l.split()[1]) for l in done.out.splitlines()), mine)
        done = mpiexec("-n", len(mine) + 1, "--bind-to", "hwthread", "touch", self.directory / "started")
        self.assert_fails(done, 2, f"{len(mine) + 1} ranks to bind, and only {len(mine)} hardware thread(s)")
        self.assertFalse((self.directory / "started").exists())
        self.assertEqual(mpiexec("-n", len(mine) + 1, "--bind-to", "core", "--oversubscribe", "true").code, 0)


class Environment(Case):
    def lines(self, *args, **options):
        return sorted(mpiexec(*args, **options).out.splitlines())

    def test_for_all_and_for_one(self):
        show = ("sh", "-c", "echo $PMI_RANK A=$A B=$B C=$C")
        self.assertEqual(self.lines("-genv", "A", "1", "-n", 1, "-env", "B", "two words", *show, ":", "-env", "A", "9", "-x", "C=x=y", *show),
                         ["0 A=1 B=two words C=x=y", "1 A=9 B= C=x=y"])

    def test_passing_on(self):
        done = mpiexec("-x", "GIVEN", "-x", "NOT_GIVEN", "sh", "-c", "echo $GIVEN", env={**os.environ, "GIVEN": "here"})
        self.assertEqual((done.code, done.out), (0, "here\n"))
        self.assertEqual(done.err, "mpiexec: -x NOT_GIVEN: there is no such variable in the environment\n")

    def test_bad_names(self):
        self.assert_fails(mpiexec("-env", "A=B", "C", "true"), 2, "-env needs the name of a variable, not 'A=B'")
        self.assert_fails(mpiexec("-x", "=B", "true"), 2, "-x needs the name of a variable, not ''")

    def test_nothing_of_another_launcher(self):
        stale = {"PMI_RANK": "77", "PMI_PORT": "x:1", "PMI_ID": "3", "PMIX_RANK": "5", "PMI2_THING": "y", "HEDDLE_LOCAL_RANK": "8"}
        done = mpiexec("env", env={**os.environ, **stale})
        names = dict(l.split("=", 1) for l in done.out.splitlines() if "=" in l)
        self.assertEqual(sorted(n for n in names if n.startswith("PMI")), ["PMI_FD", "PMI_RANK", "PMI_SIZE"])
        self.assertEqual((names["PMI_RANK"], names["HEDDLE_LOCAL_RANK"]), ("0", "0"))

    def test_no_restartable_sequences_where_ranks_outnumber_cores(self):
        cpus = len(os.sched_getaffinity(0))
        show = ("sh", "-c", "echo x$GLIBC_TUNABLES")
        own = {n: v for n, v in os.environ.items() if n != "GLIBC_TUNABLES"}
        for ranks, said, seen in ((cpus, None, ""), (cpus + 1, None, "glibc.pthread.rseq=0"), (cpus + 1, "a.b=1", "a.b=1:glibc.pthread.rseq=0"),
                                  (cpus + 1, "glibc.pthread.rseq=1", "glibc.pthread.rseq=1")):
            with self.subTest(ranks=ranks, said=said):
                env = own if said is None else {**own, "GLIBC_TUNABLES": said}
                self.assertEqual(self.lines("-n", ranks, *show, env=env), [f"x{seen}"] * ranks)

    def test_facts_of_the_node(self):
        cpus = len(os.sched_getaffinity(0))
        show = ("sh", "-c", "echo $HEDDLE_LOCAL_RANK $HEDDLE_LOCAL_SIZE $HEDDLE_NODE_CORES $MPI_LOCALRANKID")
        self.assertEqual(self.lines("-n", 2, "--bind-to", "core", "--oversubscribe", *show), [f"0 2 {cpus} 0", f"1 2 {cpus} 1"])
        done = Launched("sh", "-c", "echo $HEDDLE_LAUNCHER_PID")
        self.assertEqual(int(done.finish().out), done.pid)

    def test_directory(self):
        self.assertEqual(self.lines("-wdir", self.directory, "pwd", ":", "pwd", cwd="/"), ["/", str(self.directory)])
        self.file("here", "#!/bin/sh\necho found\n", 0o755)
        self.assertEqual(mpiexec("--wdir", self.directory, "./here").out, "found\n")
        self.assertEqual(mpiexec("--wdir", self.directory, "here").out, "found\n")
        self.assert_fails(mpiexec("-wdir", "/no/such", "true"), 2, "cannot run in the directory '/no/such': No such file or directory")
        self.assert_fails(mpiexec("-wdir", "/etc/passwd", "true"), 2, "Not a directory")


class Programs(Case):
    def test_what_cannot_be_started(self):
        plain = self.file("plain", "not a program\n")
        for program, code, message in (("/no/such/program", 127, "there is no program '/no/such/program'"),
                                       ("no-such-program", 127, "neither in PATH nor in the directory of the job"),
                                       (self.directory, 126, "is a directory, not a program"),
                                       (plain, 126, "is not executable"),
                                       (f"{plain}/x", 127, "Not a directory"),
                                       ("", 2, "the name of the program is empty")):
            with self.subTest(program):
                done = mpiexec("-n", 4, program)
                self.assert_fails(done, code, message)
                self.assertEqual(done.err.count("\n"), 1)

    def test_nothing_is_started_when_one_is_missing(self):
        self.assert_fails(mpiexec("-n", 2, "touch", self.directory / "started", ":", "no-such-program"), 127, "no-such-program")
        self.assertFalse((self.directory / "started").exists())

    def test_a_missing_interpreter(self):
        script = self.file("script", "#!/no/such/shell\n", 0o755)
        self.assert_fails(mpiexec("-n", 2, script), 127, "cannot start rank 0", "interpreter")

    def test_a_script_without_a_first_line(self):
        script = self.file("script", 'echo "$1-$PMI_RANK"\n', 0o755)
        self.assertEqual(sorted(mpiexec("-n", 2, script, "arg").out.splitlines()), ["arg-0", "arg-1"])

    def test_found_in_path(self):
        self.file("heddle-test-program", "#!/bin/sh\necho found\n", 0o755)
        path = f"/no/such:{self.directory}:{os.environ['PATH']}"
        self.assertEqual(mpiexec("heddle-test-program", env={**os.environ, "PATH": path}).out, "found\n")

    def test_found_where_path_says(self):
        (self.directory / "bin").mkdir()
        self.file("bin/true", "#!/bin/sh\necho another\n", 0o755)
        self.assertEqual(mpiexec("-path", f"/no/such:{self.directory}/bin", "true").out, "another\n")
        self.assertEqual(mpiexec("-path", "bin", "-wdir", self.directory, "true", cwd="/").out, "another\n")
        self.assert_fails(mpiexec("-path", "/no/such", "true"), 127, "there is no program 'true' in -path '/no/such'")
        self.assertEqual(mpiexec("-path", "/no/such", "/bin/echo", "x").out, "x\n")


class Limits(Case):
    def test_sixty_four_ranks_start_and_end(self):
        for _ in range(5):
            self.assertEqual(mpiexec("-n", 64, "true").code, 0)

    def test_sixty_four_ranks_with_few_descriptors(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

        done = mpiexec("-n", 64, "sh", "-c", "ulimit -n", preexec_fn=few)
        self.assertEqual((done.code, done.out), (0, "256\n" * 64))
        done = mpiexec("-n", 200, "touch", self.directory / "started", preexec_fn=few)
        self.assert_fails(done, 2, "200 ranks need 632 open files in mpiexec, and the limit is 256", "ulimit")
        self.assertFalse((self.directory / "started").exists())

    def test_a_soft_limit_is_raised_for_mpiexec_only(self):
        done = mpiexec("-n", 64, "sh", "-c", "ulimit -n", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096)))
        self.assertEqual((done.code, done.out), (0, "64\n" * 64))

    def test_ranks_inherit_no_descriptors(self):
        done = mpiexec("-n", 3, PYTHON, "-c", "import os; print(len(os.listdir('/proc/self/fd')))")
        # 0, 1, 2, PMI, the shared memory, and the listing itself
        self.assertEqual(done.out, "6\n" * 3)


if __name__ == "__main__":
    unittest.main()
