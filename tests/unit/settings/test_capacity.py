"""How many runs fit, from cgroup files as they look in containers and on machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.settings import (
    STOCK_RUN_BYTES,
    WARM_RUN_BYTES,
    Capacity,
    read_capacity,
    runs_within,
    waiting_within,
)

GIB = 1024**3
MIB = 1024**2


class Machine:
    """`/proc` and `/sys/fs/cgroup` in a folder."""

    def __init__(self, root: Path, own_cgroup: str) -> None:
        self.cgroups, self.proc = root / "cgroup", root / "proc"
        (self.proc / "self").mkdir(parents=True)
        (self.proc / "self" / "cgroup").write_text(own_cgroup)
        (self.proc / "meminfo").write_text(f"MemTotal:  {16 * GIB // 1024} kB\nMemFree: 1 kB\n")

    def write(self, file: str, text: str) -> None:
        place = self.cgroups / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")

    def read(self) -> Capacity:
        return read_capacity(self.cgroups, self.proc)


def test_version_2_limits_of_the_own_group_count(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "0::/\n")
    machine.write("cpu.max", "50000 100000")
    machine.write("memory.max", str(768 * MIB))

    assert machine.read() == Capacity(0.5, 768 * MIB)


def test_version_2_limits_of_ancestors_count_too(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "0::/pods/pod1/engine\n")
    machine.write("pods/pod1/engine/cpu.max", "max 100000")
    machine.write("pods/pod1/engine/memory.max", "max")
    machine.write("pods/pod1/cpu.max", "25000 100000")
    machine.write("pods/memory.max", str(GIB))

    assert machine.read() == Capacity(0.25, GIB)


def test_version_1_limits_count(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "4:memory:/engine\n2:cpu,cpuacct:/engine\n0::/\n")
    machine.write("cpu/engine/cpu.cfs_quota_us", "30000")
    machine.write("cpu/engine/cpu.cfs_period_us", "100000")
    machine.write("memory/engine/memory.limit_in_bytes", str(512 * MIB))

    assert machine.read() == Capacity(0.3, 512 * MIB)


def test_version_1_path_of_the_host_falls_back_to_the_mounts_root(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "4:memory:/kubepods/pod1/abc\n")
    machine.write("memory/memory.limit_in_bytes", str(512 * MIB))

    assert machine.read().memory_bytes == 512 * MIB


def test_without_limits_the_machine_counts(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "4:memory:/\n2:cpu:/\n")
    machine.write("cpu/cpu.cfs_quota_us", "-1")
    machine.write("cpu/cpu.cfs_period_us", "100000")
    machine.write("memory/memory.limit_in_bytes", "9223372036854771712")

    capacity = machine.read()

    assert capacity.memory_bytes == 16 * GIB
    assert capacity.cpus >= 1


def test_this_machine_grants_something() -> None:
    capacity = read_capacity()

    assert capacity.cpus > 0
    assert capacity.memory_bytes > 0


@pytest.mark.parametrize(
    ("capacity", "run_bytes", "runs"),
    [
        (Capacity(2, 16 * GIB), WARM_RUN_BYTES, 8),
        (Capacity(0.5, 768 * MIB), WARM_RUN_BYTES, 2),
        (Capacity(4, 768 * MIB), STOCK_RUN_BYTES, 3),
        (Capacity(0.1, 64 * MIB), STOCK_RUN_BYTES, 1),
    ],
)
def test_the_scarcer_of_cpu_and_memory_decides(
    capacity: Capacity, run_bytes: int, runs: int
) -> None:
    assert runs_within(capacity, run_bytes) == runs


@pytest.mark.parametrize(
    ("capacity", "waiting"),
    [
        (Capacity(2.0, 768 * MIB), 16),  # memory for 24, of which 8 may compute
        (Capacity(2.0, 256 * MIB), 0),
        (Capacity(2.0, 16 * GIB), 100),
        (Capacity(2.0, 16 * GIB, files=1024), 60),
    ],
)
def test_as_many_runs_may_wait_as_memory_files_and_cpus_allow(
    capacity: Capacity, waiting: int
) -> None:
    assert waiting_within(capacity, 8, WARM_RUN_BYTES) == waiting


def test_limit_of_open_files_counts(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "0::/\n")
    limits = "Max processes             4096       4096       processes\n"
    limits += "Max open files            1024       524288     files\n"
    (machine.proc / "self" / "limits").write_text(limits)
    assert machine.read().files == 1024
