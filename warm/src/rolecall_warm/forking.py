"""Every fork of the host, and what makes it safe: there is one thread, whatever was imported.

A fork takes the thread along that forks, and every lock as it was; a lock that another thread held then
stays locked in the child for ever. So a host that has more than one thread serves no more. The look
costs some microseconds: the kernel shows how many threads a process has as the links of a folder.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

_TASKS = "/proc/self/task"
# Of a folder, besides its subfolders.
_OWN_LINKS = 2


class ThreadsError(Exception):
    """There are more threads than ours; the text names them."""


def fork() -> int:
    """`os.fork`, where there is one thread only."""
    check_threads()
    return os.fork()


def check_threads() -> None:
    """Raise `ThreadsError` where another thread lives."""
    links = os.stat(_TASKS).st_nlink  # noqa: PTH116 - before each fork, so without a Path
    if links > _OWN_LINKS + 1:
        raise ThreadsError(
            f"it cannot fork, because an imported module started threads: {_others()}"
        )


def _others() -> str:
    python = {thread.native_id: thread for thread in threading.enumerate()}
    named = []
    for task in sorted(Path(_TASKS).iterdir()):
        number = int(task.name)
        if number == os.getpid():
            continue
        thread = python.get(number)
        if thread is None:
            named.append(f"`{_kernels_name(task)}` of a C library")
        else:
            named.append(f"`{thread.name}` of {_file_of(thread)}")
    return ", ".join(named)


def _kernels_name(task: Path) -> str:
    try:
        return (task / "comm").read_text().strip()
    except OSError:
        return "one that has ended"


def _file_of(thread: threading.Thread) -> str:
    """The file of the function that the thread began with."""
    frame = sys._current_frames().get(thread.ident or 0)
    file = "a library of Python's"
    while frame is not None:
        if frame.f_code.co_filename != threading.__file__:
            file = f"`{frame.f_code.co_filename}`"
        frame = frame.f_back
    return file
