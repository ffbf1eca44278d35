"""Temporary folders whose maker may be killed: the next process can see that they are not in use.

Each is locked while its maker lives. The kernel lets a lock go however its holder ends, so a folder
that can be locked has lost its maker; a process id in the name could be another's by now. What a play
of that maker left running in the background may still work in a run's folder: it carries the folder's
name in its environment, and then the folder stays.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rolecall.runner.folders import remove
from rolecall.runner.locks import LockedByAnotherError, lock_folder
from rolecall_base.processes import processes_with
from rolecall_base.variables import SCRATCH_VARIABLE

HOST_PREFIX, RUN_PREFIX, ENGINE_PREFIX = "rolecall-host-", "rolecall-run-", "rolecall-engine-"
COMMAND_PREFIX = "rolecall-command-"
_PREFIXES = (HOST_PREFIX, RUN_PREFIX, ENGINE_PREFIX, COMMAND_PREFIX)
_PROCESSES = Path("/proc")


class LockedFolder:
    """A new temporary folder, locked until `let_go`. Removing it is up to who made it."""

    def __init__(self, prefix: str, parent: str | None = None) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            self._lock = _locked(self.path, wait=True)
            if self.path.exists():  # with no lock: on a file system that has none
                break  # else a sweep came between the two lines and took it for abandoned

    def let_go(self) -> None:
        """From now on any process may remove it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@contextlib.contextmanager
def folder_of_engine() -> Iterator[Path]:
    """For what must go with the process that runs plays, however that one ends: credentials of runs."""
    with locked_folder(ENGINE_PREFIX) as folder:
        yield folder


@contextlib.contextmanager
def folder_of_command() -> Iterator[Path]:
    """For all that the runs of one command leave, unless the user keeps it."""
    with locked_folder(COMMAND_PREFIX) as folder:
        yield folder


@contextlib.contextmanager
def locked_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder that exists while the context lasts, and that no other process removes."""
    held = LockedFolder(prefix)
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
        for prefix in _PREFIXES
        for path in Path(parent).glob(f"{prefix}*")
        if _is_ours(path)
    ]
    return [path for path in found if _remove_if_abandoned(path)]


def remove_old_runs(parent: Path, is_old: Callable[[Path], bool]) -> None:
    """Remove old folders of runs that have no maker any more, also where /proc shows nothing."""
    for path in parent.glob(f"{RUN_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_ours(path) and is_old(path):
                _remove_if_abandoned(path, is_surely_idle=not _PROCESSES.is_dir())


def _remove_if_abandoned(path: Path, *, is_surely_idle: bool = False) -> bool:
    lock = _locked(path, wait=False)
    if lock is None:
        return False
    try:
        if path.name.startswith(RUN_PREFIX) and not is_surely_idle and _is_in_use(path):
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
        return lock_folder(path, wait=wait)
    except LockedByAnotherError:
        return None


def _is_ours(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.lstat().st_uid == os.geteuid()
    return False


def _is_in_use(folder: Path) -> bool:
    if not _PROCESSES.is_dir():
        return True  # no way to know here; it goes when it is old
    return any(processes_with(SCRATCH_VARIABLE, str(folder)))
