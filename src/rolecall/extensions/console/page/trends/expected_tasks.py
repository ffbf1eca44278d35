"""How many tasks a run will likely have: as many as the newest good run of its CR had."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from rolecall.history import kept_cr
from rolecall.record import read_record
from rolecall.workqueue import Key

_MOST = 200


class ExpectedTasks:
    """Of runs in flight; the number is run content, for those who may read the log of the CR."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._counts: OrderedDict[Key, tuple[str, int | None]] = OrderedDict()

    async def of(self, running: Iterable[tuple[Key, str]]) -> dict[Key, int]:
        """`running`: CRs, and the ids of their runs in flight; what is not known is left out."""
        asked = dict(islice(running, _MOST))
        unread = {key: run for key, run in asked.items() if self._counts.get(key, ("",))[0] != run}
        if unread:
            self._counts |= await asyncio.to_thread(self._read, unread)
        for key in asked:
            self._counts.move_to_end(key)
        while len(self._counts) > _MOST:
            self._counts.popitem(last=False)
        counts = {key: self._counts[key][1] for key in asked if key in self._counts}
        return {key: count for key, count in counts.items() if count is not None}

    def _read(self, runs: Mapping[Key, str]) -> dict[Key, tuple[str, int | None]]:
        return {key: (run, self._tasks_of(key)) for key, run in runs.items()}

    def _tasks_of(self, key: Key) -> int | None:
        for run in kept_cr(self._root, key.gvk, key.namespace, key.name).runs():
            if run.outcome == "succeeded" and not run.is_finalizer:
                record = read_record(run.folder, with_requests=False)
                return None if record is None else len(record.tasks)
        return None
