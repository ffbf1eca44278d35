"""The intervals of one span, packed, with a bound on all of them; and the numbers of places."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from rolecall.extensions.console.page.trends.model import Interval, TrendSpan
from rolecall.extensions.console.page.trends.packed import (
    CODES,
    FAILING,
    NO_RUNS,
    PackedCounts,
    Sums,
    interval_of,
)
from rolecall.gvk import Gvk

TrendPlace = tuple[Gvk, str]
# Fits into two bytes, and is more than an engine can watch.
_MOST_PLACES = 32_000


class PlaceNumbers:
    """A number for each place of which anything is kept."""

    def __init__(self) -> None:
        self.kinds: list[Gvk] = []
        self.kind_of = array("I")  # of a place, by its number: index into `kinds`
        self._numbers: dict[TrendPlace, int] = {}
        self._free: list[int] = []

    def by_number(self) -> dict[int, TrendPlace]:
        return {number: place for place, number in self._numbers.items()}

    def of(self, place: TrendPlace) -> int | None:
        """None: there are too many."""
        number = self._numbers.get(place)
        if number is None and len(self._numbers) < _MOST_PLACES:
            if place[0] not in self.kinds:
                self.kinds.append(place[0])
            kind = self.kinds.index(place[0])
            if self._free:
                number = self._free.pop()
                self.kind_of[number] = kind
            else:
                number = len(self.kind_of)
                self.kind_of.append(kind)
            self._numbers[place] = number
        return number

    def known(self, places: Iterable[TrendPlace]) -> frozenset[int]:
        numbers = map(self._numbers.get, places)
        return frozenset(number for number in numbers if number is not None)

    def flags(self, numbers: Collection[int]) -> bytes:
        """A byte for each number: 1 for these."""
        flags = bytearray(len(self.kind_of))
        for number in numbers:
            flags[number] = 1
        return bytes(flags)

    def keep(self, used: Collection[int]) -> bool:
        """Forget all others; whether there were any."""
        unused = [place for place, number in self._numbers.items() if number not in used]
        self._free += [self._numbers.pop(place) for place in unused]
        return bool(unused)


ALL = -1  # instead of a kind's index
Rows = dict[int, list[Interval]]  # of each kind by its index, and of all; one for each interval


class RowsAt(NamedTuple):
    now: int  # the interval that was not over, and is the last
    rows: Rows


class IntervalSeries:
    def __init__(self, span: TrendSpan, most: int, places: PlaceNumbers) -> None:
        """`most`: entries, which take four bytes each."""
        self._span, self._most, self._places = span, most, places
        self._closed: dict[int, PackedCounts] = {}
        self.dropped = -1  # the newest interval that had to go before its time

    def merge(self, number: int, counts: Mapping[int, int], *, is_end: bool = False) -> None:
        """More of an interval. `is_end`: CRs that fail are not more, but those of its end."""
        before = self._closed[number].counts() if number in self._closed else {}
        if is_end:
            before = {key: count for key, count in before.items() if key % CODES != FAILING}
        for key, count in counts.items():
            before[key] = before.get(key, 0) + count
        if before:
            self._closed[number] = PackedCounts(before, self._places.kind_of)
        else:
            self._closed.pop(number, None)

    def trim(self, now: int) -> None:
        """Drop what is older than the span, and the oldest of what is too much."""
        size = 0
        for number in sorted(self._closed, reverse=True):
            size += len(self._closed[number])
            if number <= now - self._span.intervals:
                del self._closed[number]
            elif size > self._most and number < now:
                del self._closed[number]
                self.dropped = max(self.dropped, number)

    def owners(self) -> set[int]:
        """The places of which something is kept."""
        return set().union(*(packed.owners for packed in self._closed.values()))

    def rows(
        self,
        now: int,
        live: PackedCounts,
        is_seen: bytes,
        kinds: Iterable[int],
        before: RowsAt | None,
    ) -> RowsAt:
        """`live`: of the interval `now`, besides what is packed; `before`: rows of an earlier one."""
        first = now - self._span.intervals + 1
        begin, kept = first, Rows()
        if before is not None and before.now > first:
            begin = before.now
            kept = {kind: row[now - begin : -1] for kind, row in before.rows.items()}
        rows = {kind: kept.get(kind) or [NO_RUNS] * (begin - first) for kind in (ALL, *kinds)}
        failing: dict[int, int] = {}
        for number in range(begin - 1, now + 1):
            sums = self._sums(number, live if number == now else None, is_seen)
            for kind, row in rows.items():
                of_kind = sums.get(kind, {})
                if number >= begin:
                    row.append(interval_of(of_kind, failing.get(kind, 0)))
                failing[kind] = of_kind.get(FAILING, 0)
        return RowsAt(now, rows)

    def _sums(self, number: int, live: PackedCounts | None, is_seen: bytes) -> dict[int, Sums]:
        found: dict[int, Sums] = {}
        for packed in (self._closed.get(number), live):
            for kind, code, count in packed.sums(is_seen) if packed is not None else ():
                if code == FAILING and live is not None and packed is not live:
                    continue  # of a moment ago
                for key in (kind, ALL):
                    sums = found.setdefault(key, {})
                    sums[code] = sums.get(code, 0) + count
        return found
