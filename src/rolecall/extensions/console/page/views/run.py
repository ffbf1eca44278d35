"""One run: how it ended, its tasks, what each was given and said; and two runs beside each other.

What changed and what failed comes first, as people look for that; `order=time` shows them as they
ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.extensions.console.page.shown_tasks import ShownTask, TaskEnd
from rolecall.extensions.console.page.views import places
from rolecall.extensions.console.page.views.cr import cr_title, moment
from rolecall.extensions.console.page.views.html import Html, el, inner, verbatim
from rolecall.extensions.console.page.views.layout import (
    PageLayout,
    badge,
    facts,
    page,
    section,
    table,
)
from rolecall.history import KeptRun
from rolecall.record import RecordedRequest
from rolecall.workqueue import Key

_ORDER = ("failed", "unreachable", "", "changed", "ignored", "ok", "skipped")
_FIRST = {outcome: number for number, outcome in enumerate(_ORDER)}
TASK_WINDOW = 100


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


def ordered(tasks: Sequence[ShownTask], *, by_time: bool) -> list[ShownTask]:
    if by_time:
        return list(tasks)
    # They are in the order of time, and a sort keeps it; thousands of pairs as keys would only make
    # the collector look at everything that the engine has.
    return sorted(tasks, key=lambda task: _FIRST[task.outcome])


def run(shown: RunPage, layout: PageLayout) -> str:
    here = places.of_run(shown.key, shown.run.run)
    is_live = shown.run.outcome == "running"
    return page(
        f"Run of {cr_title(shown.key)}",
        layout,
        section("How it went", run_facts(shown.run, here), id_="facts"),
        section("Tasks", _tasks(shown, here), id_="tasks"),
        live=f"{here}/events?after={shown.counter}" if is_live else "",
        above=above(shown.key),
    )


def run_facts(run: KeptRun, here: str = "") -> Html:
    failed = run.failed_task
    return el(
        "div",
        facts(
            ("Outcome", badge(run.outcome)),
            ("Why", run.reason),
            ("Failed task", f"{failed.place} {failed.name}" if failed else ""),
            ("Message", failed.message if failed else ""),
            ("Began", moment(run)),
            ("Took", f"{run.seconds:.3f} s" if run.seconds is not None else ""),
            ("CPU", f"{run.cpu_s:.3f} s" if run.cpu_s is not None else ""),
            ("Cause", run.cause),
            ("Way", run.way),
            ("Generation", str(run.generation or "")),
            ("Finalizer", "yes" if run.is_finalizer else ""),
            ("Id", run.run),
        ),
        id="run-facts" if here else None,
        data_fragment=f"{here}/facts" if here else None,
    )


def above(key: Key, run: KeptRun | None = None) -> list[tuple[str, str]]:
    """Where a page of a run, or below it, belongs."""
    places_above = [("Objects", "/crs"), (cr_title(key), places.of_cr(key))]
    return places_above + ([("Run", places.of_run(key, run.run))] if run else [])


def task_rows(shown: RunPage, tasks: Sequence[ShownTask]) -> Html:
    here = places.of_run(shown.key, shown.run.run)
    return inner(_task(shown, here, task) for task in tasks)


def task_details(ends: Sequence[TaskEnd], requests: Sequence[RecordedRequest] | None) -> Html:
    """What a task was given, said, and asked of the API server."""
    parts: list[Html] = []
    for end in ends:
        parts += [
            el("h3", f"{end.host}: {end.outcome}" if end.outcome else end.host),
            _text("Arguments", end.arguments),
            _text("Result", end.result),
            _text("Output", end.stdout),
        ]
    if not ends:
        parts.append(el("p", "It has not ended.", class_="empty"))
    parts.append(_requests(requests))
    return el("div", *parts, class_="details")


def task_page(key: Key, run: KeptRun, task: ShownTask, details: Html, layout: PageLayout) -> str:
    """The same as a page of its own, for whoever has no script or was sent its address."""
    shown = section("What it was given, and said", details, id_="details")
    return page(task.name or task.action, layout, shown, above=above(key, run))


def comparison(
    key: Key,
    runs: tuple[KeptRun, KeptRun],
    tasks: tuple[Sequence[ShownTask], Sequence[ShownTask]],
    layout: PageLayout,
) -> str:
    """Two runs of a CR: tasks that differ in how they ended, or took much longer, first."""
    first, second = ({(task.path, task.name): task for task in each} for each in tasks)
    rows = []
    for place in [*first, *(place for place in second if place not in first)]:
        then, now = first.get(place), second.get(place)
        before_s, after_s = (each.seconds if each else 0.0 for each in (then, now))
        differs = (then.outcome if then else None) != (now.outcome if now else None)
        rows.append((not differs, -abs(after_s - before_s), place, then, now))
    told = [
        el(
            "tr",
            el("th", name, el("small", path.rpartition("/tasks/")[2]), scope="row"),
            el("td", badge(then.outcome or "running") if then else "not there"),
            el("td", f"{then.seconds:.3f} s" if then else "-", class_="number"),
            el("td", badge(now.outcome or "running") if now else "not there"),
            el("td", f"{now.seconds:.3f} s" if now else "-", class_="number"),
            class_=None if is_same else "differs",
        )
        for is_same, _, (path, name), then, now in sorted(rows, key=lambda row: row[:2])[:2000]
    ]
    columns = ("Task", "Then", "Took", "Now", "Took")
    return page(
        f"Two runs of {cr_title(key)}",
        layout,
        el(
            "div",
            section("Then", run_facts(runs[0]), id_="then"),
            section("Now", run_facts(runs[1]), id_="now"),
            class_="beside",
        ),
        section("Tasks", table("Tasks of both", columns, told), id_="tasks"),
        above=above(key),
    )


def stdout(key: Key, run: KeptRun, text: str, layout: PageLayout) -> str:
    return page(
        f"Output of a run of {cr_title(key)}",
        layout,
        el("pre", verbatim(text), class_="output", tabindex="0"),
        above=above(key, run),
    )


def _tasks(shown: RunPage, here: str) -> Html:
    order = "failed and changed ones first"
    other = el("a", "in the order of time", href=f"{here}?order=time")
    if shown.by_time:
        order = "in the order of time"
        other = el("a", "failed and changed ones first", href=here)
    tasks = ordered(shown.tasks, by_time=shown.by_time)
    query = "order=time&" if shown.by_time else ""
    rows = task_rows(shown, tasks[shown.start : shown.start + TASK_WINDOW])
    cut = el("p", "There were more than are shown.", class_="notice") if shown.is_cut else None
    return el(
        "div",
        el(
            "p",
            el("span", f"{len(tasks):,} tasks, {order}; ", id="found"),
            other,
            "; ",
            el("a", "all output", href=f"{here}/stdout"),
        ),
        cut,
        table(
            "Tasks",
            ("Task", "Place", "Outcome", "Took"),
            rows,
            class_="rows tasks",
            data_rows=f"{here}?{query}fragment=1",
            data_start=str(shown.start),
            data_total=str(len(tasks)),
        ),
    )


def _task(shown: RunPage, here: str, task: ShownTask) -> Html:
    link = el(
        "a",
        task.name or task.action or "a task without a name",
        href=f"{here}/tasks/{task.counter}",
        data_opens="details",
    )
    items = f" ({task.items} items)" if task.items else ""
    return el(
        "tr",
        el(
            "th",
            link,
            el("small", task.message[:300], title=task.message[:300]) if task.message else None,
            scope="row",
        ),
        el("td", shown.place_of(task.path), class_="place"),
        el("td", badge(task.outcome or "running"), items),
        el("td", f"{task.seconds:.3f} s" if task.outcome else "", class_="number"),
        data_task=str(task.counter),
    )


def _text(title: str, text: str) -> Html:
    if not text or text == "{}":
        return inner(())
    return el(
        "details",
        el("summary", title),
        el("pre", verbatim(text), tabindex="0"),
        open=title != "Output",
    )


def _requests(requests: Sequence[RecordedRequest] | None) -> Html:
    if requests is None:
        return el("p", "There is no record of its requests.", class_="empty")
    if not requests:
        return el("p", "It asked nothing of the API server.", class_="empty")
    rows = [
        el(
            "tr",
            el("th", f"{each.verb} {each.resource_name or each.path}", scope="row"),
            el("td", each.namespace or "-"),
            el("td", str(each.code or "-"), class_="number"),
            el("td", f"{each.seconds * 1000:.1f} ms", class_="number"),
        )
        for each in requests[:500]
    ]
    return table("Requests", ("Request", "Namespace", "Answer", "Took"), rows)
