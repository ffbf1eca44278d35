"""Which rows a query means, and in which order: pure, and in steps, since there are ten thousand.

Reasons and causes are run content: a row whose log the reader may not read has none, whatever is asked.
`same` asks for a group of reasons (see `grouping.py`): `=` and the reason without what differs from CR
to CR, `=` alone for CRs whose last run did not fail, and `!` for those whose reasons the reader may not
know. `failing` is `yes` or `no`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rolecall.cli import CR_STATES
from rolecall.extensions.console.page.rows import (
    CrRow,
    PlaceRows,
    Query,
    SeenRows,
    without_run_content,
)
from rolecall.gvk import Gvk
from rolecall.workqueue import Key

NO_NAMESPACE = "-"  # of CRs of kinds that have none
SAME_REASON, UNSEEN_REASON = "=", "!"
FILTERS = tuple(each.name for each in fields(Query) if each.name != "sort")
STATES = sorted(CR_STATES, key=lambda state: state != "failed")  # worst first
FAILING = ("no", "yes")
_URGENT = ("failed", "running", "waiting")  # the rest are equal where no order is asked for
_STEP_ROWS = 500


@dataclass(frozen=True, slots=True)
class Sort:
    """A column that a list can be sorted by. Rows without a value are always last."""

    value: Callable[[CrRow], Any]
    begins_high: bool = False  # the first click: the newest, the longest


ROW_SORTS = {
    "name": Sort(lambda row: row.key.name),
    "state": Sort(lambda row: _rank(STATES, row.state)),
    "namespace": Sort(lambda row: row.key.namespace or None),
    "since": Sort(lambda row: row.since_s, begins_high=True),
    "took": Sort(lambda row: row.facts.seconds, begins_high=True),
    "next": Sort(lambda row: row.next.at_s if row.next else None),
}


def sort_of(text: str) -> tuple[str, bool]:
    """The name of a sort, and whether it is downwards; empty for the order that none asked for."""
    name = text.removeprefix("-")
    return (name, name != text) if name in ROW_SORTS else ("", False)


@dataclass(frozen=True, slots=True)
class ChosenRows:
    """What a query found, in its order."""

    rows: Sequence[CrRow] = ()
    with_log: frozenset[tuple[Gvk, str]] = frozenset()

    def __len__(self) -> int:
        return len(self.rows)

    def window(self, start: int, count: int) -> list[CrRow]:
        """Some of them, without run content where the reader may not read logs."""
        some = self.rows[start : start + count]
        return [row if self.may_read_log(row) else without_run_content(row) for row in some]

    def may_read_log(self, row: CrRow) -> bool:
        return (row.key.gvk, row.key.namespace) in self.with_log


@dataclass(slots=True)
class Choosing:
    """The rows of a query as they are being found; `steps` may rest after each."""

    seen: SeenRows
    query: Query
    labelled: Container[Key] | None = None  # those with its label, where it asks for one
    chosen: ChosenRows = field(default_factory=ChosenRows)

    def steps(self) -> Iterator[None]:
        found: list[CrRow] = []
        for place in self.seen.places:
            if not _is_meant(self.query, place):
                continue
            is_asked = self._asks((place.gvk, place.namespace) in self.seen.with_log)
            for begin in range(0, len(place.rows), _STEP_ROWS):
                found += filter(is_asked, place.rows[begin : begin + _STEP_ROWS])
                yield
        yield from self._sort(found)
        self.chosen = ChosenRows(found, self.seen.with_log)

    def _asks(self, may_read_log: bool) -> Callable[[CrRow], bool] | None:
        query, labelled = self.query, self.labelled
        name, state, cause = query.name.lower(), query.state, query.cause.lower()
        reason, is_same = query.reason.lower(), _is_same(query.same)
        if not may_read_log:
            if cause or reason or query.same not in ("", UNSEEN_REASON):
                return lambda _: False
            is_same = None
        failing = query.failing
        if not (name or state or failing or cause or reason or is_same) and labelled is None:
            return None  # `filter` takes what is there

        def is_asked(row: CrRow) -> bool:
            return (
                state in ("", row.state)
                and failing in ("", FAILING[row.is_failing])
                and name in row.key.name.lower()
                and (labelled is None or row.key in labelled)
                and (not cause or cause in (row.cause or row.facts.cause).lower())
                and (not reason or reason in row.facts.reason.lower())
                and (is_same is None or is_same(row))
            )

        return is_asked

    def _sort(self, found: list[CrRow]) -> Iterator[None]:
        """By numbers that are their places in the order, so that the collector sees no new objects."""
        by, is_down = sort_of(self.query.sort)
        # Before others with the same value: by name, which is the order of all lists.
        yield from _sort(found, lambda row: row.key.name)
        if not by:
            yield from _sort(found, _urgency)
        elif by != "name":
            value = ROW_SORTS[by].value
            without = [row for row in found if value(row) is None]
            yield
            found[:] = [row for row in found if value(row) is not None]
            yield
            yield from _sort(found, value, is_down=is_down)
            found += without
        elif is_down:
            found.reverse()


def _sort(
    rows: list[CrRow], value: Callable[[CrRow], Any], *, is_down: bool = False
) -> Iterator[None]:
    rows.sort(key=value, reverse=is_down)
    yield


def without(query: Query, name: str) -> Query:
    return replace(query, **{name: ""})


def alone(query: Query, name: str) -> Query:
    return Query(**{name: getattr(query, name)})


def _is_meant(query: Query, place: PlaceRows) -> bool:
    return (
        query.kind.lower() in ("", place.gvk.kind.lower())
        and query.namespace in ("", place.namespace or NO_NAMESPACE)
        and (not query.state or place.by_state[query.state] > 0)
        and (query.failing != "yes" or bool(place.failing))
    )


def _is_same(same: str) -> Callable[[CrRow], bool] | None:
    """Whether a row is of a group of reasons, where the reader may read its log."""
    if not same:
        return None
    if not same.startswith(SAME_REASON):
        return lambda _: False
    return lambda row: row.plain_reason == same.removeprefix(SAME_REASON)


def _urgency(row: CrRow) -> int:
    """What fails comes first, also while it is tried again."""
    return _rank(_URGENT, row.state) + len(_URGENT) * (not row.is_failing)


def _rank(order: Sequence[str], state: str) -> int:
    return order.index(state) if state in order else len(order)
