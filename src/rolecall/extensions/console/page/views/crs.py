"""The list of CRs: a form to search, and a window of the rows that were found.

The script asks for windows while one scrolls; without it, links lead from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from rolecall.extensions.console.page.rows import STATES, CrRow, Query
from rolecall.extensions.console.page.views import places
from rolecall.extensions.console.page.views.html import Html, el, inner
from rolecall.extensions.console.page.views.layout import PageLayout, badge, page, table, time_of

CR_WINDOW = 100


@dataclass(frozen=True, slots=True)
class Window:
    """Some of the rows that a query found."""

    query: Query
    rows: Sequence[CrRow]
    start: int
    total: int
    problem: str = ""  # why nothing could be found


def crs(window: Window, kinds: Sequence[str], layout: PageLayout) -> str:
    return page("Objects", layout, _form(window.query, kinds), _results(window), live="/events")


def cr_rows(window: Window) -> Html:
    """The rows alone, for the script."""
    return inner(_row(row) for row in window.rows)


def _results(window: Window) -> Html:
    if window.problem:
        return el("p", window.problem, class_="problem", role="alert")
    found = "1 object" if window.total == 1 else f"{window.total:,} objects"
    rows = table(
        "Objects",
        ("Object", "State", "Namespace", "Since", "What", "Next"),
        cr_rows(window),
        class_="rows objects",
        data_rows=f"/crs?{_words(window.query)}&fragment=1",
        data_start=str(window.start),
        data_total=str(window.total),
    )
    return el(
        "div",
        el("p", found, class_="found", id="found"),
        rows,
        _pages(window),
        id="results",
        class_="card",
    )


def _pages(window: Window) -> Html:
    links = []
    if window.start:
        links.append(_link(window, max(0, window.start - CR_WINDOW), "Previous", "prev"))
    if window.start + len(window.rows) < window.total:
        links.append(_link(window, window.start + CR_WINDOW, "Next", "next"))
    return el("nav", *links, class_="pages", aria_label="Pages of objects")


def _link(window: Window, start: int, label: str, rel: str) -> Html:
    return el("a", label, href=f"/crs?{_words(window.query)}&from={start}", rel=rel)


def _words(query: Query) -> str:
    told = {key: value for key, value in asdict(query).items() if value}
    return urlencode(told, errors="replace")


def _form(query: Query, kinds: Sequence[str]) -> Html:
    def choice(name: str, label: str, values: Sequence[str], now: str) -> Html:
        options = [el("option", "all", value="")]
        options += [el("option", each, value=each, selected=each == now) for each in values]
        return el("label", label, el("select", *options, name=name))

    def field(name: str, label: str, now: str, hint: str = "") -> Html:
        return el(
            "label",
            label,
            el("input", type="search", name=name, value=now, placeholder=hint, id=f"find-{name}"),
        )

    return el(
        "form",
        choice("kind", "Kind", kinds, query.kind),
        choice("state", "State", STATES, query.state),
        field("namespace", "Namespace", query.namespace),
        field("name", "Name", query.name, "a part of it"),
        field("label", "Label", query.label, "app=web"),
        el("button", "Find", type="submit"),
        method="get",
        action="/crs",
        role="search",
        class_="find card",
    )


def _row(row: CrRow) -> Html:
    next_time = (
        inner((time_of(row.next_at), " ", el("small", row.next_why))) if row.next_at else "-"
    )
    return el(
        "tr",
        el(
            "th",
            el("a", f"{row.key.gvk.kind} {row.key.name}", href=places.of_cr(row.key)),
            scope="row",
        ),
        el("td", badge(row.state)),
        el("td", row.key.namespace or "-", title=row.key.namespace or None),
        el("td", time_of(row.since)),
        el("td", _what(row), class_="what", title=_what(row) or None),
        el("td", next_time),
        data_key=places.of_cr(row.key),
    )


def _what(row: CrRow) -> str:
    match row.state:
        case "running":
            return row.task or "starting"
        case "waiting":
            return f"{row.urgency}: {row.cause}"
        case "failed":
            return row.last_reason
        case _:
            return row.last_outcome
