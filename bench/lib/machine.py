"""What machine a bench runs on, and which of its cores."""

import datetime
import os
import pathlib
import platform
import subprocess


def core_of(cpu):
    """The identity of the physical core: its siblings share it."""
    topology = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
    try:
        return tuple((topology / name).read_text().strip() for name in ("physical_package_id", "core_id"))
    except OSError:
        return ("", str(cpu))


def bench_cpus():
    """One CPU of each physical core that we may run on."""
    chosen = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        chosen.setdefault(core_of(cpu), cpu)
    return list(chosen.values())


def field_of(path, name):
    try:
        for line in pathlib.Path(path).read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    except OSError:
        pass
    return "unknown"


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def describe(cpus):
    return {
        "cpu": field_of("/proc/cpuinfo", "model name"),
        "cores": len(cpus),
        "cpus used": cpus,
        "memory": field_of("/proc/meminfo", "MemTotal"),
        "kernel": platform.release().partition("-")[0],
        "compiler": first_line("cc", "--version"),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }
