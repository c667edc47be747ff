#!/usr/bin/env python3
"""install.py BUILD: what `cmake --install` gives is complete, may be moved, and is found by FindMPI and pkg-config."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

build = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(client LANGUAGES C CXX)
find_package(MPI 5.0 REQUIRED COMPONENTS C CXX)
message(STATUS "C ${MPI_C_VERSION} CXX ${MPI_CXX_VERSION} exec ${MPIEXEC_EXECUTABLE}")
add_executable(in_c client.c)
target_link_libraries(in_c PRIVATE MPI::MPI_C)
add_executable(in_cxx client.cpp)
target_link_libraries(in_cxx PRIVATE MPI::MPI_CXX)
"""
CLIENT = "#include <mpi.h>\nint main(int c, char** v) { int n = 0; MPI_Init(&c, &v); " \
         "MPI_Comm_size(MPI_COMM_WORLD, &n); MPI_Finalize(); return n - 1; }\n"


def run(*words, **options):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    top = pathlib.Path(folder)
    run("cmake", "--install", build, "--prefix", top / "first")
    # Nothing in it may remember where it was installed.
    (top / "first").rename(top / "moved")
    prefix = top / "moved"
    libdir = next(p.parent for p in prefix.rglob("libmpi_abi.so.1"))
    wanted = [f"bin/{n}" for n in ("mpicc", "mpicxx", "mpiexec", "mpirun", "heddle")] + ["include/mpi.h", "include/portals4.h"]
    wanted += [str((libdir / n).relative_to(prefix))
               for n in ("libmpi_abi.so.1", "libmpi_abi.so", "libportals.so.4", "libportals.so", "pkgconfig/mpi-c.pc")]
    absent = [n for n in wanted if not (prefix / n).exists()]
    if absent:
        sys.exit(f"not installed: {absent}")
    dynamic = run("readelf", "-d", libdir / "libmpi_abi.so.1")
    if "[libmpi_abi.so.1]" not in dynamic:
        sys.exit(f"the library's name or needs are wrong:\n{dynamic}")

    print(run(sys.executable, HERE / "wrappers.py", prefix), end="")

    for name in ("client.c", "client.cpp"):
        (top / name).write_text(CLIENT)
    (top / "CMakeLists.txt").write_text(PROJECT)
    # A sanitized build's programs need the sanitizer at their link too, a flag that FindMPI does not carry over.
    sanitizer = [word for word in run(prefix / "bin/mpicc", "--showme:compile").split() if word.startswith("-fsanitize")]
    environment = {**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}", "LDFLAGS": " ".join(sanitizer)}
    print("\n".join(line for line in run("cmake", "-S", top, "-B", top / "build", env=environment).splitlines()
                    if "MPI" in line or "exec" in line))
    run("cmake", "--build", top / "build", env=environment)
    for name in ("in_c", "in_cxx"):
        run(top / "build" / name)
        if str(libdir) not in run("ldd", top / "build" / name):
            sys.exit(f"{name} does not use the installed library")
    print("FindMPI: ok")

    # One line of a compiler, and mpiexec.
    run("cc", HERE.parent / "portals4/example.c", f"-I{prefix}/include", f"-L{libdir}", "-lportals", "-o", top / "portals",
        *sanitizer)
    said = run(prefix / "bin/mpiexec", "-n", 3, top / "portals", env={**os.environ, "LD_LIBRARY_PATH": str(libdir)})
    if sorted(said.split("\n")[:-1]) != [f"rank {n} of 3 got {(n + 2) % 3}" for n in range(3)]:
        sys.exit(f"the program of docs/portals.md says {said}")
    print("libportals: ok")

    if shutil.which("pkg-config"):
        flags = run("pkg-config", "--cflags", "--libs", "mpi-c",
                    env={**os.environ, "PKG_CONFIG_PATH": f"{libdir}/pkgconfig"}).split()
        run("cc", top / "client.c", "-o", top / "packaged", *flags, *sanitizer)
        run(top / "packaged")
        print("pkg-config: ok")
