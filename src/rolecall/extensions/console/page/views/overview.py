"""The first page: how many CRs are in which state, what runs now, and what waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from rolecall.extensions.console.page.rows import STATES, Counts, CrRow
from rolecall.extensions.console.page.views import places
from rolecall.extensions.console.page.views.html import Child, Html, el
from rolecall.extensions.console.page.views.layout import (
    PageLayout,
    facts,
    page,
    section,
    table,
    time_of,
)


@dataclass(frozen=True, slots=True)
class Replica:
    """The engine that shows the page."""

    version: str
    host: str
    began: str
    works: bool
    leader: str  # where one works alone
    part: str  # which part of the objects it has; empty: all of them, if it works
    server: str
    runs_a_minute: float


def overview(counts: Counts, replica: Replica, layout: PageLayout) -> str:
    return page("Overview", layout, overview_parts(counts, replica), live="/events")


def overview_parts(counts: Counts, replica: Replica) -> Html:
    """What changes while one looks."""
    return el(
        "div",
        section("Kinds", _kinds(counts), id_="kinds"),
        section("Running now", _running(counts.running), id_="running"),
        section("Waiting", _waiting(counts), id_="waiting"),
        section("This operator", _replica(replica), id_="operator"),
        id="overview",
        data_fragment="/?fragment=1",
    )


def _kinds(counts: Counts) -> Html:
    rows = []
    for gvk, by_state in sorted(counts.by_kind.items(), key=lambda pair: pair[0].kind):
        cells = [
            el("td", _count(gvk.kind, state, by_state[state]), class_="number") for state in STATES
        ]
        every: Child = el("span", "0", class_="none")
        if total := by_state.total():
            every = el("a", f"{total:,}", href=_listed(gvk.kind))
        rows.append(
            el(
                "tr",
                el("th", gvk.kind, el("small", gvk.api_version), scope="row"),
                *cells,
                el("td", every, class_="number"),
            )
        )
    return table("Objects of each kind by state", ("Kind", *STATES, "all"), rows)


def _count(kind: str, state: str, count: int) -> Child:
    if not count:
        return el("span", "0", class_="none")
    return el("a", f"{count:,}", href=_listed(kind, state), class_=f"count {state}")


def _listed(kind: str, state: str = "") -> str:
    return "/crs?" + urlencode(
        {"kind": kind, **({"state": state} if state else {})}, errors="replace"
    )


def _running(rows: Sequence[CrRow]) -> Html:
    if not rows:
        return el("p", "No run is under way.", class_="empty")
    told = [
        el(
            "tr",
            el("th", el("a", _name(row), href=places.of_cr(row.key)), scope="row"),
            el("td", el("a", row.task or "starting", href=places.of_run(row.key, row.run))),
            el("td", row.place, class_="place"),
            el("td", time_of(row.since)),
            el("td", row.cause),
        )
        for row in rows[:100]
    ]
    return table("Runs under way", ("Object", "Task", "Place", "Since", "Cause"), told)


def _waiting(counts: Counts) -> Html:
    if not counts.by_urgency:
        return el("p", "Nothing waits for a worker.", class_="empty")
    return facts(*((name, f"{count:,}") for name, count in counts.by_urgency.most_common()))


def _replica(replica: Replica) -> Html:
    who = "this replica" if replica.works else replica.leader or "another replica"
    return facts(
        ("Replica", replica.host),
        ("Has", replica.part) if replica.part else ("Leader", who),
        ("Version", replica.version),
        ("Started", time_of(replica.began)),
        ("Cluster", replica.server),
        ("Runs in the last minute", f"{replica.runs_a_minute:,.0f}"),
    )


def _name(row: CrRow) -> str:
    where = f"{row.key.namespace}/" if row.key.namespace else ""
    return f"{row.key.gvk.kind} {where}{row.key.name}"
