"""Temporary folders whose maker may be killed: whoever starts next can tell that nobody needs them.

Each is locked while its maker lives. The kernel lets a lock go however its holder ends, so a folder
that can be locked has lost its maker; a process id in the name could be another's by now. What a play
of that maker left running in the background may still work in a run's folder: it carries the folder's
name in its environment, and then the folder stays.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rolecall.environs import processes_with
from rolecall.runner.folders import remove

HOST_PREFIX, RUN_PREFIX, ENGINE_PREFIX = "rolecall-host-", "rolecall-run-", "rolecall-engine-"
# Names a run's folder to whoever ends the run; nothing of Ansible's reads it.
SCRATCH_VARIABLE = "ROLECALL_SCRATCH"


class HeldFolder:
    """A new temporary folder, locked until `let_go`. Removing it is up to who made it."""

    def __init__(self, prefix: str, parent: str | None = None) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            self._lock = _locked(self.path, wait=True)
            if self.path.exists():  # with no lock: on a file system that has none
                break  # else a sweep came between the two lines and took it for abandoned

    def let_go(self) -> None:
        """From now on it is anybody's to remove."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@contextlib.contextmanager
def folder_of_engine() -> Iterator[Path]:
    """For what must go with the engine, however that one ends: credentials of runs."""
    held = HeldFolder(ENGINE_PREFIX)
    try:
        yield held.path
    finally:
        with contextlib.suppress(OSError):
            remove(held.path)
        held.let_go()


def remove_abandoned(parents: Iterable[str]) -> list[Path]:
    """Remove folders whose maker is gone and that no process works in; returns which."""
    found = [
        path
        for parent in dict.fromkeys(parents)
        for prefix in (HOST_PREFIX, RUN_PREFIX, ENGINE_PREFIX)
        for path in Path(parent).glob(f"{prefix}*")
        if _is_ours(path)
    ]
    return [path for path in found if _remove_if_abandoned(path)]


def _remove_if_abandoned(path: Path) -> bool:
    lock = _locked(path, wait=False)
    if lock is None:
        return False
    try:
        if path.name.startswith(RUN_PREFIX) and _is_in_use(path):
            return False
        with contextlib.suppress(OSError):
            remove(path)
            return True
        return False
    finally:
        os.close(lock)


def _locked(path: Path, *, wait: bool) -> int | None:
    """A descriptor that holds the lock; None where another has it, or the folder is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    except OSError:
        pass  # held by another, or removed while we waited
    os.close(descriptor)
    return None


def _is_ours(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.lstat().st_uid == os.geteuid()
    return False


def _is_in_use(folder: Path) -> bool:
    if not Path("/proc").is_dir():
        return True  # no way to know here; it goes when it is old
    return any(processes_with(SCRATCH_VARIABLE, str(folder)))
