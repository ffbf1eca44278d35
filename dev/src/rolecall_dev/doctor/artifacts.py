"""Whether runs can keep their files: the folder is ours, can be written, and has room."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from rolecall_dev.doctor.diagnosis import Diagnosis, done, to_do
from rolecall_dev.doctor.surroundings import Surroundings

# Twenty runs of a busy role keep some MB; an image with less than this left fails in odd ways.
_LEAST_BYTES = 200 * 1024 * 1024
_ANOTHER = "choose another with `--artifacts-dir`"


async def look_at_artifacts(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """At the folder, or where it would be made."""
    return [await asyncio.to_thread(_look, surroundings.settings.runner.root)]


def _look(root: Path) -> Diagnosis:
    place = next(path for path in (root, *root.parents) if path.exists())
    if not place.is_dir():
        return to_do(f"`{place}` is not a folder", _ANOTHER)
    if not os.access(place, os.W_OK | os.X_OK):
        return to_do(f"`{place}` cannot be written by this user", _ANOTHER)
    if place == root and (fault := _owner_fault(root)):
        return to_do(fault, _ANOTHER)
    free = shutil.disk_usage(place).free
    if free < _LEAST_BYTES:
        return to_do(
            f"`{root}` has {free // 2**20} MiB left", f"free some space there, or {_ANOTHER}"
        )
    return done(f"`{root}`, {free / 2**30:.1f} GiB free")


def _owner_fault(root: Path) -> str:
    found = root.stat()
    if found.st_uid != os.geteuid():
        return (
            f"`{root}` belongs to another user (uid {found.st_uid}), who could read Secrets there"
        )
    if stat.S_IMODE(found.st_mode) & 0o022:
        return f"`{root}` can be written by other users (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""
