"""Clusters that must not outlive their owner: those of a test run, or of a demo.

A guard waits at the end of a pipe whose other end only the owner holds. However the owner ends, the
pipe closes, and the guard takes the cluster down. While it waits it is a shell (1 MB), and becomes
Python only for the work. Rejected: PR_SET_PDEATHSIG, which fires when the *thread* that started the
child ends, and leaves the files.

If the guard is killed as well, the next run sees that the cluster is abandoned: its owner held a lock
on a file in the folder, which the kernel released. The file also contains the owner's pid and start
time, for file systems without locks; they mean nothing in another container that shares the folder.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from rolecall_dev.localcluster.processes import environment_for

_OWNER = "owner"
_WAIT_THEN_RUN = 'while read -r _; do :; done; exec "$@"'


def claim(folder: Path) -> int:
    """Say that the cluster in this folder is this process's, before anything is started in it.

    It is ours until the descriptor that is returned is closed.
    """
    descriptor = os.open(folder / _OWNER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with suppress(OSError):  # no locks on this file system
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()} {_birth(os.getpid())}".encode(), 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_owned(folder: Path) -> bool:
    """Whether the cluster has a living owner, with which it will end."""
    return (folder / _OWNER).is_file() and not is_abandoned(folder)


def is_ours(folder: Path) -> bool:
    """Whether it will end with this process."""
    owner = _owner_of(folder)
    return owner is not None and owner == (os.getpid(), _birth(os.getpid()))


def is_abandoned(folder: Path) -> bool:
    """Whether the cluster had an owner, and that owner is gone."""
    owner = _owner_of(folder)
    if owner is None:
        return False
    number, birth = owner
    return _birth(number) != birth and not is_locked(folder / _OWNER)


def is_locked(file: Path) -> bool:
    """Whether a process that lives holds it, in whichever container."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _owner_of(folder: Path) -> tuple[int, str] | None:
    try:
        number, birth = (folder / _OWNER).read_text().split()
        return int(number), birth
    except (OSError, ValueError):
        return None


def start_guard(folder: Path) -> subprocess.Popen[bytes]:
    """From now on the cluster ends with us; keep the returned process, its pipe is the link."""
    return subprocess.Popen(
        [
            *("/bin/sh", "-c", _WAIT_THEN_RUN, "guard"),
            *(sys.executable, "-m", "rolecall_dev.localcluster.guard", str(folder)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment_for(folder, "guard") | _python_path(),
        cwd="/",  # the folder that it removes must not be its own
        start_new_session=True,
    )


def dismiss(guard: subprocess.Popen[bytes]) -> None:
    """End it before it can do anything; the cluster is, or will be, taken down by others."""
    assert guard.stdin is not None, "a guard is always started with a pipe"
    guard.kill()
    guard.stdin.close()
    guard.wait()


def _python_path() -> dict[str, str]:
    return {"PYTHONPATH": value} if (value := os.environ.get("PYTHONPATH")) else {}


def _birth(pid: int) -> str:
    """When the process began, in ticks since boot, and which boot; empty when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    return f"{boot}:{stat.rpartition(')')[2].split()[19]}"
