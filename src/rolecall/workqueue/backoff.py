"""How long a key that failed must wait before it may try again.

Each failure in a row doubles the wait, as controller-runtime does, from `start_s` up to `cap_s`; one
success forgets them all. There is no jitter: keys that fail together were taken one after another, so
they never come back in step.
"""

from __future__ import annotations

from rolecall.workqueue.key import Key

# 2**60 seconds is past any cap; the bound keeps a key that fails for years from growing huge numbers.
MAX_DOUBLINGS = 60


class Backoff:
    def __init__(self, start_s: float, cap_s: float) -> None:
        self._start_s = start_s
        self._cap_s = cap_s
        self._failures: dict[Key, int] = {}

    def fail(self, key: Key) -> float:
        """Count one more failure and return the seconds to wait for it."""
        doublings = self._failures.get(key, 0)
        self._failures[key] = min(doublings + 1, MAX_DOUBLINGS)
        return min(self._start_s * 2.0**doublings, self._cap_s)

    def reset(self, key: Key) -> None:
        """Forget the failures: the next one waits `start_s` again."""
        self._failures.pop(key, None)

    def __len__(self) -> int:
        return len(self._failures)
