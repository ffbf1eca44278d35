"""What all artifacts of an engine may take on its disk together: beyond it, the oldest runs go.

Limits by CR do not help against many CRs. What ended runs wrote is added up; only where that exceeds
the budget are the folders looked at, so that ten thousand CRs cost nothing in between. The run that a
CR made last goes last, and one in flight, never.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rolecall.log_fields import log_fields
from rolecall.runner.artifacts import size_of
from rolecall.runner.folders import remove

_logger = logging.getLogger(__name__)
_ARTIFACTS = "artifacts"
_DEEPEST = 8  # group, version, kind, namespace, name, and the folder itself
_LOW = 0.9  # so much is left, so that not every run has to look


@dataclass(frozen=True, slots=True)
class _KeptRun:
    finished: float
    path: Path
    size: int
    is_newest: bool


class ArtifactsBudget:
    """Of one root; called from threads."""

    def __init__(self, root: Path, most_bytes: int) -> None:
        self._root, self._most = root, most_bytes
        self._at_most: int | None = None  # what lies there; None: not looked at yet
        self._lock = threading.Lock()

    def add(self, folder: Path) -> None:
        """A run ended and left this folder."""
        if not self._lock.acquire(blocking=False):
            return  # another thread looks at all folders, this one too
        try:
            if self._at_most is not None:
                self._at_most += size_of(folder)
            if self._at_most is None or self._at_most > self._most:
                self._at_most = self._look()
        finally:
            self._lock.release()

    def _look(self) -> int:
        runs = list(_runs_below(self._root))
        total = sum(run.size for run in runs)
        if total <= self._most:
            return total
        before, gone = total, 0
        for run in sorted(runs, key=lambda run: (run.is_newest, run.finished)):
            if total <= self._most * _LOW:
                break
            if run.is_newest and not (run.path / "rc").exists():
                continue
            with contextlib.suppress(OSError):
                remove(run.path)
                total, gone = total - run.size, gone + 1
        fields = log_fields(limit=self._most, bytes=before, removed_runs=gone)
        _logger.warning(
            "artifacts exceed --keep-total-bytes; the oldest were removed", extra=fields
        )
        return total


_budgets: dict[tuple[Path, int], ArtifactsBudget] = {}


def budget_of(root: Path, most_bytes: int) -> ArtifactsBudget:
    """The one for this root."""
    return _budgets.setdefault((root, most_bytes), ArtifactsBudget(root, most_bytes))


def _runs_below(root: Path) -> Iterator[_KeptRun]:
    pending = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        for path in _folders_in(folder):
            if path.name == _ARTIFACTS:
                yield from _runs_in(path)
            elif depth < _DEEPEST:
                pending.append((path, depth + 1))


def _runs_in(artifacts: Path) -> Iterator[_KeptRun]:
    found = []
    for path in _folders_in(artifacts):
        with contextlib.suppress(OSError):
            found.append((path.stat().st_mtime, path))
    newest = max(found, default=(0.0, artifacts))
    for finished, path in found:
        yield _KeptRun(finished, path, size_of(path), path == newest[1])


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(each.path) for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
