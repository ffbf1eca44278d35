"""What a page shows, as HTML: values in, text out. Nothing here asks or reads.

The markup is in `templates/`; what it prints is made harmless in `markup.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from rolecall.cli import CR_STATES
from rolecall.clock import time_text
from rolecall.extending import Act
from rolecall.extensions.console.markup import environment, shortened
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.rows import Counts, CrRow, Query
from rolecall.extensions.console.page.shown_tasks import ShownTask, TaskEnd
from rolecall.history import KeptRun
from rolecall.json_object import Json, as_map
from rolecall.record import RecordedRequest
from rolecall.workqueue import Key

Html = Markup

CR_WINDOW = TASK_WINDOW = 100
_MOST_COMPARED, _MOST_RUNNING = 2_000, 100
_ORDER = ("failed", "unreachable", "", "changed", "ignored", "ok", "skipped")
_FIRST = {outcome: number for number, outcome in enumerate(_ORDER)}


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Who reads, and what the page was made at."""

    reader_name: str = ""  # empty: not logged in
    is_local: bool = False
    form_token: str = ""
    position: str = ""  # in the feed
    notice: str = ""  # what a reader must know of this replica
    static: str = ""  # where the style sheet and the script are


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


@dataclass(frozen=True, slots=True)
class Window:
    """Some of the rows that a query found."""

    query: Query
    rows: Sequence[CrRow]
    start: int
    total: int
    problem: str = ""  # why nothing could be found

    @property
    def found(self) -> str:
        return "1 object" if self.total == 1 else f"{self.total:,} objects"


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
    acts: Sequence[Act] = ()  # of handlers
    unseen: int = 0  # objects that were not looked at, because there are so many


@dataclass(frozen=True, slots=True)
class RunPage:
    key: Key
    run: KeptRun
    tasks: Sequence[ShownTask]
    counter: int
    is_cut: bool
    by_time: bool
    start: int = 0
    place_of: Any = str  # of a path

    @property
    def found(self) -> str:
        """Said before the link to the other order."""
        order = "in the order of time" if self.by_time else "failed and changed ones first"
        return f"{len(self.tasks):,} tasks, {order}; "


def overview(counts: Counts, replica: Replica, layout: PageLayout) -> Html:
    return _page(
        "overview", "Overview", layout, live="/events", **_overview_values(counts, replica)
    )


def overview_parts(counts: Counts, replica: Replica) -> Html:
    """What changes while one looks."""
    return _render("overview_parts", **_overview_values(counts, replica))


def _overview_values(counts: Counts, replica: Replica) -> dict[str, Any]:
    return {
        "kinds": sorted(counts.by_kind.items(), key=lambda pair: pair[0].kind),
        "running": counts.running[:_MOST_RUNNING],
        "waiting": counts.by_urgency.most_common(),
        "replica": replica,
    }


def crs(window: Window, kinds: Sequence[str], layout: PageLayout) -> Html:
    values: dict[str, Any] = {
        "window": window,
        "query": window.query,
        "kinds": kinds,
        "words": _encoded(asdict(window.query)),
        "size": CR_WINDOW,
    }
    return _page("crs", "Objects", layout, live="/events", **values)


def cr_rows(window: Window) -> Html:
    """The rows alone, for the script."""
    return _render("cr_rows", window=window)


def cr(shown: CrPage, layout: PageLayout) -> Html:
    above = [("Objects", "/crs")]
    values = _cr_values(shown, layout)
    return _page("cr", str(shown.key), live="/events", above=above, **values)


def cr_parts(shown: CrPage, layout: PageLayout) -> Html:
    """What changes while one looks."""
    return _render("cr_parts", **_cr_values(shown, layout))


def _cr_values(shown: CrPage, layout: PageLayout) -> dict[str, Any]:
    cr = shown.cr or {}
    found = as_map(cr.get("status")).get("conditions")
    return {
        "shown": shown,
        "layout": layout,
        "here": places.of_cr(shown.key),
        "metadata": as_map(cr.get("metadata")),
        "conditions": [each for each in found if isinstance(each, dict)]
        if isinstance(found, list)
        else [],
    }


def run(shown: RunPage, layout: PageLayout) -> Html:
    here = places.of_run(shown.key, shown.run.run)
    live = f"{here}/events?after={shown.counter}" if shown.run.outcome == "running" else ""
    tasks = ordered(shown.tasks, by_time=shown.by_time)
    return _page(
        "run",
        f"Run of {shown.key}",
        layout,
        live=live,
        above=_above(shown.key),
        shown=shown,
        run=shown.run,
        here=here,
        tasks=tasks[shown.start : shown.start + TASK_WINDOW],
    )


def ordered(tasks: Sequence[ShownTask], *, by_time: bool) -> list[ShownTask]:
    if by_time:
        return list(tasks)
    # They are in the order of time, and a sort keeps it; thousands of pairs as keys would only make
    # the collector look at everything that the engine has.
    return sorted(tasks, key=lambda task: _FIRST[task.outcome])


def run_facts(run: KeptRun, here: str = "") -> Html:
    return _render("run_facts", run=run, here=here)


def task_rows(shown: RunPage, tasks: Sequence[ShownTask]) -> Html:
    here = places.of_run(shown.key, shown.run.run)
    return _render("task_rows", shown=shown, tasks=tasks, here=here)


def task_details(ends: Sequence[TaskEnd], requests: Sequence[RecordedRequest] | None) -> Html:
    """`requests`: None where there is no record of them."""
    return _render("task_details", ends=ends, requests=requests)


def task_page(key: Key, run: KeptRun, task: ShownTask, details: Html, layout: PageLayout) -> Html:
    above = [*_above(key), ("Run", places.of_run(key, run.run))]
    return _page("task", task.name or task.action, layout, above=above, details=details)


def comparison(
    key: Key,
    runs: tuple[KeptRun, KeptRun],
    tasks: tuple[Sequence[ShownTask], Sequence[ShownTask]],
    layout: PageLayout,
) -> Html:
    """Tasks that differ in how they ended, or took much longer, come first."""
    first, second = ({(task.path, task.name): task for task in each} for each in tasks)
    rows = []
    for place in [*first, *(place for place in second if place not in first)]:
        then, now = first.get(place), second.get(place)
        before_s, after_s = (each.seconds if each else 0.0 for each in (then, now))
        differs = (then.outcome if then else None) != (now.outcome if now else None)
        rows.append((not differs, -abs(after_s - before_s), (*place, then, now, differs)))
    rows.sort(key=lambda row: row[:2])
    return _page(
        "comparison",
        f"Two runs of {key}",
        layout,
        above=_above(key),
        runs=runs,
        here="",
        pairs=[pair for *_, pair in rows[:_MOST_COMPARED]],
    )


def stdout(key: Key, run: KeptRun, text: str, layout: PageLayout) -> Html:
    above = [*_above(key), ("Run", places.of_run(key, run.run))]
    return _page("stdout", f"Output of a run of {key}", layout, above=above, text=text)


def login(
    layout: PageLayout, problem: str = "", *, is_local: bool = False, back: str = "/"
) -> Html:
    return _page("login", "Log in", layout, problem=problem, is_local=is_local, back=back)


def error(code: int, what: str, way_out: str, layout: PageLayout) -> Html:
    return _page("error", what, layout, code=code, way_out=way_out)


def _above(key: Key) -> list[tuple[str, str]]:
    """Where a page of a run belongs, as names and addresses."""
    return [("Objects", "/crs"), (str(key), places.of_cr(key))]


def _page(
    template: str,
    title: str,
    layout: PageLayout,
    *,
    live: str = "",
    above: Sequence[tuple[str, str]] = (),
    **values: Any,
) -> Html:
    return _render(template, title=title, layout=layout, live=live, above=above, **values)


def _render(template: str, **values: Any) -> Html:
    return Markup(_TEMPLATES[template].render(values))  # noqa: S704 - of our templates


def _listed(kind: str, state: str = "") -> str:
    return "/crs?" + _encoded({"kind": kind, "state": state})


def _encoded(words: dict[str, str]) -> str:
    return urlencode({key: value for key, value in words.items() if value}, errors="replace")


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


def _what_it_did(run: KeptRun) -> str:
    failed = run.failed_task
    said = f"{failed.place} {failed.name}: {failed.message}" if failed else run.reason
    return shortened(said, 500) or f"{len(run.changed_tasks)} changed"


ENVIRONMENT = environment(
    Path(__file__).parent / "templates",
    values={
        "places": places,
        "states": list(CR_STATES),
        "listed": _listed,
        "most_conditions": 100,
        "most_changes": 200,
    },
    filters={
        "shortened": shortened,
        "thousands": "{:,}".format,
        "what": _what,
        "what_it_did": _what_it_did,
        "spec_value": lambda value: "-" if value is None else str(value)[:500],
        "began_text": lambda run: time_text(run.began),
    },
)
# Compiled at the start: a reader's first look must not hold up the loop.
_TEMPLATES = {
    name.removesuffix(".html"): ENVIRONMENT.get_template(name)
    for name in ENVIRONMENT.list_templates()
}
