"""What the local cluster asks of the system: Linux, for /proc and pidfd."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rolecall.clock import SystemClock
from rolecall.errors import InputError

_PROC = Path("/proc/self/stat")


def require_linux() -> None:
    """Raise, in one line with the way out, where a local cluster cannot be."""
    if sys.platform.startswith("linux") and hasattr(os, "pidfd_open") and _PROC.exists():
        return
    lack = "" if not sys.platform.startswith("linux") else " without /proc or without pidfd"
    raise InputError(
        f"the local cluster needs Linux (WSL does); this is {sys.platform}{lack}",
        hint="`rolecall run`, `run-role`, `check`, `init` and `bundle` work here:"
        " KUBECONFIG names any cluster",
    )


def captured(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """A short program that has ended, with what it printed; its exit code is the caller's to judge."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def last_line(text: str) -> str:
    """Of what a program said: its reason, mostly."""
    return (text.strip().splitlines() or ["no reason given"])[-1]


# Waiting for something outside of this process that cannot call us.
def attempts(timeout_s: float, pause_s: float = 0.02) -> Iterator[None]:
    """Looks at it, at least one, with others let work in between, until the time is over."""
    clock = SystemClock()
    deadline = clock.monotonic() + timeout_s
    yield
    while clock.monotonic() <= deadline:
        threading.Event().wait(pause_s)
        yield


# One at a time in a folder, by a lock on the folder itself, which leaves no file behind.
# The kernel releases the lock whenever its holder dies. The holder may remove the folder; a process
# that waited then has a lock on a deleted folder, notices it, and starts over with the new one.
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


# Ports that are free, and that the kernel does not assign to other programs.
# They are below the kernel's range for outgoing connections: any connection of the machine could take a
# port in that range while its program restarts. Between the check here and the program's own `bind`
# another cluster may still take the port; the caller retries then.

_FIRST, _LAST = 20000, 32000  # Linux hands out 32768 and above to outgoing connections
_TRIES = 200


def free_ports(count: int) -> list[int]:
    """Different ports of the loopback address that were free a moment ago."""
    found: list[int] = []
    for port in random.sample(range(_FIRST, _LAST), _TRIES):
        if len(found) == count:
            break
        if is_free(port):
            found.append(port)
    if len(found) < count:
        raise InputError(
            f"no free port was found between {_FIRST} and {_LAST} in {_TRIES} tries",
            hint="`ss -ltn` shows who listens; `rolecall cluster list` shows clusters to take down",
        )
    return found


def is_free(port: int) -> bool:
    """Whether a program could listen there now."""
    with socket.socket() as probe:
        # As the programs do: a port in TIME_WAIT is free for them.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
