"""How long a key that failed must wait before it may try again.

Each failure in a row doubles the wait, as controller-runtime does, up to `cap_s`; one success forgets
them all. The first wait depends on what failed: an error of the API server is often over in the next
moment, a role that failed fails again in it. There is no jitter: keys that fail together were taken
one after another, so they never come back in step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rolecall.workqueue.key import Key


@dataclass(frozen=True, slots=True)
class _Failures:
    in_a_row: int = 0
    wait_s: float = 0.0  # the one for the last of them


class Backoff:
    def __init__(self, start_s: float, cap_s: float) -> None:
        self._start_s = start_s
        self._cap_s = cap_s
        self._failures: dict[Key, _Failures] = {}

    def fail(self, key: Key, at_least_s: float = 0.0) -> float:
        """Count one more failure and return the seconds to wait for it."""
        last = self._failures.get(key, _Failures())
        wait_s = min(max(self._start_s, at_least_s, last.wait_s * 2.0), self._cap_s)
        self._failures[key] = _Failures(last.in_a_row + 1, wait_s)
        return wait_s

    def in_a_row(self, key: Key) -> int:
        """How often the key failed since it last succeeded."""
        return self._failures.get(key, _Failures()).in_a_row

    def reset(self, key: Key) -> None:
        """Forget the failures: the next one waits as the first did."""
        self._failures.pop(key, None)

    def drop_all(self, is_dropped: Callable[[Key], bool]) -> None:
        for key in [key for key in self._failures if is_dropped(key)]:
            del self._failures[key]

    def __len__(self) -> int:
        return len(self._failures)
