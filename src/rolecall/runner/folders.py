"""Where each CR's private folder lives, and how it stays private and small.

The path is the Go operator's, so that people and volume mounts find it. Folders are 0700 and ours
before anything is written into them: the root lies below /tmp, where others could have waited for us.
What a deleted CR left behind is removed, empty parents included. Nothing here follows a symbolic link.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Collection
from pathlib import Path

from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.runner.contract import RunRequest


class CannotStartError(RolecallError):
    """A run could not be set up; the text is for the CR's user (`Ending.NOT_STARTED`)."""


def cannot_write(folder: Path, error: OSError) -> CannotStartError:
    return CannotStartError(
        f"the private folder `{folder}` could not be written: {error.strerror or error}",
        hint="the operator needs a folder there that it can write, with free space",
    )


def private_dir(root: Path, gvk: Gvk, namespace: str, name: str) -> Path:
    """`<root>/<group>/<version>/<Kind>/<namespace>/<name>`; empty segments vanish."""
    segments = [part for part in (gvk.group, gvk.version, gvk.kind, namespace, name) if part]
    if not name or any(part in (".", "..") or "/" in part or "\0" in part for part in segments):
        raise CannotStartError(
            f"`{namespace}/{name}` cannot be the name of a folder, so its role was not run"
        )
    return root.joinpath(*segments)


def private_dir_of(root: Path, request: RunRequest) -> Path:
    if request.folder is not None:
        return request.folder
    gvk, metadata = request.terms.gvk, request.cr.get("metadata") or {}
    namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
    return private_dir(root, gvk, namespace, name)


def make_private(root: Path, folder: Path) -> None:
    """Make `folder` and what lies between it and `root`, 0700 and ours; the root may be a volume's."""
    for attempt in (1, 2):
        try:
            if not root.is_dir():
                root.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_owner(root, allowed={os.geteuid(), 0})
            path = root
            for part in folder.relative_to(root).parts:
                path = path / part
                if not os.path.lexists(path):  # nearly always it does
                    with contextlib.suppress(FileExistsError):
                        path.mkdir(mode=0o700)
                _check_owner(path, allowed={os.geteuid()})
        except FileNotFoundError:
            # Another CR of this namespace was just forgotten, and the empty parent with it.
            if attempt == 2:
                raise
        else:
            return


def _check_owner(path: Path, allowed: Collection[int]) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in allowed:
        raise CannotStartError(
            f"`{path}` does not belong to the user of this process, so the role was not run",
            hint=f"choose another folder with --artifacts-dir, or remove `{path}` if it is not used",
        )
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)


def write_private(path: Path, text: str) -> None:
    """Write a file that only we may read, whatever was there before."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all in it; one that is gone already is fine."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, ignore_errors=False)
        else:
            path.unlink()


def remove_empty_parents(root: Path, folder: Path) -> None:
    """Remove what is empty now between a removed folder and the root."""
    for parent in folder.parents:
        if parent == root or not parent.is_relative_to(root):
            return
        try:
            parent.rmdir()
        except OSError:
            return  # in use by another CR
