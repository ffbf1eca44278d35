"""One CR: what it is at, its conditions, what it owns, what changed since its last good run, its
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecall.clock import time_text
from rolecall.extensions.console.page.rows import CrRow
from rolecall.extensions.console.page.shown_tasks import cut
from rolecall.extensions.console.page.views import places
from rolecall.extensions.console.page.views.html import Child, Html, el, inner, verbatim
from rolecall.extensions.console.page.views.layout import (
    PageLayout,
    badge,
    button,
    facts,
    page,
    section,
    table,
    time_of,
)
from rolecall.history import KeptRun
from rolecall.json_object import Json
from rolecall.workqueue import Key

_MOST_CONDITIONS, _MOST_CHANGES = 100, 200
_NO_CHANGES = "No good run is kept whose spec is kept too and which you may read."
_NO_RUN = "None is kept. What ran before this pod began went with its disk."


@dataclass(frozen=True, slots=True)
class OwnedObject:
    """Something that the CR's runs made, as it is now."""

    kind: str
    namespace: str
    name: str
    health: str  # a word or two; empty: not known
    is_well: bool | None
    task: str  # that wrote it last
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class CrPage:
    key: Key
    row: CrRow | None
    cr: Json | None  # live; None: it is not there
    runs: Sequence[KeptRun] = ()
    owned: Sequence[OwnedObject] = ()
    changes: Sequence[tuple[str, Any, Any]] | None = None  # path, then and now; None: not known
    may_change: bool = False
    may_read_log: bool = False
    problems: Sequence[str] = field(default_factory=tuple)
    unseen: int = 0  # objects that were not looked at, because there are so many


def cr(shown: CrPage, layout: PageLayout) -> str:
    return page(
        cr_title(shown.key),
        layout,
        cr_parts(shown, layout),
        live="/events",
        above=[("Objects", "/crs")],
    )


def cr_title(key: Key) -> str:
    where = f"{key.namespace}/" if key.namespace else ""
    return f"{key.gvk.kind} {where}{key.name}"


def cr_parts(shown: CrPage, layout: PageLayout) -> Html:
    """What changes while one looks."""
    here = places.of_cr(shown.key)
    status = (shown.cr or {}).get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return el(
        "div",
        *(el("p", each, class_="problem", role="alert") for each in shown.problems),
        section("Now", _now(shown), _actions(shown, layout), id_="now"),
        section("Conditions", _conditions(conditions), id_="conditions"),
        section("Changed since the last good run", _changes(shown.changes), id_="changes"),
        section("What it owns", _owned(shown), id_="owned"),
        section("Runs", _runs(shown), id_="runs"),
        id="cr",
        data_fragment=f"{here}?fragment=1",
        data_key=here,
    )


def _now(shown: CrPage) -> Html:
    row, metadata = shown.row, (shown.cr or {}).get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    pairs: list[tuple[str, Child]] = [("State", badge(row.state if row else "unknown"))]
    if shown.cr is None:
        pairs = [("State", "it is not in the cluster; its runs are kept")]
    if row is not None and row.run:
        task = f"{row.task or 'starting'}  {row.place}"
        link = el("a", task, href=places.of_run(shown.key, row.run))
        pairs += [("Running", link), ("Since", time_of(row.since)), ("Cause", row.cause)]
    elif row is not None and row.state == "waiting":
        pairs += [("Waits as", row.urgency), ("Since", time_of(row.since)), ("Cause", row.cause)]
    if row is not None and row.next_at:
        pairs.append(("Next", inner((time_of(row.next_at), f" ({row.next_why})"))))
    pairs += [
        ("Generation", str(metadata.get("generation") or "")),
        ("Created", time_of(str(metadata.get("creationTimestamp") or ""))),
    ]
    if metadata.get("deletionTimestamp"):
        pairs.append(("Deleted", time_of(str(metadata["deletionTimestamp"]))))
    return facts(*pairs)


def _actions(shown: CrPage, layout: PageLayout) -> Html | None:
    if not shown.may_change or shown.cr is None:
        return None
    here = places.of_cr(shown.key)
    buttons = [button(layout, f"{here}/reconcile", "Reconcile now")]
    if shown.row is not None and shown.row.run:
        run = el("input", type="hidden", name="run", value=shown.row.run)
        asks = "Stop the run? The next one begins at the period, after an edit, or when asked for."
        buttons.append(button(layout, f"{here}/stop", "Stop the run", asks=asks, more=run))
    if shown.row is not None and shown.row.state == "paused":
        buttons.append(button(layout, f"{here}/resume", "Resume"))
    else:
        why = el("input", name="because", placeholder="why", aria_label="Why it is paused")
        asks = "Pause it? Nothing is run for it until it is resumed."
        buttons.append(button(layout, f"{here}/pause", "Pause", asks=asks, more=why))
    return el("div", *buttons, class_="actions")


def _conditions(found: object) -> Html:
    told = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    rows = [
        el(
            "tr",
            el("th", str(each.get("type") or ""), scope="row"),
            el("td", str(each.get("status") or "")),
            el("td", str(each.get("reason") or "")),
            el("td", _long(str(each.get("message") or "")), class_="what"),
            el("td", time_of(str(each.get("lastTransitionTime") or ""))),
        )
        for each in told[:_MOST_CONDITIONS]
    ]
    if not rows:
        return el("p", "None is written yet.", class_="empty")
    columns = ("Type", "Status", "Reason", "Message", "Since")
    return inner((table("Conditions", columns, rows), _more(len(told) - _MOST_CONDITIONS)))


def _more(count: int) -> Html | None:
    return el("p", f"There are {count:,} more.", class_="notice") if count > 0 else None


def _long(text: str) -> Child:
    if len(text) < 300:
        return text
    return el("details", el("summary", text[:200] + "…"), el("pre", verbatim(cut(text, 50_000))))


def _changes(changes: Sequence[tuple[str, Any, Any]] | None) -> Html:
    if changes is None:
        return el("p", _NO_CHANGES, class_="empty")
    if not changes:
        return el("p", "Nothing in its spec.", class_="empty")
    rows = [
        el(
            "tr",
            el("th", path, scope="row"),
            el("td", _value(then), class_="removed"),
            el("td", _value(now), class_="added"),
        )
        for path, then, now in changes[:_MOST_CHANGES]
    ]
    columns = ("Field", "At the last good run", "Now")
    return inner((table("Changes of the spec", columns, rows), _more(len(changes) - _MOST_CHANGES)))


def _value(value: object) -> str:
    return "-" if value is None else str(value)[:500]


def _owned(shown: CrPage) -> Html:
    if not shown.may_read_log:
        return el(
            "p",
            "What its runs made is part of their log, which you may not read here.",
            class_="empty",
        )
    if not shown.owned:
        return el("p", "Its newest runs made nothing that it owns.", class_="empty")
    rows = [
        el(
            "tr",
            el("th", f"{each.kind} {each.name}", scope="row"),
            el("td", each.namespace or "-"),
            el("td", _health(each)),
            el("td", each.task, class_="place"),
        )
        for each in shown.owned
    ]
    found = table("Objects that it owns", ("Object", "Namespace", "Health", "Task"), rows)
    if not shown.unseen:
        return found
    more = f"Its runs asked for {shown.unseen:,} objects more, which are not looked at here."
    return inner((found, el("p", more, class_="empty")))


def _health(each: OwnedObject) -> Html:
    word = "gone" if each.is_gone else each.health or "-"
    if each.is_gone or each.is_well is False:
        return el("span", word, class_="badge bad")
    return el("span", word, class_=f"badge {'good' if each.is_well else 'other'}")


def _runs(shown: CrPage) -> Html:
    if not shown.runs:
        return el("p", _NO_RUN, class_="empty")
    rows, before = [], None
    for run in reversed(shown.runs):
        rows.append(_run(shown, run, before))
        before = run
    columns = ("Began", "Outcome", "Took", "Cause", "Generation", "What", "Compare")
    return table("Runs, newest first", columns, list(reversed(rows)))


def _run(shown: CrPage, run: KeptRun, before: KeptRun | None) -> Html:
    key, compare = shown.key, None
    if before is not None:
        to = places.of_comparison(key, before.run, run.run)
        compare = el("a", "with the one before", href=to)
    return el(
        "tr",
        el("th", el("a", moment(run), href=places.of_run(key, run.run)), scope="row"),
        el("td", badge(run.outcome)),
        el("td", f"{run.seconds:.2f} s" if run.seconds is not None else "-", class_="number"),
        el("td", run.cause if shown.may_read_log else "-"),
        el("td", str(run.generation or "-"), class_="number"),
        el("td", _what(run) if shown.may_read_log else "-", class_="what"),
        el("td", compare),
    )


def _what(run: KeptRun) -> str:
    failed = run.failed_task
    said = f"{failed.place} {failed.name}: {failed.message}" if failed else run.reason
    return cut(said, 500) or f"{len(run.changed_tasks)} changed"


def moment(run: KeptRun) -> Html:
    if run.began is None:
        return el("span", run.run)
    return time_of(time_text(run.began))
