"""Counts which way each task went and how long it took, and reports it to the engine.

Kept in memory by the run child and sent once for each task; a forked worker, whose memory is lost,
sends what it knows at once. The engine puts both together (`RunResult.tasks_by_way`, `speed.json`).
"""

from __future__ import annotations

import os
import socket
import time
from typing import Any

from rolecall_base import processes
from rolecall_base.wire import report
from rolecall_warm.hooks.ways import Choice

# Long enough to recognise a task; a report must fit a datagram.
_LONGEST_TEXT = 300
_ORPHANED = 251


class Tally:
    """The run child's notes on its tasks; silent until it has a socket to report to."""

    def __init__(self) -> None:
        self._sock: socket.socket | None = None
        self._owner = 0
        self._task: dict[str, Any] | None = None
        self._began = 0.0

    def report_to(self, sock: socket.socket) -> None:
        """Start reporting for the run of this process."""
        self._sock, self._owner, self._task = sock, os.getpid(), None

    def task_begins(self, task: Any, choice: Choice) -> None:
        """Close the task before, open this one."""
        self.close_task()
        self._began = time.perf_counter()
        self._task = {
            "r": "task",
            "uuid": str(task._uuid),
            "task": str(task.get_name())[:_LONGEST_TEXT],
            "place": str(task.get_path())[:_LONGEST_TEXT],
            "action": str(task.action)[:_LONGEST_TEXT],
            "way": choice.way.value,
            "reason": choice.reason,
            "modules": [],
        }

    def module_ran(self, uuid: str, module: str, choice: Choice, seconds: float) -> None:
        """Note one module call of the task under way."""
        call = {
            "module": module[:_LONGEST_TEXT],
            "way": choice.way.value,
            "reason": choice.reason,
            "seconds": round(seconds, 6),
        }
        if os.getpid() != self._owner:
            self._send({"r": "module", "uuid": uuid, **call})
        elif self._task is not None and len(self._task["modules"]) < 100:
            self._task["modules"].append(call)

    def close_task(self) -> None:
        if self._task is not None and os.getpid() == self._owner:
            self._task["seconds"] = round(time.perf_counter() - self._began, 6)
            self._send(self._task)
            self._task = None

    def _send(self, message: dict[str, Any]) -> None:
        if self._sock is not None:
            try:
                report(self._sock, message)
            except OSError:
                self._sock = None
                if os.getpid() == self._owner:
                    _end_orphaned_run()


def _end_orphaned_run() -> None:
    """The engine of this run is gone, and so is the host, or we would be, too: end the run.

    The next engine runs the CR anew. Half a run is what it expects to find; two at a time are not.
    """
    processes.kill_below(os.getpid())
    os._exit(_ORPHANED)
