"""Which folder keeps the runs of an engine: the documented one, unless another cluster's engines do.

Promises: no two clusters share a folder while engines of both live, so that two CRs of one name never
meet in one private folder; engines of one cluster do share it, as two replicas on one volume must; one
engine alone always has the documented folder. A marker in each CR's folder says of which cluster it is,
so that what is kept of another is never taken for what a deleted CR left.

Engines hold a lock on the root's marker, shared among those of one cluster. Who gets it alone may write
another cluster's name into it: no engine lives there. Rejected: a folder named after the cluster,
always. People and tools look where the Go operator kept its runs; and every new cluster on a laptop
would leave one more folder behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.log_fields import log_fields
from rolecall.runner.contract import RunRequest
from rolecall.runner.folders import (
    CannotStartError,
    cannot_write,
    make_private,
    private_dir,
    private_dir_of,
    remove,
    remove_empty_parents,
    write_private,
)
from rolecall.runner.locks import LockedByAnotherError, lock_folder
from rolecall.settings import RunnerSettings
from rolecall_base.polling import readable

_logger = logging.getLogger(__name__)
CLUSTER_FILE = ".rolecall-cluster"
# Below the documented folder and not beside it: that may be a volume, and all around it read-only.
_OTHERS = ".clusters"
_TRIES = 100
_PAUSES_S = (0.01, 0.05, 0.2, 0.5)


@contextlib.contextmanager
def claimed_root(root: Path, cluster: str) -> Iterator[Path]:
    """The folder for the runs of this cluster's engine, ours while the context lasts."""
    with contextlib.ExitStack() as held:
        yield _claim_any(root, cluster, held)


@contextlib.contextmanager
def claimed_beside_crs(root: Path, name: str) -> Iterator[Path]:
    """A folder for plays that are no CR's, which no other engine uses while the context lasts.

    Begin the name with a dot: so it is no group of CRs.
    """
    with contextlib.ExitStack() as held:
        for number in range(_TRIES):
            place = root / name / str(number)
            with contextlib.suppress(OSError, CannotStartError, LockedByAnotherError):
                make_private(root, place)
                if (lock := lock_folder(place, wait=False)) is not None:
                    held.callback(os.close, lock)
                    break
                if place.is_dir():  # a file system without locks
                    break
        yield place


@contextlib.contextmanager
def alone_with(request: RunRequest, settings: RunnerSettings) -> Iterator[None]:
    """Hold the CR's private folder; `CannotStartError` where another process runs the CR in it."""
    folder = private_dir_of(settings.root, request)
    try:
        make_private(settings.root, folder)
        lock = lock_folder(folder, wait=False)
        if settings.cluster:
            mark(folder, settings.cluster)
    except LockedByAnotherError:
        metadata = request.cr["metadata"]
        raise CannotStartError(
            f"another process runs a play for `{metadata.get('namespace') or ''}/{metadata['name']}`"
            f" in `{folder}` at the moment, so this one was not started",
            hint="wait for it, or give this one a folder of its own with --artifacts-dir",
        ) from None
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def forget(root: Path, gvk: Gvk, namespace: str, name: str, cluster: str = "") -> None:
    """Remove what runs of a deleted CR left behind, unless it is another cluster's or in use."""
    folder = private_dir(root, gvk, namespace, name)
    if cluster_of(folder) not in ("", cluster):
        return
    try:
        lock = _lock_after_tidying(folder)
    except LockedByAnotherError:
        return
    try:
        remove(folder)
    finally:
        if lock is not None:
            os.close(lock)
    remove_empty_parents(root, folder)


def _lock_after_tidying(folder: Path) -> int | None:
    """A run whose end let the CR go may still be at its artifacts, for some milliseconds."""
    for pause_s in _PAUSES_S:
        with contextlib.suppress(LockedByAnotherError):
            return lock_folder(folder, wait=False)
        readable((), pause_s)
    return lock_folder(folder, wait=False)


def mark(folder: Path, cluster: str) -> None:
    if cluster_of(folder) != cluster:
        write_private(folder / CLUSTER_FILE, cluster)


def cluster_of(folder: Path) -> str:
    """Of which cluster it is; empty without a marker."""
    with contextlib.suppress(OSError):
        return (folder / CLUSTER_FILE).read_text(encoding="utf-8", errors="replace").strip()
    return ""


def _claim_any(root: Path, cluster: str, held: contextlib.ExitStack) -> Path:
    for place in (root, root / _OTHERS / cluster):
        try:
            make_private(root, place)
            lock = _claim(place / CLUSTER_FILE, cluster)
        except (OSError, CannotStartError) as error:
            # Each run will fail for it and say so in its CR's status, once it was not mended by then.
            _logger.warning(
                "the artifacts folder could not be locked",
                extra=log_fields(folder=str(place), error=str(error)),
            )
            return root
        if lock is not None:
            held.callback(os.close, lock)
            return place
        _logger.info(
            "the artifacts folder is used by the operator of another cluster",
            extra=log_fields(folder=str(place)),
        )
    return root  # the second one carries our own name


def _claim(marker: Path, cluster: str) -> int | None:
    """A descriptor that holds the place for this cluster; None where another's engines live."""
    for _ in range(_TRIES):
        descriptor = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            found = _shared(descriptor, cluster)
            if found == cluster and os.path.samestat(os.fstat(descriptor), marker.lstat()):
                return descriptor
        except FileNotFoundError:
            found = ""  # removed meanwhile, by hand: once more
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if found not in ("", cluster):
            return None
    raise OSError(f"`{marker}` kept being replaced by another process")


def _shared(descriptor: int, cluster: str) -> str:
    """Whose it is once we share it; ours where no other engine shares it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    except OSError:  # no locks on this file system: the first one that wrote its name, keeps it
        if found := _read(descriptor):
            return found
        _write(descriptor, cluster)
        return cluster
    else:
        _write(descriptor, cluster)
    # Not in one step: between the two another may write its own name, so it is read once more.
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return _read(descriptor)


def _read(descriptor: int) -> str:
    return os.pread(descriptor, 4096, 0).decode(errors="replace").strip()


def _write(descriptor: int, cluster: str) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, cluster.encode(), 0)
