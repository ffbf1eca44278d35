"""Which processes are below a process, on Linux; elsewhere nobody is found.

Ansible's workers, async jobs and daemons start sessions of their own, so a process group does not hold
them. Both ways of running put a *subreaper* above a run: whatever is abandoned below it stays below it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Collection
from pathlib import Path

# Who forks in a loop is stopped in some rounds; the bound only keeps a bug here from spinning.
_MOST_ROUNDS = 1000


def children_of(pid: int) -> list[int]:
    """Direct children, zombies included; empty when the process is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                text = (thread / "children").read_text()
                found += [int(word) for word in text.split()]
    return found


def descendants_of(pid: int, spared: Collection[int] = ()) -> list[int]:
    """Everything below a process, nearest first; without the spared ones and what is below these."""
    found: list[int] = []
    waiting = _below(pid, spared)
    while waiting:
        found += waiting
        waiting = [child for parent in waiting for child in _below(parent, spared)]
    return found


def freeze_below(pid: int) -> None:
    """Stop everything below a process, not itself. What is stopped forks nothing more."""
    stopped: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        new = [child for child in descendants_of(pid) if child not in stopped]
        if not new:
            return
        for child in new:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGSTOP)
        stopped.update(new)


def _below(pid: int, spared: Collection[int]) -> list[int]:
    return [child for child in children_of(pid) if child not in spared]
