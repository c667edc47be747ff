#!/usr/bin/env python3
"""wrappers.py PREFIX: mpicc, mpicxx and heddle of a build tree or an installation do what they are asked."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

prefix = pathlib.Path(sys.argv[1]).resolve()
BIN = prefix / "bin"
C = "#include <mpi.h>\n#include <stdio.h>\nint main(int c, char** v) { int n = 0; MPI_Init(&c, &v);" \
    " MPI_Comm_size(MPI_COMM_WORLD, &n); MPI_Finalize(); printf(\"size %d\\n\", n); return 0; }\n"
failures = 0


def run(*words, cwd=None, env=None):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=cwd, timeout=60,
                          env={**os.environ, **(env or {})})


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print(f"FAILED: {what}")


def library_folder():
    words = run(BIN / "mpicc", "--showme:libdirs").stdout.split()
    expect(len(words) == 1 and pathlib.Path(words[0], "libmpi_abi.so.1").exists(), f"--showme:libdirs: {words}")
    return words[0]


def shows(name):
    wrapper = BIN / name
    libdir = library_folder()
    include = run(wrapper, "--showme:incdirs").stdout.strip()
    expect(pathlib.Path(include, "mpi.h").exists(), f"--showme:incdirs: {include}")
    link = run(wrapper, "--showme:link").stdout.split()
    expect(link[-3:] == [f"-L{libdir}", f"-Wl,-rpath,{libdir}", "-lmpi_abi"], f"--showme:link: {link}")
    compile_ = run(wrapper, "--showme:compile").stdout.split()
    expect(f"-I{include}" in compile_ and "-lmpi_abi" not in compile_, f"--showme:compile: {compile_}")
    expect(run(wrapper, "-showme:link").stdout.split() == link, "-showme:link")
    expect(run(wrapper, "--showme:libs").stdout.strip() == "mpi_abi", "--showme:libs")
    expect("Heddle" in run(wrapper, "--showme:version").stdout, "--showme:version")
    shown = shlex.split(run(wrapper, "-show", "a b.c", "-DX='q'", "-o", "x").stdout)
    expect(shown[-7:-3] == ["a b.c", "-DX='q'", "-o", "x"] and shown[-1] == "-lmpi_abi", f"-show: {shown}")
    expect(run(wrapper, "--showme", "x.c").stdout == run(wrapper, "-show", "x.c").stdout, "--showme")
    shown = shlex.split(run(wrapper, "-c", "x.c", "-show").stdout)
    expect("-lmpi_abi" not in shown and "-show" not in shown, f"-show -c: {shown}")
    expect(f"-I{include}" in run(wrapper, "-compile-info").stdout.split(), "-compile-info")
    expect("-lmpi_abi" in run(wrapper, "-link-info").stdout.split(), "-link-info")
    unknown = run(wrapper, "--showme:nonsense")
    expect(unknown.returncode != 0 and "nonsense" in unknown.stderr, "--showme:nonsense")
    nothing = run(wrapper)
    expect(nothing.returncode != 0 and "no input files" in nothing.stderr, "no arguments")
    expect("showme" in run(wrapper, "--help").stdout, "--help")


def compiles(name, suffix, option, variable):
    wrapper = BIN / name
    with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
        source = pathlib.Path(folder, "one" + suffix)
        source.write_text(C)
        done = run(wrapper, source.name, "-o", "one", cwd=folder)
        expect(done.returncode == 0 and not done.stderr, f"{name} one{suffix}: {done.stderr}")
        ran = run(f"{folder}/one", env={"LD_LIBRARY_PATH": ""})
        expect(ran.stdout == "size 1\n", f"the program says {ran.stdout!r} {ran.stderr!r}")
        done = run(wrapper, "-c", source.name, cwd=folder)
        made = pathlib.Path(folder, "one.o").exists()
        expect(done.returncode == 0 and not done.stderr and made, f"{name} -c: {done.stderr}")
        done = run(wrapper, "one.o", "-o", "two", cwd=folder)
        expect(done.returncode == 0 and run(f"{folder}/two").stdout == "size 1\n", f"{name} one.o: {done.stderr}")
        done = run(wrapper, "-E", source.name, cwd=folder)
        expect("MPI_Init" in done.stdout and not done.stderr, f"{name} -E: {done.stderr}")
        done = run(wrapper, "-S", source.name, "-o", "-", cwd=folder)
        expect("MPI_Init" in done.stdout and not done.stderr, f"{name} -S: {done.stderr}")
        version = run(wrapper, "--version", cwd=folder)
        expect(version.returncode == 0 and not version.stderr, f"{name} --version: {version.stderr}")
        broken = pathlib.Path(folder, "broken" + suffix)
        broken.write_text("int main(void) { return nothing; }\n")
        expect(run(wrapper, broken.name, cwd=folder).returncode != 0, f"{name} must fail when the compiler does")
        fake = pathlib.Path(folder, "fake")
        fake.write_text('#!/bin/sh\necho "fake $*"\n')
        fake.chmod(0o755)
        expect(run(wrapper, f"{option}=./fake", "-c", "x.c", cwd=folder).stdout.startswith("fake "), option)
        expect(run(wrapper, "-c", "x.c", cwd=folder, env={variable: "./fake"}).stdout.startswith("fake "), variable)
        # Called through a symbolic link from elsewhere it still finds its own library.
        link = pathlib.Path(folder, "elsewhere")
        link.symlink_to(wrapper)
        expect(run(link, "--showme:libdirs").stdout == run(wrapper, "--showme:libdirs").stdout, "symbolic link")


def heddle():
    tool = BIN / "heddle"
    info = run(tool, "info")
    expect(info.returncode == 0 and "MPI 5.0, ABI 1.0" in info.stdout, f"heddle info: {info.stdout}{info.stderr}")
    expect(library_folder() in info.stdout, f"heddle info names the library: {info.stdout}")
    missing = run(tool, "info", "--missing").stdout.split()
    expect(missing and all(n.startswith("MPI_") for n in missing), f"heddle info --missing: {missing[:3]}")
    dynamic = re.compile(r"MPI_(Comm_(spawn|spawn_multiple|connect|accept|join)|(Open|Close)_port|(Publish|Unpublish|Lookup)_name)")
    others = [n for n in missing if not n.startswith("MPI_File_") and not dynamic.fullmatch(n)]
    expect(not others, f"missing, but neither of files nor of dynamic processes: {others}")
    expect(f"{664 - len(missing)} of 664" in info.stdout, "the number of procedures")
    everything = run(tool, "info", "--all").stdout
    expect(missing[0] in everything and "mpicc" in everything, "heddle info --all")
    for line in ("vcis = 16", "matching = 'adaptive'", "HEDDLE_VCIS: ", "1 to 16; the default is 16", "hints, communicators or none"):
        expect(line in everything, f"heddle info --all lacks '{line}'")
    documented = (pathlib.Path(__file__).parents[2] / "docs/tools.md").read_text()
    for name in re.findall(r"^  (\w+) = ", everything, re.M):
        expect(f"| `HEDDLE_{name.upper()}` | `{name}` |" in documented, f"docs/tools.md lacks {name}")
    told = run(tool, "info", "--all", env={"HEDDLE_MATCHING": "hash", "HEDDLE_VCIS": "99", "HEDDLE_PROFILE": "/a/b"}).stdout
    expect("profile = '/a/b'" in told and "single_copy = 'auto'" in told, "heddle info --all shows texts")
    expect("matching = 'hash'" in told, "heddle info --all shows the value of the environment")
    expect("HEDDLE_VCIS='99' is not a number from 1 to 16" in told, "heddle info --all judges the environment")
    fabric = run(tool, "info", "--fabric")
    expect(fabric.returncode == 0 and " chosen" in fabric.stdout and "tcp;ofi_rxm" in fabric.stdout,
           f"heddle info --fabric: {fabric.stdout}{fabric.stderr}")
    absent = run(tool, "info", "--fabric", env={"HEDDLE_FABRIC_PROVIDER": "pigeon"})
    expect(absent.returncode == 1 and "HEDDLE_FABRIC_PROVIDER='pigeon'" in absent.stderr, f"an absent provider: {absent}")
    lost = run(tool, "info", "--fabric", env={"HEDDLE_FABRIC_LIBRARY": "/nowhere.so"})
    expect(lost.returncode == 1 and "/nowhere.so" in lost.stderr and "libfabric1" in lost.stderr, f"no library: {lost}")
    expect("heddle info" in run(tool, "--help").stdout, "heddle --help")
    for words, meant in ((["inof"], "info"), (["info", "--mising"], "--missing")):
        done = run(tool, *words)
        expect(done.returncode == 2 and f"did you mean '{meant}'" in done.stderr, f"heddle {words}: {done.stderr}")
    expect(run(tool).returncode == 2, "heddle alone")
    with tempfile.TemporaryDirectory() as prefix:
        copy, foreign = pathlib.Path(prefix, "bin/heddle"), pathlib.Path(prefix, "lib/libmpi_abi.so.1")
        for path in (copy, foreign):
            path.parent.mkdir()
        shutil.copy(tool, copy)
        run("cc", "-shared", "-x", "c", "/dev/null", "-o", foreign)
        done = run(copy, "info")
        expect(done.returncode == 1 and f"{foreign} is not Heddle's library" in done.stderr,
               f"heddle info beside another library: {done.returncode} {done.stderr}")


shows("mpicc")
shows("mpicxx")
compiles("mpicc", ".c", "-cc", "HEDDLE_CC")
compiles("mpicxx", ".cpp", "-cxx", "HEDDLE_CXX")
heddle()
print("wrappers:", "ok" if failures == 0 else f"{failures} failed")
sys.exit(1 if failures else 0)
