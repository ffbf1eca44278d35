"""How many objects all CRs of a watch lost lately: a mistake in a role stops before it took them all.

Counted is what this process deleted within the last hour, so a restart begins anew, and each replica of
an operator whose replicas divide the CRs counts by itself.
"""

from __future__ import annotations

from collections import deque

from rolecall.clock import Clock
from rolecall.gvk import Gvk

_WINDOW_S = 3600.0


class Fleet:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times: dict[Gvk, deque[float]] = {}  # of each deletion

    def reserve(self, kind: Gvk, count: int, limit: int) -> str:
        """Count so many deletions; where that is too many, none is counted, and it says why.

        A limit of 0 is none.
        """
        now = self._clock.monotonic()
        times = self._times.setdefault(kind, deque())
        while times and times[0] <= now - _WINDOW_S:
            times.popleft()
        if limit and len(times) + count > limit:
            return (
                f"{count} objects are no longer wanted, and none was deleted: `prune` allows {limit}"
                f" for all objects of kind {kind.kind} within an hour, and {len(times)} were deleted;"
                " raise `prune.fleetLimit` in watches.yaml if this is right"
            )
        times.extend([now] * count)
        return ""

    def give_back(self, kind: Gvk, count: int) -> None:
        """So many of those that were counted last were not deleted."""
        for _ in range(count):
            self._times[kind].pop()
