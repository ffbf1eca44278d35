"""How an interpreter ends, for a fork that was none from its beginning."""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading


def status_of(leaving: SystemExit) -> int:
    """The exit status that it asks for."""
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return int(leaving.code) & 0xFF
    print(leaving.code, file=sys.stderr)  # noqa: T201 - what the interpreter does with such a code
    return 1


def end_like_an_interpreter() -> None:
    """Wait for threads, run exit handlers, flush."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
