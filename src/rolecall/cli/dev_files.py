"""`rolecall run --dev` tells that it saw a changed file, so that nobody waits for a restart.

Nothing is restarted: each run reads its role anew. What failed in a changed file is tried again by the
engine, in every mode; this is only for people who look at the terminal after they saved a file.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from rolecall.clock import Clock
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_PAUSE_S = 1.0
_MOST_FILES = 10_000
_NOT_OURS = frozenset({"collections", "__pycache__", "artifacts", "node_modules"})
_TOLD = 5  # of a checkout of another branch, the first few say it all


class FileStamps:
    """When each file of a project was changed last."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._stamps = self._read()

    def changed(self) -> list[str]:
        """Those that changed, came or went since the last time."""
        before, self._stamps = self._stamps, self._read()
        both = before.keys() | self._stamps.keys()
        return sorted(name for name in both if before.get(name) != self._stamps.get(name))

    def _read(self) -> dict[str, tuple[int, int]]:
        stamps = {}
        for path in self._files():
            try:
                found = path.stat()
            except OSError:
                continue
            stamps[str(path.relative_to(self._project))] = (found.st_mtime_ns, found.st_size)
        return stamps

    def _files(self) -> Iterator[Path]:
        number = 0
        for folder, below, names in os.walk(self._project):
            below[:] = [one for one in below if not (one.startswith(".") or one in _NOT_OURS)]
            for name in names:
                if not name.startswith(".") and not name.endswith(("~", ".swp", ".pyc")):
                    number += 1
                    yield Path(folder, name)
            if number > _MOST_FILES:
                return


async def tell_of_changes(project: Path, clock: Clock) -> None:
    """Look until cancelled."""
    stamps = await asyncio.to_thread(FileStamps, project)
    while True:
        await clock.sleep(_PAUSE_S)
        changed = await asyncio.to_thread(stamps.changed)
        for file in changed[:_TOLD]:
            _logger.info("file changed; the next run uses it", extra=log_fields(file=file))
        if len(changed) > _TOLD:
            more = log_fields(count=len(changed) - _TOLD)
            _logger.info("more files changed; the next run uses them", extra=more)
