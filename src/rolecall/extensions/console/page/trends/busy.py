"""Where the time of the last hour went: tasks, or causes of runs, by place, in intervals."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from sys import intern

from rolecall.extensions.console.page.trends.model import BusyRow
from rolecall.gvk import Gvk

MINUTES = 5
_INTERVALS = 12
# Of one interval, while it lasts and after it; what took least goes.
_MOST_OPEN, _MOST = 3000, 1500
_MOST_SHOWN = 8
_MOST_READERS, _MOST_SUMMED = 8, 1000
_LONGEST_NAME, _LONGEST_PLACE = 120, 120

# Number of the place, or of the kind; task or cause; `roles/web/tasks/main.yml:12`.
_Name = tuple[int, str, str]
_Total = list[float]  # times, seconds of all, seconds of the longest
_Entry = tuple[_Name, _Total]


class BusyTotals:
    def __init__(self, *, by_times: bool = False) -> None:
        """`by_times`: what happened most counts most, and not what took longest."""
        self._by = 0 if by_times else 1
        self._open: dict[int, dict[_Name, _Total]] = {}
        self._closed: dict[int, _Closed] = {}
        self._sums: dict[bytes, dict[_Name, _Total]] = {}  # of what is closed, by who sees what

    def add(self, interval: int, owner: int, name: str, place: str, seconds: float) -> None:
        totals = self._open.get(interval)
        if totals is None:
            closed = self._closed.pop(interval, None)
            self._sums.clear()
            totals = self._open[interval] = dict(closed.entries()) if closed else {}
        key = owner, intern(name[:_LONGEST_NAME]), intern(place[:_LONGEST_PLACE])
        total = totals.get(key)
        if total is None:
            if len(totals) >= _MOST_OPEN:
                self._open[interval] = totals = dict(self._largest(totals))
            total = totals[key] = [0, 0.0, 0.0]
        total[0] += 1
        total[1] += seconds
        total[2] = max(total[2], seconds)

    def close(self, now: int) -> None:
        """Pack what is over; `now`: the interval that is not."""
        self._sums.clear()
        for interval in [each for each in self._open if each < now]:
            self._closed[interval] = _Closed(self._largest(self._open.pop(interval)))
        for interval in [each for each in self._closed if each <= now - _INTERVALS]:
            del self._closed[interval]

    def owners(self) -> set[int]:
        """The places of which something is kept."""
        found = {key[0] for totals in self._open.values() for key in totals}
        return found.union(*(closed.owners for closed in self._closed.values()))

    def rows(self, is_seen: bytes, kind_of: Sequence[int], kinds: Sequence[Gvk]) -> list[BusyRow]:
        """The largest of these places."""
        before = self._sums.get(is_seen)
        if before is None:
            before = _added({}, self._seen_closed(is_seen), kind_of)
            if len(before) <= _MOST_SUMMED:
                while len(self._sums) >= _MOST_READERS:
                    self._sums.pop(next(iter(self._sums)))
                self._sums[is_seen] = before
        sums = {name: total.copy() for name, total in before.items()}
        _added(sums, self._seen_open(is_seen), kind_of)
        largest = heapq.nlargest(_MOST_SHOWN, sums.items(), key=lambda entry: entry[1][self._by])
        return [
            BusyRow(kinds[kind], name, place, int(times), total_s, longest_s)
            for (kind, name, place), (times, total_s, longest_s) in largest
        ]

    def _seen_closed(self, is_seen: bytes) -> Iterator[_Entry]:
        for closed in self._closed.values():
            yield from compress(closed.entries(), map(is_seen.__getitem__, closed.owners))

    def _seen_open(self, is_seen: bytes) -> Iterator[_Entry]:
        for totals in self._open.values():
            yield from (entry for entry in totals.items() if is_seen[entry[0][0]])

    def _largest(self, totals: dict[_Name, _Total]) -> list[_Entry]:
        if len(totals) <= _MOST:
            return list(totals.items())
        return heapq.nlargest(_MOST, totals.items(), key=lambda entry: entry[1][self._by])


def _added(
    sums: dict[_Name, _Total], entries: Iterable[_Entry], kind_of: Sequence[int]
) -> dict[_Name, _Total]:
    """By kind instead of place."""
    for (owner, name, place), (times, total_s, longest_s) in entries:
        key = kind_of[owner], name, place
        found = sums.get(key)
        if found is None:
            sums[key] = [times, total_s, longest_s]
        else:
            found[0] += times
            found[1] += total_s
            found[2] = max(found[2], longest_s)
    return sums


class _Closed:
    """An interval that is over, in a tenth of the memory."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.owners = array("H", (owner for (owner, _, _), _ in entries))
        self._names = tuple(name for (_, name, _), _ in entries)
        self._places = tuple(place for (_, _, place), _ in entries)
        self._totals = [array("f", (total[part] for _, total in entries)) for part in range(3)]

    def entries(self) -> Iterator[_Entry]:
        names = zip(self.owners, self._names, self._places, strict=True)
        return zip(names, map(list, zip(*self._totals, strict=True)), strict=True)
