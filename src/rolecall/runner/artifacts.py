"""Keeps `artifacts/` of a CR small and readable: the last runs, and `latest` pointing at the newest.

Bounded by number, age and bytes, each counted over run folders only: the `latest` link is no run, and
what people put there by hand is left alone unless it is a folder. The newest run always stays. Nothing
follows a symbolic link, neither here nor in a run's folder.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from rolecall.runner.folders import remove

LATEST = "latest"
_DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Rotation:
    """What may stay; None and 0 do not limit."""

    keep: int = 0
    keep_days: float | None = None
    keep_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    path: Path
    finished: float


def point_latest(artifacts: Path, run_id: str) -> None:
    """Let `latest` point at a run, replacing whatever it was in one step."""
    link, fresh = artifacts / LATEST, artifacts / f".{LATEST}-{run_id}"
    remove(fresh)
    fresh.symlink_to(run_id, target_is_directory=True)
    if link.is_dir() and not link.is_symlink():
        remove(link)
    fresh.replace(link)


def rotate(artifacts: Path, current: str, limits: Rotation, now: float) -> list[str]:
    """Remove the runs that are over a limit; returns their ids. `now` counts from the epoch."""
    runs = sorted(_runs(artifacts, current), key=lambda run: run.finished, reverse=True)
    allowed = limits.keep - 1 if limits.keep > 0 else len(runs)
    room = None if limits.keep_bytes is None else limits.keep_bytes - size_of(artifacts / current)
    gone = []
    for index, run in enumerate(runs):
        too_old = limits.keep_days is not None and now - run.finished > limits.keep_days * _DAY_S
        if room is not None:
            room -= size_of(run.path)
        if index >= allowed or too_old or (room is not None and room < 0):
            # A run that cannot be removed costs disk; it must not cost the run that just went well.
            with contextlib.suppress(OSError):
                remove(run.path)
                gone.append(run.path.name)
    return gone


def _runs(artifacts: Path, current: str) -> list[_Run]:
    runs = []
    with os.scandir(artifacts) as entries:
        for entry in entries:
            if entry.name != current and entry.is_dir(follow_symlinks=False):
                finished = entry.stat(follow_symlinks=False).st_mtime
                runs.append(_Run(artifacts / entry.name, finished))
    return runs


def size_of(folder: Path) -> int:
    """In bytes, without what links lead to."""
    total = 0
    pending = [folder]
    while pending:
        with contextlib.suppress(FileNotFoundError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                total += entry.stat(follow_symlinks=False).st_size
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
    return total
