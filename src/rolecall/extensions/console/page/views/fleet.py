"""All objects, as a list or in groups: values in, text out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rolecall.extensions.console.page import charts
from rolecall.extensions.console.page.choosing import (
    FILTERS,
    ROW_SORTS,
    STATES,
    sort_of,
    without,
)
from rolecall.extensions.console.page.grouping import (
    BY_LABEL,
    GROUPINGS,
    Group,
    label_of,
    reason_in_words,
)
from rolecall.extensions.console.page.rows import CrRow, Query
from rolecall.extensions.console.page.views.rendering import (
    Html,
    PageLayout,
    encoded,
    page,
    render,
)

CR_WINDOW = 100
MOST_GROUPS = 100
_COLUMNS = (
    ("Object", "name"),
    ("State", "state"),
    ("Namespace", "namespace"),
    ("Since", "since"),
    ("Last run", "took"),
    ("Details", ""),
    ("Next", "next"),
)
_COLOURS = {"failed": "bad", "running": "busy", "waiting": "waits", "ready": "good"}
_NOTHING = {
    "kind": "No object that you may list is of the kind “{}”.",
    "namespace": "No object that you may list is in the namespace “{}”.",
    "name": "No object that you may list has “{}” in its name.",
    "state": "No object that you may list is in the state “{}”.",
    "failing": "No object that you may list is found by failing: “{}”.",
    "label": "None of these objects has the label “{}”.",
    "reason": "No failure whose log you may read has “{}” in its reason.",
    "same": "No failure whose log you may read has the reason “{}”.",
    "cause": "No run whose log you may read has “{}” in its cause.",
}


@dataclass(frozen=True, slots=True)
class Window:
    """Some of the rows that a query found."""

    query: Query
    rows: Sequence[CrRow]
    start: int
    total: int
    problem: str = ""  # why nothing could be found
    nothing: str = ""  # the filter that finds nothing; `all`: only all of them together

    @property
    def found(self) -> str:
        return "1 object" if self.total == 1 else f"{self.total:,} objects"


@dataclass(frozen=True, slots=True)
class Groups:
    all: Sequence[Group]

    @property
    def shown(self) -> Sequence[Group]:
        return self.all[:MOST_GROUPS]

    @property
    def rest(self) -> Group | None:
        """Those that are not shown, as one that leads nowhere."""
        more = self.all[MOST_GROUPS:]
        return Group(f"{len(more):,} more groups", Query(), False, _sum(more)) if more else None

    @property
    def sum(self) -> Group:
        return Group("All", Query(), False, _sum(self.all))


@dataclass(frozen=True, slots=True)
class FleetPage:
    """What a list shows; `groups`: in place of its rows."""

    window: Window
    kinds: Sequence[str]
    group: str = ""
    groups: Groups | None = None

    @property
    def found(self) -> str:
        if self.groups is None:
            return self.window.found
        count = len(self.groups.all)
        return f"{self.window.found} in {count:,} {'group' if count == 1 else 'groups'}"

    @property
    def label_key(self) -> str:
        return label_of(self.group)


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    link: str = ""
    order: str = ""  # as `aria-sort` says it; empty: not by this one


def crs(fleet: FleetPage, layout: PageLayout) -> Html:
    return page("crs", "Objects", layout, live="/events", **_values(fleet))


def cr_groups(fleet: FleetPage) -> Html:
    """The groups alone, for the script."""
    return render("crs_groups", **_values(fleet))


def fleet_rows(window: Window) -> Html:
    """The rows alone, for the script."""
    return render("fleet_rows", window=window)


def _values(fleet: FleetPage) -> dict[str, Any]:
    query, group = fleet.window.query, fleet.group
    return {
        "fleet": fleet,
        "window": fleet.window,
        "query": query,
        "here": _address(query, group),
        "columns": [_column(name, by, query) for name, by in _COLUMNS],
        "chips": _chips(query, group),
        "nothing": _nothing(fleet.window),
        "groupings": [("none", _address(query), not group)]
        + [(each, _address(query, each), group == each) for each in GROUPINGS],
        "group_states": [] if fleet.groups is None else _states(fleet.groups.sum.by_state),
        "group_word": fleet.label_key or group,
        "is_by_label": group.startswith(BY_LABEL),
        "asks_labels": group.startswith(BY_LABEL) or bool(query.label),
        "size": CR_WINDOW,
        "list_of": lambda each, state="": _address(
            replace(each.query, state=state) if state else each.query
        ),
        "shares": _shares,
    }


def _address(query: Query, group: str = "") -> str:
    words = encoded({**asdict(query), "group": group})
    return f"/crs?{words}" if words else "/crs"


def _column(name: str, by: str, query: Query) -> _Column:
    if not by:
        return _Column(name)
    now, is_down = sort_of(query.sort)
    wants_down = not is_down if now == by else ROW_SORTS[by].begins_high
    link = _address(replace(query, sort=f"-{by}" if wants_down else by))
    order = ("descending" if is_down else "ascending") if now == by else ""
    return _Column(name, link, order)


def _chips(query: Query, group: str) -> list[tuple[str, str, str]]:
    """The name of each filter, its value, and where it is not."""
    chips = []
    for name in FILTERS:
        if value := getattr(query, name):
            words = reason_in_words(value) if name == "same" else value
            shown = "reason" if name == "same" else name
            chips.append((shown, words, _address(without(query, name), group)))
    if group:
        chips.append(("grouped by", group.replace(BY_LABEL, "label "), _address(query)))
    return chips


def _nothing(window: Window) -> str:
    if not window.nothing:
        return ""
    if window.nothing in _NOTHING:
        value = getattr(window.query, window.nothing)
        value = reason_in_words(value) if window.nothing == "same" else value
        return _NOTHING[window.nothing].format(value)
    if any(getattr(window.query, name) for name in FILTERS):
        return "Each of these filters finds objects, but no object is found by all of them."
    return "There are no objects that you may list."


def _states(by_state: Counter[str]) -> list[str]:
    """Those that occur."""
    known = [state for state in STATES if by_state[state]]
    return known + sorted(state for state in by_state if state not in STATES)


def _shares(group: Group) -> tuple[list[charts.ChartMark], str]:
    """A mark for each state, side by side, and the same in words."""
    marks, done = list[charts.ChartMark](), 0
    for state in _states(group.by_state):
        count = group.by_state[state]
        width = charts.WIDTH * count / group.total
        left = charts.WIDTH * done / group.total
        marks.append(
            charts.ChartMark(left, width, _COLOURS.get(state, "rests"), f"{count:,} {state}")
        )
        done += count
    return marks, ", ".join(mark.title for mark in marks)


def _sum(groups: Sequence[Group]) -> Counter[str]:
    total = Counter[str]()
    for each in groups:
        total.update(each.by_state)
    return total
