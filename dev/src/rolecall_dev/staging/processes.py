"""Finds and kills the processes of an engine, by descent from the one that we started.

Runs are known by the name that they give themselves (`rolecall-run`). A process is stopped before its
children are read, so that none is born meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

_RUN = "rolecall-run"
_WAIT_THEN_END = 'while read -r _; do :; done; kill -s TERM "$1"'


def start_guard(pid: int) -> subprocess.Popen[bytes]:
    """From now on the process ends with us, however we end; `dismiss` the guard when it has ended.

    The guard waits at the end of a pipe whose other end only we hold.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", _WAIT_THEN_END, "guard", str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def dismiss(guard: subprocess.Popen[bytes]) -> None:
    """Before the number of the process that it would end may be another's."""
    assert guard.stdin is not None, "a guard is always started with a pipe"
    guard.kill()
    guard.stdin.close()
    guard.wait()


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(word) for word in (thread / "children").read_text().split()]
    return found


def runs_below(pid: int) -> list[int]:
    """The first of each run's processes."""
    found = []
    for child in children_of(pid):
        found += [child] if _name_of(child) == _RUN else runs_below(child)
    return found


def kill_whole(pid: int) -> None:
    """Kill a process and all below it."""
    _send(pid, signal.SIGSTOP)
    for child in children_of(pid):
        kill_whole(child)
    _send(pid, signal.SIGKILL)


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
