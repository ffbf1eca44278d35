"""What run children leave behind: background jobs, which stay, and what a killed run could not end.

The parent of such a process no longer shows whose it is, since it is us by then; its marks do.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from rolecall_base import processes
from rolecall_base.marks import MarkedRun
from rolecall_base.processes import children_of


def end_leftovers(
    ended: Collection[MarkedRun], killed: Collection[MarkedRun], spared: set[int]
) -> set[int]:
    """End what killed runs left; returns what others left on purpose.

    `ended`: runs that ended since the last look, killed ones included. `spared`: other runs' processes.
    """
    if not killed:
        return set(children_of(os.getpid())) - spared
    kept: set[int] = set()
    if len(killed) < len(ended):
        left = set(children_of(os.getpid())) - spared
        kept = {pid for pid in left if not any(run.owns(pid) for run in killed)}
    processes.kill_below(os.getpid(), spared | kept)
    return kept
