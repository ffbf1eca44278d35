"""Looks at the project and at this machine."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from rolecall.errors import InputError, ProblemsError
from rolecall.runner import require_installed, version_of, why_stock
from rolecall.watches import collection_faults, search_paths
from rolecall_dev.doctor.surroundings import Diagnosis, Surroundings, done, to_do


# Whether the engine would start with the watches.yaml of this folder.
async def look_at_project(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """What is wrong with it is told line by line by `rolecall check`; here is the first."""
    fault = surroundings.watches_fault
    file = surroundings.settings.watches_file
    if isinstance(fault, ProblemsError):
        return [
            to_do(f"{problem.file}:{problem.line}: {problem.what}", problem.hint)
            for problem in fault.problems
            if not problem.is_warning
        ]
    if fault is not None:
        return [to_do(fault.message, fault.hint)]
    number = len(surroundings.watches)
    return [done(f"{file} names {number} kind{'s' * (number != 1)}")]


# What is installed for runs: there, not too old, and known to us.

_NEEDED = ("ansible-core", "ansible-runner", "kubernetes")


async def look_at_versions(_surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line where all is there, else one for each that is not."""
    try:
        warnings = require_installed()
    except InputError as error:
        return [to_do(error.message, error.hint)]
    if warnings:
        return [to_do(warning) for warning in warnings]
    found = [f"{name} {version_of(name)}" for name in _NEEDED if version_of(name)]
    return [done(", ".join([f"Python {platform.python_version()}", *found]))]


# Whether runs are warm here, and why they are not where they could be.
async def look_at_way(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """Stock where somebody asked for it is fine; where nobody did, runs take seconds longer."""
    if surroundings.settings.runner.way == "stock":
        return [done("stock, as `--runner` says")]
    reason = await asyncio.to_thread(why_stock)
    if not reason:
        return [done("warm")]
    return [
        to_do(
            f"stock, because {reason}",
            "each run takes a second or two longer; `--runner stock` accepts that",
        )
    ]


# Whether plays find the collections that requirements.yml and tasks name.
async def look_at_collections(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """One line for each that is missing, half installed, or of another version."""
    return await asyncio.to_thread(_look_for_collections, surroundings)


def _look_for_collections(surroundings: Surroundings) -> list[Diagnosis]:
    project = surroundings.project
    search = search_paths(surroundings.environment, Path.cwd(), project).collections
    plays = [play for watch in surroundings.watches for play in watch.plays]
    faults = collection_faults(project, plays, search, sys.path)
    seen = [
        to_do(f"{fault.file}:{fault.line}: {fault.what}" if fault.line else fault.what, fault.hint)
        for fault in (*faults.missing, *faults.broken)
    ]
    return seen or [done("those that are needed are installed")]


# Whether runs can keep their files: the folder is ours, can be written, and has room.

# Twenty runs of a busy role keep some MB; an image with less than this left fails in odd ways.
_LEAST_BYTES = 200 * 1024 * 1024
_ANOTHER = "choose another with `--artifacts-dir`"


async def look_at_artifacts(surroundings: Surroundings) -> Sequence[Diagnosis]:
    """At the folder, or where it would be made."""
    return [await asyncio.to_thread(_look_at_folder, surroundings.settings.runner.root)]


def _look_at_folder(root: Path) -> Diagnosis:
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
