"""Where the control socket is: in the folder that keeps the runs of an engine, for its own user alone.

An engine holds a lock beside its socket for as long as it lives, so one that was killed leaves a file
that the next one replaces, and of two that live neither takes the other's: the second has the next
name. A path may be longer than a socket's address can be (108 bytes); it is then reached over the
descriptor of its folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

MOST_ENGINES = 8
_LONGEST = 100


def names() -> list[str]:
    """What sockets in one folder are called, in the order in which they are taken."""
    return ["control.sock", *(f"control-{number}.sock" for number in range(2, MOST_ENGINES + 1))]


@contextlib.contextmanager
def address_of(path: Path) -> Iterator[str]:
    """A path as short as an address must be, while the context lasts."""
    if len(os.fsencode(path)) <= _LONGEST or not Path("/proc/self/fd").exists():
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


@contextlib.contextmanager
def listening(root: Path) -> Iterator[tuple[socket.socket, Path]]:
    """A socket that listens, and where; removed at the end. `OSError` where there can be none."""
    with contextlib.ExitStack() as held:
        for name in names():
            path = root / name
            lock_file = path.with_name(f".{path.stem}.lock")
            lock = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            held.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # another engine lives and has it
            path.unlink(missing_ok=True)
            listener = _bound(path)
            held.callback(path.unlink, missing_ok=True)
            held.callback(listener.close)
            yield listener, path
            return
        raise OSError(f"{MOST_ENGINES} engines have theirs there already")


def _bound(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    try:
        with address_of(path) as address:
            listener.bind(address)
        path.chmod(0o600)  # before it listens, so that no other user can ever connect
        listener.listen(16)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener
