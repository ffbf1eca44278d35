"""How many runs this machine can carry, from what the cgroup really grants.

A container sees all CPUs and all memory of its node, whatever its limits are; an engine that
believes them starts thirty plays on half a CPU and is killed. So the limits of the own cgroup and of
all its ancestors are read, version 2 and version 1 alike, and the smallest counts. In a container the
paths of `/proc/self/cgroup` may be those of the host, which are not mounted: the mount's root is then
the own one.

Where nothing limits, the affinity mask and the machine's memory do.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024
# What a run in flight was budgeted at: private memory of a warm child, or a whole cold process.
WARM_RUN_BYTES = 25 * MIB
STOCK_RUN_BYTES = 170 * MIB
# The engine, the warm host and room to breathe, before the first run.
ENGINE_BYTES = 160 * MIB
# Runs wait for the API server about as long as they compute, and roles that wait for pods hold a
# place for minutes; fewer would leave CPUs idle, more would only make all runs slower.
RUNS_PER_CPU = 4
# A run that waits for pods asks for them every few seconds, which takes some milliseconds of a CPU.
WAITING_PER_CPU = 50
# Descriptors that a run takes of the engine: its pipes, files and connections; and what the engine has.
FILES_PER_RUN = 12
ENGINE_FILES = 200
_FILES_LIMIT = "Max open files"
# Version 1 says "no limit" with the largest multiple of a page that fits 63 bits.
NO_LIMIT_ABOVE = 1 << 60


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the process may use."""

    cpus: float
    memory_bytes: int
    files: int = NO_LIMIT_ABOVE  # descriptors that this process may have


def runs_within(capacity: Capacity, run_bytes: int) -> int:
    """How many runs may be in flight at once; at least one."""
    by_cpu = math.ceil(capacity.cpus * RUNS_PER_CPU)
    by_memory = (capacity.memory_bytes - ENGINE_BYTES) // run_bytes
    return max(1, min(by_cpu, by_memory))


def waiting_within(capacity: Capacity, max_runs: int, run_bytes: int) -> int:
    """How many runs may wait beside those that compute: what is left of memory, and not too many."""
    by_cpu = math.ceil(capacity.cpus * WAITING_PER_CPU)
    by_memory = (capacity.memory_bytes - ENGINE_BYTES) // run_bytes - max_runs
    by_files = (capacity.files - ENGINE_FILES) // FILES_PER_RUN - max_runs
    return max(0, min(by_cpu, by_memory, by_files))


def read_capacity(
    cgroup_root: Path = Path("/sys/fs/cgroup"), proc: Path = Path("/proc")
) -> Capacity:
    """What cgroup, affinity and machine grant, the smallest of each."""
    cpus: list[float] = [_usable_cpus()]
    memory = [_machine_memory(proc)]
    for folder in _folders(cgroup_root, proc):
        cpus += _cpu_limits(folder)
        memory += _memory_limits(folder)
    return Capacity(min(cpus), min(memory), _usable_files(proc))


def _folders(cgroup_root: Path, proc: Path) -> Iterator[Path]:
    """Every folder that may limit us: own cgroups and ancestors, of both versions."""
    for line in _lines(proc / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        for mount in _mounts(cgroup_root, controllers):
            place = mount / path.strip("/")
            yield from (place, *(up for up in place.parents if up.is_relative_to(mount)))


def _mounts(cgroup_root: Path, controllers: str) -> list[Path]:
    if not controllers:
        return [cgroup_root, cgroup_root / "unified"]
    wanted = {"cpu", "memory"} & set(controllers.split(","))
    return [cgroup_root / name for name in (*sorted(wanted), controllers)] if wanted else []


def _cpu_limits(folder: Path) -> list[float]:
    quota, period = "", ""
    if v2 := _text(folder / "cpu.max"):
        quota, _, period = v2.partition(" ")
    elif v1 := _text(folder / "cpu.cfs_quota_us"):
        quota, period = v1, _text(folder / "cpu.cfs_period_us")
    if quota.isdigit() and period.isdigit() and int(quota) > 0 and int(period) > 0:
        return [int(quota) / int(period)]
    return []


def _memory_limits(folder: Path) -> list[int]:
    limit = _text(folder / "memory.max") or _text(folder / "memory.limit_in_bytes")
    return [int(limit)] if limit.isdigit() and int(limit) < NO_LIMIT_ABOVE else []


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS, where people try their roles
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _usable_files(proc: Path) -> int:
    for line in _lines(proc / "self" / "limits"):
        if line.startswith(_FILES_LIMIT):
            soft = line.removeprefix(_FILES_LIMIT).split()[0]
            return int(soft) if soft.isdigit() else NO_LIMIT_ABOVE
    return NO_LIMIT_ABOVE


def _machine_memory(proc: Path) -> int:
    for line in _lines(proc / "meminfo"):
        name, _, rest = line.partition(":")
        if name == "MemTotal":
            return int(rest.split()[0]) * 1024
    return NO_LIMIT_ABOVE


def _lines(file: Path) -> list[str]:
    return _text(file).splitlines()


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
