"""One at a time in a folder, by a lock on the folder itself: it leaves no file behind.

The kernel gives the lock back when its holder dies, however it dies. The folder may be removed by its
holder; whoever waited for it then holds a lock on nothing, notices, and starts over on the new one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(folder: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the folder, making it if need be; `on_wait` is called when someone else has it now."""
    descriptor = _acquire(folder, on_wait)
    try:
        yield
    finally:
        os.close(descriptor)


def _acquire(folder: Path, on_wait: Callable[[], None]) -> int:
    while True:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # removed between the two lines
        try:
            _wait_for(descriptor, on_wait)
            if _is_same(descriptor, folder):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _wait_for(descriptor: int, on_wait: Callable[[], None]) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        on_wait()
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _is_same(descriptor: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except FileNotFoundError:
        return False
