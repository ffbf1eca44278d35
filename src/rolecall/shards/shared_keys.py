"""Stands between whoever brings keys and the queue: only keys that are this replica's wait there.

Every replica follows every CR, since the API server cannot divide a stream by a hash. So whatever
happens is seen by all, and passed on by the one that may act for it. A key that comes to this replica
is queued as after a start, which finds out all that anybody may have missed. What was edited or deleted
while it was another's is remembered for as long as a key may take to change hands: an edit goes first
wherever it is taken, and a CR that went is in no list any more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

from rolecall.acting import RightToAct
from rolecall.clock import Clock
from rolecall.workqueue import START, Cause, Key, Queue, Urgency

IsMeant = Callable[[Key], bool]


class SharedKeys:
    """A `Sink`, for CRs, for what plays made and for what they read."""

    def __init__(
        self,
        queue: Queue,
        hand_for: Callable[[Key], RightToAct | None],
        clock: Clock,
        remembered_s: float = 0.0,
    ) -> None:
        """`hand_for`: None where no turn for a key may begin here now."""
        self._queue, self._hand_for, self._clock = queue, hand_for, clock
        self._remembered_s = remembered_s
        # Told of a CR that somebody created, edited or deleted, whose run may be pointless now.
        self.on_edited: Callable[[Key], None] = lambda _: None
        # Told of a key that is another's: nobody here will ask for what its event brought. Not of the
        # first list, which comes before a replica has its part.
        self.on_foreign: Callable[[Key], object] = lambda _: None
        # What is urgent of others' CRs, and when that was seen; the oldest first.
        self._urgent: OrderedDict[Key, tuple[Cause, float]] = OrderedDict()

    def add(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        """Something happened to a CR, or to what it depends on."""
        if self._hand_for(key) is not None:
            self._queue.add(key, urgency, cause)
        else:
            self._leave_to_others(key, urgency, cause)
        if urgency is Urgency.EDIT:
            self.on_edited(key)

    def add_at_once(self, key: Key, cause: Cause) -> None:
        """Somebody asks for it, past what it waits for."""
        if self._hand_for(key) is not None:
            self._queue.add_at_once(key, cause)

    def gained(self, known: Iterable[Key], is_gained: IsMeant) -> None:
        """These keys came to this replica; `known` are those of them whose CRs are there."""
        self._forget_old()
        for key in [key for key in self._urgent if is_gained(key)]:
            cause, _ = self._urgent.pop(key)
            if self._hand_for(key) is not None:
                self._queue.add(key, Urgency.EDIT, cause)
        for key in known:
            if self._hand_for(key) is not None:
                self._queue.add(key, Urgency.STARTUP, START)

    def drop(self, is_dropped: IsMeant) -> list[Key]:
        """These keys are another's from now on; returns those in hand."""
        for waiting in self._queue.waiting():
            if waiting.urgency is Urgency.EDIT and is_dropped(waiting.key):
                self._remember(waiting.key, waiting.cause)
        return self._queue.drop(is_dropped)

    def _leave_to_others(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        if urgency is not Urgency.STARTUP:
            self.on_foreign(key)
        if urgency is Urgency.EDIT:
            self._remember(key, cause)

    def _remember(self, key: Key, cause: Cause) -> None:
        """It may come here before its holder got to it."""
        if self._remembered_s:
            self._forget_old()
            self._urgent.pop(key, None)
            self._urgent[key] = (cause, self._clock.monotonic())

    def _forget_old(self) -> None:
        oldest = self._clock.monotonic() - self._remembered_s
        while self._urgent and next(iter(self._urgent.values()))[1] < oldest:
            self._urgent.popitem(last=False)
