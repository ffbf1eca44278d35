"""Keys that come back at a set time, each at most once.

The earliest deadline of a key wins and later ones are dropped, as in the Go operator: a run that an
event triggered does not push the periodic one further away. The heap keeps entries that were replaced
until they surface; it is rebuilt when they outnumber the live ones, so that it stays as small as the
number of keys.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from rolecall.workqueue.cause import UNREPORTED, Cause
from rolecall.workqueue.key import Key, Urgency

# Below so many entries a rebuild costs more than it frees.
REBUILD_ABOVE = 64


@dataclass(frozen=True, slots=True)
class Delayed:
    """A key that falls due at a set time; an entry of the heap counts only while it has its ticket."""

    key: Key
    urgency: Urgency
    cause: Cause
    deadline: float
    ticket: int


class Delays:
    """Deadlines, on the same clock as the queue's."""

    def __init__(self) -> None:
        self._pending: dict[Key, Delayed] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._tickets = count()

    def add(self, key: Key, deadline: float, urgency: Urgency, cause: Cause = UNREPORTED) -> None:
        """Let `key` fall due at `deadline`, unless it does so earlier already."""
        pending = self._pending.get(key)
        if pending is not None and pending.deadline <= deadline:
            return
        ticket = next(self._tickets)
        self._pending[key] = Delayed(key, urgency, cause, deadline, ticket)
        heapq.heappush(self._heap, (deadline, ticket, key))

    def drop(self, key: Key) -> None:
        self._pending.pop(key, None)

    def drop_all(self, is_dropped: Callable[[Key], bool]) -> None:
        for key in [key for key in self._pending if is_dropped(key)]:
            del self._pending[key]

    def take_due(self, now: float) -> list[Delayed]:
        """Remove and return the keys whose deadline has passed, the earliest first."""
        due = []
        while (deadline := self.next_deadline()) is not None and deadline <= now:
            _, _, key = heapq.heappop(self._heap)
            due.append(self._pending.pop(key))
        return due

    def next_deadline(self) -> float | None:
        """The earliest deadline; None when nothing waits."""
        self._rebuild_if_stale()
        while self._heap and not self._is_live(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def all(self) -> Iterator[Delayed]:
        return iter(self._pending.values())

    def __len__(self) -> int:
        return len(self._pending)

    def _is_live(self, entry: tuple[float, int, Key]) -> bool:
        _, ticket, key = entry
        pending = self._pending.get(key)
        return pending is not None and pending.ticket == ticket

    def _rebuild_if_stale(self) -> None:
        if len(self._heap) > REBUILD_ABOVE + 2 * len(self._pending):
            self._heap = [entry for entry in self._heap if self._is_live(entry)]
            heapq.heapify(self._heap)
