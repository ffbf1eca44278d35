"""Ends what a run left when the process that would have ended it is dead: by the run's marks."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterable

# Until killed processes are gone, and those that they forked meanwhile; 20 s in all.
_ROUND_S = 0.02
_MOST_ROUNDS = 1000


def kill_found(find: Callable[[], Iterable[int]]) -> None:
    """Kill the processes that `find` yields, until it yields none."""
    for _ in range(_MOST_ROUNDS):
        found = False
        for pid in find():
            found = True
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return
        threading.Event().wait(_ROUND_S)
