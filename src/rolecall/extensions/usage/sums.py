"""Usage by namespace, by kind or by CR, what costs most first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from rolecall.extensions.usage.model import CrOfRuns, Usage


class Grouping(Enum):
    """By which parts of a CR's name sums are made; the values are words for people."""

    NAMESPACE = "namespace"
    KIND = "kind"
    CR = "cr"

    @property
    def parts(self) -> tuple[str, ...]:
        """The fields of `CrOfRuns`, in their order."""
        if self is Grouping.NAMESPACE:
            return ("namespace",)
        return ("api_version", "kind") if self is Grouping.KIND else CrOfRuns._fields


@dataclass(frozen=True, slots=True)
class UsageRow:
    names: tuple[str, ...]  # one for each part of the grouping
    crs: int
    used: Usage  # its `owned` is the sum over the CRs


def usage_by(grouping: Grouping, used: Mapping[CrOfRuns, Usage]) -> list[UsageRow]:
    """A row for each group, by CPU seconds, then by seconds."""
    rows: dict[tuple[str, ...], UsageRow] = {}
    for cr, each in used.items():
        names = tuple(str(getattr(cr, part)) for part in grouping.parts)
        rows[names] = _with(rows.get(names, UsageRow(names, 0, Usage(owned=0))), each)
    order = sorted(rows.values(), key=lambda row: row.names)
    return sorted(order, key=lambda row: (row.used.cpu_s, row.used.seconds), reverse=True)


def total_of(rows: list[UsageRow]) -> UsageRow:
    """The sum over all rows."""
    total = UsageRow((), 0, Usage(owned=0))
    for row in rows:
        total = UsageRow((), total.crs + row.crs, _sum(total.used, row.used))
    return total


def _with(row: UsageRow, used: Usage) -> UsageRow:
    return UsageRow(row.names, row.crs + 1, _sum(row.used, used))


def _sum(one: Usage, other: Usage) -> Usage:
    """Of different CRs, whose objects add up."""
    owned = (one.owned or 0) + (other.owned or 0)
    return Usage(
        one.runs + other.runs,
        one.failed + other.failed,
        one.seconds + other.seconds,
        one.cpu_s + other.cpu_s,
        one.requests + other.requests,
        owned,
    )
