"""Whether the engine that began a run still lives: a run of one that was killed never says its end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from rolecall.history.run import Process


def this_process() -> Process:
    return Process(socket.gethostname(), os.getpid(), _began(os.getpid()))


def is_gone(process: Process) -> bool | None:
    """Whether it lives no more. None: unknown, since it is a process of another machine."""
    if not process.pid or process.host != socket.gethostname():
        return None
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # another user's, so it lives
    return _began(process.pid) != process.began


def _began(pid: int) -> str:
    """When a process began, in ticks since the machine did; empty where the system does not say."""
    try:
        # After the name in brackets, which may hold anything: the 20th field from there.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
