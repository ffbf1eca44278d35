"""All CRs as rows, kept while the page is in use: the source of lists, counts and their changes.

The hard part is ten thousand of them. A row is a tuple. A thread makes the rows, and waits at least
twenty times its last duration before it makes them again; the differences go into the feed. The thread
sleeps every few milliseconds, because the event loop waits for the interpreter while it works. The
outcome of the last run of a CR is in files: unread ones are read a few at a time, and such a CR is
`unknown` until then. After a minute without a request, the rows are dropped.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rolecall.clock import Clock
from rolecall.extensions.console.control import CrNow, Wall, snapshot
from rolecall.extensions.console.page.feed import ChangeFeed
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.rows import (
    LONGEST_WORDS,
    AllRows,
    CrRow,
    Live,
    NextRun,
    PlaceRows,
)
from rolecall.gvk import Gvk
from rolecall.workqueue import Key

_SHORTEST_PAUSE_S = 0.5
_PAUSES_PER_WORK = 20
_LONGEST_PAUSE_S = 5.0  # a busy machine takes long for it, which is no reason to show what is old
_KEPT_S = 60.0
_FILES_READ_S = 0.3
# One after the other in a thread, and the loop in between.
_SLICE_S, _SLICE_ROWS = 0.003, 500


class Table:
    def __init__(self, ports: PagePorts, feed: ChangeFeed) -> None:
        self._ports, self._feed = ports, feed
        self.clock: Clock = ports.engine.clock
        self._wall = Wall(self.clock)
        self._rows: AllRows | None = None  # None: the page was not used recently
        self._lock = asyncio.Lock()
        self._is_frozen = False
        self._fresh_until_s = 0.0
        self._asked_s = float("-inf")

    async def rows(self) -> AllRows:
        """All of them, by kind, namespace and name; at most some moments old."""
        self._asked_s = self.clock.monotonic()
        return await self._renewed()

    async def run(self) -> None:
        """Renew the rows while the page was used recently, until cancelled."""
        while True:
            await self.clock.sleep(_SHORTEST_PAUSE_S)
            idle_s = self.clock.monotonic() - self._asked_s
            if idle_s <= _KEPT_S:
                await self._renewed()
            elif self._rows is not None:
                self._forget()

    async def _renewed(self) -> AllRows:
        async with self._lock:
            began, before = self.clock.monotonic(), self._rows
            if before is not None and began < self._fresh_until_s:
                return before
            taken = snapshot(self._ports.engine, self._wall)
            until_s = began + _FILES_READ_S
            crs = taken.crs(self._ports.last_runs, lambda: self.clock.monotonic() < until_s)
            with self._for_good():
                making = _Making(crs, self._wall, before or AllRows())
                while await asyncio.to_thread(making.go_on, self.clock):
                    pass
                rows, changed = await asyncio.to_thread(making.end)
            ended = self.clock.monotonic()
            pause_s = max(_SHORTEST_PAUSE_S, (ended - began) * _PAUSES_PER_WORK)
            self._fresh_until_s = ended + min(pause_s, _LONGEST_PAUSE_S)
            self._rows = rows
            if before is not None:
                self._feed.add(changed)
            return rows

    @contextmanager
    def _for_good(self) -> Iterator[None]:
        """The first time, nothing looks for garbage while tens of thousands of objects come that
        stay; nor ever after at those, or at all that the engine has by then: the loop is held for it.
        """
        if self._is_frozen or not gc.isenabled():
            yield
            return
        self._is_frozen = True
        gc.disable()
        try:
            yield
            gc.freeze()
        finally:
            gc.enable()

    def _forget(self) -> None:
        """Stop to follow changes: a client that comes back must load everything again."""
        self._rows = None
        self._feed.begin_anew()


@dataclass(slots=True)
class _Making:
    """Rows that are being made; a row that is as it was before is the one of before."""

    crs: Iterator[CrNow]
    wall: Wall
    before: AllRows
    by_key: dict[Key, CrRow] = field(default_factory=dict)
    places: dict[tuple[Gvk, str], PlaceRows] = field(default_factory=dict)
    changed: set[Key] = field(default_factory=set)
    new: int = 0

    def go_on(self, clock: Clock) -> bool:
        """Make some; whether there are more."""
        until_s = clock.monotonic() + _SLICE_S
        for count, now in enumerate(self.crs, 1):
            self._add(_row(now, self.wall))
            if count >= _SLICE_ROWS or clock.monotonic() > until_s:
                return True
        return False

    def end(self) -> tuple[AllRows, set[Key]]:
        """All of them, in order, and which came, changed or went."""
        before = self.before.by_key
        if len(before) + self.new != len(self.by_key):
            self.changed |= before.keys() - self.by_key.keys()
        for place in self.places.values():
            place.rows.sort(key=lambda row: row.key.name)
        places = sorted(
            self.places.values(), key=lambda each: (each.gvk.kind, each.gvk, each.namespace)
        )
        return AllRows(self.by_key, places), self.changed

    def _add(self, row: CrRow) -> None:
        old = self.before.by_key.get(row.key)
        if old == row:
            row = old
        else:
            self.changed.add(row.key)
            self.new += old is None
        self.by_key[row.key] = row
        where = row.key.gvk, row.key.namespace
        place = self.places.get(where)
        if place is None:
            place = self.places[where] = PlaceRows(*where)
        place.add(row)


def _row(now: CrNow, wall: Wall) -> CrRow:
    run, waiting, delayed, live = now.run, now.waiting, now.delayed, None
    if now.state == "running" and run is not None:
        words = (run.cause[:LONGEST_WORDS], run.run_id, run.task[:LONGEST_WORDS])
        waits_s = run.waits_since.timestamp() if run.waits_since else None
        place = run.place[:LONGEST_WORDS]
        live = Live(run.task_since.timestamp(), *words, place, "", run.tasks, waits_s)
    elif now.state == "waiting" and waiting is not None:
        cause, urgency = waiting.cause.text[:LONGEST_WORDS], waiting.urgency.name.lower()
        live = Live(wall.at(waiting.since).timestamp(), cause, urgency=urgency)
    follows = None
    if delayed is not None:
        why = delayed.cause.text[:LONGEST_WORDS]
        follows = NextRun(wall.at(delayed.deadline).timestamp(), why)
    return CrRow(now.key, now.state, now.generation, live, now.last, follows)
