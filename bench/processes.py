"""What a process and all below it cost: CPU seconds, memory, files. Linux only, from /proc."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """The process and everything below it."""
    found, queue = [], [pid]
    while queue:
        one = queue.pop()
        found.append(one)
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                queue += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue  # it ended while we looked
    return found


def cpu_s(pid: int) -> float:
    """User and system seconds of the family, those of ended and reaped children included."""
    return sum(sum(_times(one)) for one in family(pid)) / _TICKS


def own_cpu_s(pid: int) -> float:
    """The same of one process, without those below it."""
    return sum(_times(pid)[:2]) / _TICKS


def pss_mb(pid: int) -> float:
    """Proportional memory of the family: pages that are shared count once."""
    return sum(_rollup(one, "Pss:") for one in family(pid)) / 1024


def own_pss_mb(pid: int) -> float:
    """The same of one process, without those below it."""
    return _rollup(pid, "Pss:") / 1024


def private_mb(pid: int) -> float:
    """Memory that would come back if this one process ended."""
    return (_rollup(pid, "Private_Dirty:") + _rollup(pid, "Private_Clean:")) / 1024


def open_files(pid: int) -> int:
    """Open descriptors of the family."""
    count = 0
    for one in family(pid):
        try:
            count += sum(1 for _ in Path(f"/proc/{one}/fd").iterdir())
        except OSError:
            continue
    return count


def threads(pid: int) -> int:
    """Threads of this one process."""
    return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())


def named(pid: int, name: str) -> int:
    """The first process of the family with this name in `ps`; 0: none."""
    for one in family(pid):
        try:
            if Path(f"/proc/{one}/comm").read_text().strip() == name:
                return one
        except OSError:
            continue
    return 0


def _times(pid: int) -> list[int]:
    """User and system, its own and its reaped children's, in ticks."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [int(field) for field in fields[11:15]]


def _rollup(pid: int, key: str) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(key))
