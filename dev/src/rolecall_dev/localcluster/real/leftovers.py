"""What a real cluster has outside of its enclosure and its folder, and how it goes.

Three things: the link (which vanishes by itself, a moment later), folders of cgroups, and the empty
folders with fixed names, which the last cluster of the machine takes along.
"""

from __future__ import annotations

import os
from contextlib import suppress

from rolecall.errors import ClusterError
from rolecall_dev.localcluster import processes
from rolecall_dev.localcluster.layout import Layout
from rolecall_dev.localcluster.real.cgroups import Cgroups
from rolecall_dev.localcluster.real.enclosure import ENCLOSURE, FIXED_FOLDERS, MARK
from rolecall_dev.localcluster.real.network import part
from rolecall_dev.localcluster.real.plan import Plan
from rolecall_dev.localcluster.waiting import attempts

_EMPTY_S = 10.0  # the kernel empties a cgroup when the last process has been buried


def remove_leftovers(layout: Layout) -> None:
    """After every process of the cluster was ended; a simulated one has none."""
    number = read_number(layout)
    if number is not None:
        plan = Plan(number)
        part(plan)
        _remove_cgroups(plan)
    if os.geteuid() == 0 and _is_last():
        _remove_fixed_folders()


def write_number(layout: Layout, number: int) -> None:
    """Remember it from the moment on when there is something to remove."""
    (layout.folder / "number").write_text(str(number))


def read_number(layout: Layout) -> int | None:
    """Which number the cluster took, also when its start was interrupted."""
    try:
        return int((layout.folder / "number").read_text())
    except (OSError, ValueError):
        return None


def _remove_cgroups(plan: Plan) -> None:
    if not any(Cgroups().remove(plan.cgroup) for _ in attempts(_EMPTY_S)):
        raise ClusterError(f"cgroup `{plan.cgroup}` still has processes in it")


def _is_last() -> bool:
    """Whether folders were made, and no other real cluster has something mounted there."""
    is_marked = any((folder / MARK).exists() for folder in FIXED_FOLDERS)
    return is_marked and all(one.component != ENCLOSURE for one in processes.find(None))


def _remove_fixed_folders() -> None:
    for folder in FIXED_FOLDERS:
        if (folder / MARK).exists():
            (folder / MARK).unlink()
            with suppress(OSError):  # somebody put something there
                folder.rmdir()
