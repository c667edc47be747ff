"""skips.py FILE PROGRAM [ARGUMENT...]: runs mpi4py's main.py; rank 0 writes the names of the tests that it skips, a line each.

A class that is skipped as a whole is a line, too. unittest's -k understands every line.
"""
import os
import re
import runpy
import sys
import unittest

_, file, *sys.argv = sys.argv
skipped = set()
add_skip = unittest.TextTestResult.addSkip
run_tests = unittest.TestProgram.runTests


def add_skip_and_note(self, test, reason):
    name = getattr(test, "test_case", test).id()  # of a subtest: its test's
    skipped.add(re.sub(r"^setUp(Class|Module) \((.*)\)$", r"\2", name))
    add_skip(self, test, reason)


def run_and_write(self):
    try:
        run_tests(self)
    finally:
        from mpi4py import MPI  # not before main.py has chosen how it starts

        if MPI.COMM_WORLD.Get_rank() == 0:
            with open(file, "w", encoding="utf-8") as out:
                out.writelines(f"{name}\n" for name in sorted(skipped))


unittest.TextTestResult.addSkip = add_skip_and_note
unittest.TestProgram.runTests = run_and_write
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
