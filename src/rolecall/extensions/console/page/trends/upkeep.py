"""What keeps trends up to date besides turns: time that passes, and runs of before the engine began.

Kept runs are read once, when the page is first looked at: the newest that ended within a day, and
before the engine began, as its own runs were counted when they ended. Folders are looked at in slices
of a few milliseconds, in a thread, with pauses for the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from rolecall.extending import EnginePorts
from rolecall.extensions.console.division import KeyHolders
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.trends.series import TrendPlace
from rolecall.extensions.console.page.trends.trends import KeptTurn, Trends
from rolecall.gvk import Gvk
from rolecall.history import KeptCr, each_kept_cr, kept_cr, read_run
from rolecall.record import RunRecord, read_record
from rolecall.workqueue import CREATION, Key

_PAUSE_S = 1.0
_MOST_WAITED_S = 10.0  # for the engine's first list of CRs
_SLICE_S, _SLICE_STEPS, _REST_S = 0.005, 100, 0.005
_LONGEST_S = 1e9
_HOUR_S, _DAY_S, _MINUTE_S = 3600.0, 86400.0, 60.0
_MOST_RUNS, _MOST_RECORDS, _AT_ONCE = 20_000, 300, 500

IsOurs = Callable[[Key], bool]


class TrendsUpkeep:
    def __init__(self, ports: PagePorts, trends: Trends) -> None:
        self._root, self._engine, self._trends = ports.root, ports.engine, trends

    async def run(self) -> None:
        """Follow the time, until cancelled."""
        clock, trends, waited_s = self._engine.clock, self._trends, 0.0
        minute = 0.0
        while True:
            await clock.sleep(_PAUSE_S)
            if (now := trends.now_s() // _MINUTE_S) != minute:
                minute = now
                await asyncio.to_thread(trends.keep_failing, own_keys(self._engine))
            if trends.is_asked and trends.is_reading:
                waited_s += _PAUSE_S
                if waited_s > _MOST_WAITED_S or any(self._engine.known().values()):
                    await self._read()

    async def _read(self) -> None:
        trends, engine = self._trends, self._engine
        await asyncio.to_thread(trends.begin_reading)
        runs = _KeptRuns(self._root, engine, trends, own_keys(engine))
        await self._in_slices(runs.look())
        await self._in_slices(runs.read())
        await asyncio.to_thread(trends.end_reading, trends.moment_of(_wall(runs.oldest_s)))

    async def _in_slices(self, steps: Iterator[None]) -> None:
        clock = self._engine.clock

        def some() -> bool:
            until_s = clock.monotonic() + _SLICE_S
            for done, _ in enumerate(steps, 1):
                if done >= _SLICE_STEPS or clock.monotonic() > until_s:
                    return True
            return False

        while await asyncio.to_thread(some):
            await clock.sleep(_REST_S)


def own_keys(engine: EnginePorts) -> IsOurs:
    """Whether a CR is there, and this replica has it; as it is now, for a thread."""
    known, is_leading = engine.known(), engine.leads()
    holders = None if engine.division is None else KeyHolders(engine.division)

    def is_ours(key: Key) -> bool:
        cr = known.get(key.gvk, {}).get((key.namespace, key.name))
        is_there = is_leading and cr is not None and cr.is_selected
        return is_there and (holders is None or holders.of(key).is_self)

    return is_ours


class _Found(NamedTuple):
    """A run that is to be read; the newest are kept, where there are too many. They are kept as plain
    tuples, at which the garbage collector does not look.
    """

    changed_s: float  # the folder, as the run ended
    number: int  # distinguishes those of the same moment
    kind: int  # index of it
    namespace: str
    name: str
    run: str
    next_s: float | None  # the same of the next run of its CR


class _KeptRuns:
    """The runs of one reading; times are seconds of the wall."""

    def __init__(self, root: Path, engine: EnginePorts, trends: Trends, is_ours: IsOurs) -> None:
        self._root, self._engine, self._trends, self._is_ours = root, engine, trends, is_ours
        self._kinds = {gvk: number for number, gvk in enumerate(engine.facts.kinds)}
        self._now_s = engine.clock.now().timestamp()
        self._began_s = engine.facts.began.timestamp()
        self.oldest_s = self._now_s - _DAY_S  # what ended since then is read
        self._found: list[tuple[Any, ...]] = []
        self._numbers = count()

    def look(self) -> Iterator[None]:
        """Find them, a CR at a time."""
        for cr in each_kept_cr(self._root):
            if (kind := self._kinds.get(Gvk.parse(cr.api_version, cr.kind))) is not None:
                self._look_at(cr, kind)
            yield

    def read(self) -> Iterator[None]:
        """Read them, a run at a time, the oldest first."""
        batch = []
        while self._found:
            if (turn := self._turn_of(_Found(*heapq.heappop(self._found)))) is not None:
                batch.append(turn)
            if len(batch) >= _AT_ONCE:
                self._trends.add_kept(batch)
                batch = []
            yield
        self._trends.add_kept(batch)

    def _look_at(self, cr: KeptCr, kind: int) -> None:
        artifacts = cr.artifacts
        folders = sorted(_folders_in(artifacts))
        for number, (changed_s, name) in enumerate(folders):
            if not self.oldest_s <= changed_s <= self._began_s:
                continue
            after = folders[number + 1][0] if number + 1 < len(folders) else None
            found = (changed_s, next(self._numbers), kind, cr.namespace, cr.name, name, after)
            if len(self._found) < _MOST_RUNS:
                heapq.heappush(self._found, found)
            else:
                self.oldest_s = heapq.heappushpop(self._found, found)[0]
        if folders and folders[0][0] > self.oldest_s:
            place = self._engine.facts.kinds[kind], cr.namespace
            self._note_first(place, artifacts / folders[0][1])

    def _note_first(self, place: TrendPlace, folder: Path) -> None:
        """Before the oldest run that is kept, there may have been others."""
        run = read_run(folder)
        if run.cause != CREATION.text and run.ended is not None:
            since = min(run.ended, self._engine.facts.began)
            self._trends.known_since(place, self._trends.moment_of(since))

    def _turn_of(self, found: _Found) -> KeptTurn | None:
        key = Key(self._engine.facts.kinds[found.kind], found.namespace, found.name)
        folder = kept_cr(self._root, key.gvk, key.namespace, key.name).artifacts / found.run
        run, trends = read_run(folder), self._trends
        is_begun = run.has_file or run.ended is not None
        is_here = run.server in ("", self._engine.facts.server)
        if run.outcome == "running" or not (is_begun and is_here):
            return None
        ended = run.ended or _wall(found.changed_s)  # nothing says when one ended that was lost
        if not self.oldest_s <= ended.timestamp() <= self._began_s:
            return None
        record = None
        is_of_hour = ended.timestamp() > self._now_s - _HOUR_S
        if is_of_hour and len(self._found) < _MOST_RECORDS:
            read = read_record(run.folder, with_requests=False)
            record = read if read is not None and _is_sound(read) else None
        return KeptTurn(
            key,
            trends.moment_of(ended),
            run.outcome,
            run.seconds if run.ended and _is_duration(run.seconds) else None,
            run.cause,
            None if found.next_s is None else trends.moment_of(_wall(found.next_s)),
            is_ours=self._is_ours(key),
            record=record,
        )


def _folders_in(folder: Path) -> Iterator[tuple[float, str]]:
    """When each changed, and its name."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield entry.stat(follow_symlinks=False).st_mtime, entry.name


def _is_sound(record: RunRecord) -> bool:
    """Whether a record from a file, which may say anything, has times and texts where they belong."""
    return all(
        isinstance(task.name, str)
        and isinstance(task.place, str)
        and _is_duration(task.began_s)
        and _is_duration(record.ended_s if task.ended_s is None else task.ended_s)
        for task in record.tasks
    )


def _is_duration(seconds: object) -> bool:
    return isinstance(seconds, int | float) and 0 <= seconds < _LONGEST_S


def _wall(moment_s: float) -> datetime:
    return datetime.fromtimestamp(moment_s, UTC)
