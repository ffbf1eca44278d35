"""Which of the waiting keys is next.

Promises: the most urgent key goes first, in order of arrival among equals; a key waits once,
however often it is put; a more urgent put moves it up. And nothing starves: once a key has waited
`ageing_s`, at most `MAX_JUMPS` more urgent keys pass before the one that waited longest has its turn.

The hard part is that a start-up list of thousands waits for minutes. Adding age to urgency, the usual
way, was rejected: after `urgency steps * ageing_s` the whole list outranks every new edit, and a user
waits behind all of it. Counting jumps bounds both sides: an edit is passed by at most one old key, and
old keys get at least one turn in `MAX_JUMPS + 1`.

There is one lane for each kind and urgency, because a kind that is at its limit must not hide others.
A search looks at the heads of the lanes only, so its cost grows with kinds, never with keys.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rolecall.gvk import Gvk
from rolecall.workqueue.cause import Cause
from rolecall.workqueue.key import Key, Urgency

# One turn in four for the aged: edits stay quick in a storm, and a list of 10,000 still ends.
MAX_JUMPS = 3


@dataclass(frozen=True, slots=True)
class Waiting:
    """A key in a lane; `order` grows with time, so it also tells who came first."""

    key: Key
    urgency: Urgency
    cause: Cause
    since: float
    order: int


# An OrderedDict, since it finds its first entry at once however many were removed before it.
Lane = OrderedDict[Key, Waiting]


def _any_kind(_: Gvk) -> bool:
    return True


class Lanes:
    def __init__(self, ageing_s: float) -> None:
        self._ageing_s = ageing_s
        # A key is in exactly one lane: that of its urgency in `_urgencies`.
        self._lanes: dict[Gvk, dict[Urgency, Lane]] = {}
        self._urgencies: dict[Key, Urgency] = {}
        self._order = 0
        self._jumps = 0

    def put(self, key: Key, urgency: Urgency, cause: Cause, now: float) -> None:
        """Let a key wait; one that waits already moves up, never down, and its cause with it."""
        waiting = self._urgencies.get(key)
        if waiting is not None:
            if waiting <= urgency:
                return
            del self._lanes[key.gvk][waiting][key]
        self._order += 1
        self._urgencies[key] = urgency
        lanes = self._lanes.setdefault(key.gvk, {level: OrderedDict() for level in Urgency})
        lanes[urgency][key] = Waiting(key, urgency, cause, now, self._order)

    def take(
        self,
        has_room: Callable[[Gvk], bool],
        now: float,
        fits: Callable[[Gvk], bool] = _any_kind,
    ) -> Waiting | None:
        """Remove and return the next key of a kind that has room; None where there is none.

        None, too, where the next one does not fit: a cheaper one behind it would be taken instead for
        ever, and what is dear would starve.
        """
        heads = list(self._heads(has_room))
        if not heads:
            return None
        jumps = self._jumps
        chosen = self._choose(heads, now)
        if not fits(chosen.key.gvk):
            self._jumps = jumps
            return None
        del self._urgencies[chosen.key]
        del self._lanes[chosen.key.gvk][chosen.urgency][chosen.key]
        return chosen

    def drop(self, is_dropped: Callable[[Key], bool]) -> None:
        """Let keys wait no more."""
        for key in [key for key in self._urgencies if is_dropped(key)]:
            del self._lanes[key.gvk][self._urgencies.pop(key)][key]

    def all(self) -> Iterator[Waiting]:
        """Each key that waits, in no order."""
        for lanes in self._lanes.values():
            for lane in lanes.values():
                yield from lane.values()

    def depths(self) -> dict[Gvk, dict[Urgency, int]]:
        return {
            gvk: {urgency: len(lane) for urgency, lane in lanes.items()}
            for gvk, lanes in self._lanes.items()
        }

    def oldest(self) -> dict[Urgency, float]:
        """Since when the longest-waiting key of each urgency waits."""
        oldest: dict[Urgency, float] = {}
        for head in self._heads(_any_kind):
            oldest[head.urgency] = min(head.since, oldest.get(head.urgency, head.since))
        return oldest

    def _heads(self, has_room: Callable[[Gvk], bool]) -> Iterator[Waiting]:
        for gvk, lanes in self._lanes.items():
            if has_room(gvk):
                for lane in lanes.values():
                    if lane:
                        yield next(iter(lane.values()))

    def _choose(self, heads: list[Waiting], now: float) -> Waiting:
        most_urgent = min(heads, key=lambda head: (head.urgency, head.order))
        oldest = min(heads, key=lambda head: head.order)
        is_overdue = now - oldest.since >= self._ageing_s
        if not is_overdue or oldest.urgency <= most_urgent.urgency:
            self._jumps = 0
            return most_urgent
        if self._jumps < MAX_JUMPS:
            self._jumps += 1
            return most_urgent
        self._jumps = 0
        return oldest
