"""Locks on folders and files that several engines may share: how one knows that another lives.

The kernel lets a lock go however its holder ends, and shows it in every container that shares the file.
A process id would be another's by now, or would mean nothing in the next container. Locks are on what
they protect, so none is left over; what was replaced meanwhile is noticed and not taken for it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class LockedByAnotherError(Exception):
    """A living process holds it."""


def lock_folder(path: Path, *, wait: bool) -> int | None:
    """A descriptor that holds the lock until it is closed; `LockedByAnotherError` where one has it.

    None where the folder is gone, or lies on a file system that has no locks.
    """
    try:
        descriptor = os.open(path, _FOLDER)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if os.path.samestat(os.fstat(descriptor), path.lstat()):
            return descriptor
    except BlockingIOError:
        os.close(descriptor)
        raise LockedByAnotherError(str(path)) from None
    except OSError:
        pass  # no locks here, or removed while we waited
    os.close(descriptor)
    return None
