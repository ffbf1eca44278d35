"""Edits and deletions of CRs while their keys were another replica's.

A key that comes to this replica is queued as after a start, which finds all missed changes except two:
an edit has the highest urgency, and a deleted CR is in no list any more. Both are kept for as long as a
key may take to move to another replica.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from rolecall.clock import Clock
from rolecall.workqueue import Cause, Key


class MissedKeys:
    def __init__(self, clock: Clock, remembered_s: float) -> None:
        self._clock, self._remembered_s = clock, remembered_s
        # When that was seen; the oldest first.
        self._missed: OrderedDict[Key, tuple[Cause, float]] = OrderedDict()

    def remember(self, key: Key, cause: Cause) -> None:
        """It may come here before its holder got to it."""
        self._forget_old()
        self._missed.pop(key, None)
        self._missed[key] = (cause, self._clock.monotonic())

    def take(self, is_meant: Callable[[Key], bool]) -> list[tuple[Key, Cause]]:
        """Those of these keys, and forget them."""
        self._forget_old()
        return [(key, self._missed.pop(key)[0]) for key in list(self._missed) if is_meant(key)]

    def _forget_old(self) -> None:
        oldest = self._clock.monotonic() - self._remembered_s
        while self._missed and next(iter(self._missed.values()))[1] < oldest:
            self._missed.popitem(last=False)
