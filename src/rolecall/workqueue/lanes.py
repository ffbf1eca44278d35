"""Which of the waiting keys is next.

Promises: the most urgent key goes first; among equals namespaces take turns, and each in order of
arrival; a key waits once, however often it is put; a more urgent put moves it up. And nothing starves:
once a key has waited `ageing_s`, at most `MAX_JUMPS` more urgent keys pass before the one that waited
longest has its turn.

The hard part is that a start-up list of thousands waits for minutes. Adding age to urgency, the usual
way, was rejected: after `urgency steps * ageing_s` the whole list outranks every new edit, and a user
waits behind all of it. Counting jumps bounds both sides: an edit is passed by at most one old key, and
old keys get at least one turn in `MAX_JUMPS + 1`.

Namespaces take turns by rounds, as in start-time fair queueing: a key's round is one after its
namespace's last that waits, and never before the round that is being served. So a namespace with sixty
keys has sixty rounds, and the only key of another one is in the next, whatever their kinds. A round
that began is over before the next one begins, so no stream of namespaces keeps a key waiting. Rejected:
a queue for each namespace and a pointer that goes round: a kind at its limit holds up the pointer.

There is one lane for each kind and urgency, because a kind that is at its limit must not hide others.
A search looks at the heads of the lanes only, so its cost grows with kinds, and with keys by their
logarithm alone.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rolecall.gvk import Gvk
from rolecall.workqueue.cause import Cause
from rolecall.workqueue.key import Key, Urgency

# One turn in four for the aged: edits stay quick in a storm, and a list of 10,000 still ends.
MAX_JUMPS = 3
_FEW = 16


@dataclass(frozen=True, slots=True)
class Waiting:
    """A key in a lane; `order` grows with time, so it also shows which came first."""

    key: Key
    urgency: Urgency
    cause: Cause
    since: float
    order: int
    round: int = 0  # in which its namespace has its turn


@dataclass(slots=True)
class Lane:
    """The keys of one kind and urgency, by arrival and by turn.

    An OrderedDict finds its first entry at once however many were removed before it; what was removed
    leaves the heap when it comes to its top.
    """

    keys: OrderedDict[Key, Waiting] = field(default_factory=OrderedDict)
    _turns: list[tuple[int, int, Key]] = field(default_factory=list)

    def put(self, waiting: Waiting) -> None:
        self.keys[waiting.key] = waiting
        heapq.heappush(self._turns, (waiting.round, waiting.order, waiting.key))

    def remove(self, key: Key) -> None:
        del self.keys[key]
        if len(self._turns) > 2 * len(self.keys) + _FEW:  # mostly of keys that moved up
            self._turns = [(each.round, each.order, key) for key, each in self.keys.items()]
            heapq.heapify(self._turns)

    def oldest(self) -> Waiting:
        return next(iter(self.keys.values()))

    def next(self) -> Waiting:
        """Whose turn it is."""
        while True:
            _, order, key = self._turns[0]
            waiting = self.keys.get(key)
            if waiting is not None and waiting.order == order:
                return waiting
            heapq.heappop(self._turns)


@dataclass(slots=True)
class _Rounds:
    """Of one urgency: which is being served, and how many keys and which last round a namespace has."""

    now: int = 0
    last: dict[str, int] = field(default_factory=dict)
    waiting: Counter[str] = field(default_factory=Counter)

    def join(self, namespace: str) -> int:
        self.waiting[namespace] += 1
        mine = self.last[namespace] = max(self.now, self.last.get(namespace, 0)) + 1
        return mine

    def leave(self, namespace: str) -> None:
        self.waiting[namespace] -= 1
        if not self.waiting[namespace]:
            del self.waiting[namespace], self.last[namespace]


def _any_kind(_: Gvk) -> bool:
    return True


class Lanes:
    def __init__(self, ageing_s: float) -> None:
        self._ageing_s = ageing_s
        # A key is in exactly one lane: that of its urgency in `_urgencies`.
        self._lanes: dict[Gvk, dict[Urgency, Lane]] = {}
        self._urgencies: dict[Key, Urgency] = {}
        self._rounds = {urgency: _Rounds() for urgency in Urgency}
        self._order = 0
        self._jumps = 0

    def put(self, key: Key, urgency: Urgency, cause: Cause, now: float) -> None:
        """Let a key wait; one that waits already moves up, never down, and its cause with it."""
        waiting = self._urgencies.get(key)
        if waiting is not None:
            if waiting <= urgency:
                return
            self._remove(key)
        self._order += 1
        self._urgencies[key] = urgency
        lanes = self._lanes.setdefault(key.gvk, {level: Lane() for level in Urgency})
        turn = self._rounds[urgency].join(key.namespace)
        lanes[urgency].put(Waiting(key, urgency, cause, now, self._order, turn))

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
        lanes = list(self._filled(has_room))
        if not lanes:
            return None
        jumps = self._jumps
        chosen = self._choose(lanes, now)
        if not fits(chosen.key.gvk):
            self._jumps = jumps
            return None
        rounds = self._rounds[chosen.urgency]
        rounds.now = max(rounds.now, chosen.round)
        self._remove(chosen.key)
        return chosen

    def remove(self, key: Key) -> Waiting | None:
        """Let a key wait no more; returns how it waited."""
        urgency = self._urgencies.get(key)
        if urgency is None:
            return None
        waiting = self._lanes[key.gvk][urgency].keys[key]
        self._remove(key)
        return waiting

    def drop(self, is_dropped: Callable[[Key], bool]) -> None:
        """Let keys wait no more."""
        for key in [key for key in self._urgencies if is_dropped(key)]:
            self._remove(key)

    def all(self) -> Iterator[Waiting]:
        """Each key that waits, in no order."""
        for lanes in self._lanes.values():
            for lane in lanes.values():
                yield from lane.keys.values()

    def depths(self) -> dict[Gvk, dict[Urgency, int]]:
        return {
            gvk: {urgency: len(lane.keys) for urgency, lane in lanes.items()}
            for gvk, lanes in self._lanes.items()
        }

    def oldest(self) -> dict[Urgency, float]:
        """Since when the longest-waiting key of each urgency waits."""
        oldest: dict[Urgency, float] = {}
        for lane in self._filled(_any_kind):
            head = lane.oldest()
            oldest[head.urgency] = min(head.since, oldest.get(head.urgency, head.since))
        return oldest

    def _remove(self, key: Key) -> None:
        urgency = self._urgencies.pop(key)
        self._lanes[key.gvk][urgency].remove(key)
        self._rounds[urgency].leave(key.namespace)

    def _filled(self, has_room: Callable[[Gvk], bool]) -> Iterator[Lane]:
        for gvk, lanes in self._lanes.items():
            if has_room(gvk):
                yield from (lane for lane in lanes.values() if lane.keys)

    def _choose(self, lanes: list[Lane], now: float) -> Waiting:
        heads = (lane.next() for lane in lanes)
        most_urgent = min(heads, key=lambda head: (head.urgency, head.round, head.order))
        oldest = min((lane.oldest() for lane in lanes), key=lambda head: head.order)
        is_overdue = now - oldest.since >= self._ageing_s
        if not is_overdue or oldest.urgency <= most_urgent.urgency:
            self._jumps = 0
            return most_urgent
        if self._jumps < MAX_JUMPS:
            self._jumps += 1
            return most_urgent
        self._jumps = 0
        return oldest
