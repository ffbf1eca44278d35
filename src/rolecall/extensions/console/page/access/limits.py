"""Rate limits for requests: a burst, and then so many a second."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from rolecall.clock import Clock

_MOST_KNOWN = 4096


class TooManyError(Exception):
    """Ask again later."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"too many requests; try again in {wait_s:.0f} s")
        self.wait_s = wait_s


@dataclass(slots=True)
class _Bucket:
    left: float
    at_s: float


class RateLimits:
    """For each of many askers; who was silent longest is forgotten first, and begins anew."""

    def __init__(self, clock: Clock, *, at_once: int, a_second: float) -> None:
        self._clock, self._at_once, self._a_second = clock, at_once, a_second
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def check(self, asker: str) -> None:
        """Raises `TooManyError` where `take` would; counts nothing."""
        bucket = self._buckets.get(asker)
        if bucket is not None:
            self._raise_if_empty(self._refilled(bucket))

    def take(self, asker: str) -> None:
        """Count a request; raises `TooManyError`."""
        now = self._clock.monotonic()
        bucket = self._buckets.setdefault(asker, _Bucket(float(self._at_once), now))
        self._buckets.move_to_end(asker)
        bucket.left, bucket.at_s = self._refilled(bucket), now
        self._raise_if_empty(bucket.left)
        bucket.left -= 1
        while len(self._buckets) > _MOST_KNOWN:
            self._buckets.popitem(last=False)

    def _refilled(self, bucket: _Bucket) -> float:
        elapsed_s = self._clock.monotonic() - bucket.at_s
        return min(float(self._at_once), bucket.left + elapsed_s * self._a_second)

    def _raise_if_empty(self, left: float) -> None:
        if left < 1:
            raise TooManyError((1 - left) / self._a_second)
