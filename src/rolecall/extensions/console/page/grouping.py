"""Rows in groups, with counts that add up: the number of each is the length of the list it leads to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rolecall.extensions.console.page.choosing import (
    NO_NAMESPACE,
    SAME_REASON,
    UNSEEN_REASON,
    ChosenRows,
)
from rolecall.extensions.console.page.rows import CrRow, Query
from rolecall.workqueue import Key

BY_LABEL = "label:"
GROUPINGS = ("kind", "namespace", "state", "reason")
_STEP_ROWS = 500
_LABEL_KEY = re.compile(r"[A-Za-z0-9]([A-Za-z0-9./_-]{0,315}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Group:
    """The rows that have one value; `name` is in words where there is none."""

    name: str
    query: Query  # that finds them
    is_named: bool = True
    by_state: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.by_state.total()


def label_of(group: str) -> str:
    """The key of the label that is grouped by; empty: another grouping, or no key of a label."""
    key = group.removeprefix(BY_LABEL) if group.startswith(BY_LABEL) else ""
    return key if _LABEL_KEY.fullmatch(key) else ""


@dataclass(slots=True)
class RowGrouping:
    """Groups as they are being made; `steps` may rest after each."""

    chosen: ChosenRows
    query: Query
    group: str  # one of GROUPINGS, or `label:KEY`
    values: Mapping[Key, str] = field(default_factory=dict)  # of that label
    groups: Sequence[Group] = ()

    def steps(self) -> Iterator[None]:
        counts: dict[str, Counter[str]] = {}
        value, rows = self._value(), self.chosen.rows
        for begin in range(0, len(rows), _STEP_ROWS):
            for row in rows[begin : begin + _STEP_ROWS]:
                counts.setdefault(value(row), Counter())[row.state] += 1
            yield
        groups = [
            replace(self._group(each), by_state=by_state) for each, by_state in counts.items()
        ]
        groups.sort(key=lambda each: (-each.by_state["failed"], -each.total, each.name))
        self.groups = groups

    def _value(self) -> Callable[[CrRow], str]:
        """What a row is grouped by, as it is asked for in an address."""
        match self.group:
            case "kind":
                return lambda row: row.key.gvk.kind
            case "namespace":
                return lambda row: row.key.namespace or NO_NAMESPACE
            case "state":
                return lambda row: row.state
            case "reason":
                return self._reason
        key, values = label_of(self.group), self.values
        return lambda row: f"{key}={values[row.key]}" if row.key in values else f"!{key}"

    def _reason(self, row: CrRow) -> str:
        if not self.chosen.may_read_log(row):
            return UNSEEN_REASON
        return f"{SAME_REASON}{row.plain_reason}"

    def _group(self, value: str) -> Group:
        query = self.query
        match self.group:
            case "kind":
                return Group(value, replace(query, kind=value))
            case "namespace":
                is_named = value != NO_NAMESPACE
                return Group(
                    value if is_named else "no namespace", replace(query, namespace=value), is_named
                )
            case "state":
                return Group(value, replace(query, state=value))
            case "reason":
                name = reason_in_words(value)
                is_named = value not in (SAME_REASON, UNSEEN_REASON)
                return Group(name, replace(query, same=value), is_named)
        selector = ",".join(filter(None, (query.label, value)))
        key, mark, found = value.partition("=")
        without = "(empty)" if mark else f"without {key.removeprefix('!')}"
        return Group(found or without, replace(query, label=selector), is_named=bool(found))


def reason_in_words(same: str) -> str:
    if same == UNSEEN_REASON:
        return "not shown to you"
    return same.removeprefix(SAME_REASON) or "no failure"
