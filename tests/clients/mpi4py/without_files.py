"""without_files.py MAIN [ARGUMENT...]: mpi4py's main.py, over an MPI that has no files yet.

test_subclass.py opens a file while it is imported, and takes only NotImplementedError for the answer that there are none;
any other error would leave out its tests of communicators, requests and windows as well. So what makes the temporary
file for that raises it, and mpi4py itself skips what is about files.
"""
import os
import runpy
import sys
import tempfile

make = tempfile.mkstemp


def mkstemp(suffix=None, prefix=None, **others):
    if prefix == "mpi4py":  # the other modules' have more
        raise NotImplementedError
    return make(suffix, prefix, **others)


tempfile.mkstemp = mkstemp
del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
