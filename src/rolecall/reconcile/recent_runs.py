"""Lets what a run set in motion come to rest before its CR is looked at again.

What a run makes is touched by controllers in the next moments: a revision, a volume's name. Each such
change would bring the CR back at once, so one create made three runs. So a turn that only dependents
ask for waits until some time after the end of the CR's last run; then one run sees it all. Long after
a run, nothing waits.

Kept is an end only for as long as it matters, so CRs at rest cost nothing here.
"""

from __future__ import annotations

from rolecall.clock import Clock
from rolecall.workqueue import Key


class RecentRuns:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rest_at: dict[Key, float] = {}  # in the order in which runs ended

    def __len__(self) -> int:
        return len(self._rest_at)

    def ended(self, key: Key, delay_s: float) -> None:
        """A run of this key is over; what comes of it shall wait so long."""
        now = self._clock.monotonic()
        self._rest_at.pop(key, None)
        while self._rest_at and self._rest_at[first := next(iter(self._rest_at))] <= now:
            del self._rest_at[first]
        if delay_s > 0:
            self._rest_at[key] = now + delay_s

    def wait_s(self, key: Key) -> float:
        """How long a turn that dependents asked for must still wait; 0 for not at all."""
        return max(0.0, self._rest_at.get(key, 0.0) - self._clock.monotonic())
