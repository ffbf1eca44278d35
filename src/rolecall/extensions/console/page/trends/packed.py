"""Counts of one interval by place, packed: each takes four bytes, and a sum needs no object for each.

What is counted has a code: failed runs, CRs that fail, and one for each length of a run or a wait. The
lengths grow by 15 %, so a median is right to 7 %, and counts of any places add up to those of all.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress

from rolecall.extensions.console.page.trends.model import Interval

FAILED, FAILING, UNTIMED = range(3)
_DURATIONS, _WAITS, CODES = 3, 128, 256
_BUCKETS = 120  # more than a week
_SHORTEST_S, _GROWTH = 0.05, math.log(1.15)
_MOST = 0xFFFF  # of one thing at one place in one interval
NO_RUNS = Interval()

# Of one kind: how often each code was counted.
Sums = dict[int, int]


def duration_code(seconds: float) -> int:
    return _DURATIONS + _bucket(seconds)


def wait_code(seconds: float) -> int | None:
    """None: the wait is too short to count."""
    return _WAITS + _bucket(seconds) if seconds > _SHORTEST_S else None


class PackedCounts:
    """By number of the place and code; sorted by kind and code."""

    __slots__ = ("_codes", "_ends", "_values", "owners")

    def __init__(self, counts: Mapping[int, int], kind_of: Sequence[int]) -> None:
        """`counts`: by `number of the place * CODES + code`; `kind_of`: of a place, by its number."""
        entries = sorted((kind_of[key // CODES] * CODES + key % CODES, key) for key in counts)
        self.owners = array("H", (key // CODES for _, key in entries))
        self._values = array("H", (min(counts[key], _MOST) for _, key in entries))
        self._codes, self._ends = array("I"), array("I")
        for end, (code, _) in enumerate(entries, 1):
            if self._codes and self._codes[-1] == code:
                self._ends[-1] = end
            else:
                self._codes.append(code)
                self._ends.append(end)

    def __len__(self) -> int:
        return len(self.owners)

    def counts(self) -> dict[int, int]:
        """As they were before."""
        found, begin = {}, 0
        for code, end in zip(self._codes, self._ends, strict=True):
            for owner, value in zip(self.owners[begin:end], self._values[begin:end], strict=True):
                found[owner * CODES + code % CODES] = value
            begin = end
        return found

    def sums(self, is_seen: bytes) -> Iterator[tuple[int, int, int]]:
        """Kind, code and sum of these places: those whose byte is 1."""
        seen = bytes(map(is_seen.__getitem__, self.owners))
        begin = 0
        for code, end in zip(self._codes, self._ends, strict=True):
            if total := sum(compress(self._values[begin:end], seen[begin:end])):
                yield code // CODES, code % CODES, total
            begin = end


def interval_of(sums: Sums, failing_before: int) -> Interval:
    """`failing_before`: CRs that failed when the interval began."""
    failing = max(sums.get(FAILING, 0), failing_before)
    durations = sorted(code for code in sums if _DURATIONS <= code < _WAITS)
    timed = sum(sums[code] for code in durations)
    runs = timed + sums.get(UNTIMED, 0)
    if not runs:
        return Interval(failing=failing) if failing else NO_RUNS
    longest_wait = max(sums)
    return Interval(
        runs,
        sums.get(FAILED, 0),
        failing,
        _quantile(sums, durations, timed * 0.5) if timed else None,
        _quantile(sums, durations, timed * 0.95) if timed else None,
        _seconds(longest_wait - _WAITS) if longest_wait >= _WAITS else 0.0,
    )


def _quantile(sums: Sums, durations: Sequence[int], rank: float) -> float:
    passed = 0
    for code in durations:
        passed += sums[code]
        if passed >= rank:
            break
    return _seconds(code - _DURATIONS)


def _bucket(seconds: float) -> int:
    if not seconds > _SHORTEST_S:
        return 0
    return math.ceil(min(math.log(seconds / _SHORTEST_S) / _GROWTH, _BUCKETS))


def _seconds(bucket: int) -> float:
    """The middle of its lengths."""
    return _SHORTEST_S * math.exp((bucket - 0.5) * _GROWTH) if bucket else _SHORTEST_S
