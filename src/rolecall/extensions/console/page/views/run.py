"""What runs did: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.shown_tasks import ShownTask, TaskEnd
from rolecall.extensions.console.page.views.rendering import (
    Html,
    PageLayout,
    page,
    path_to,
    render,
)
from rolecall.history import KeptRun
from rolecall.record import RecordedRequest
from rolecall.workqueue import Key

TASK_WINDOW = 100
_MOST_COMPARED = 2_000
_ORDER = ("failed", "unreachable", "", "changed", "ignored", "ok", "skipped")
_FIRST = {outcome: number for number, outcome in enumerate(_ORDER)}


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


def run(shown: RunPage, layout: PageLayout) -> Html:
    here = places.of_run(shown.key, shown.run.run)
    live = f"{here}/events?after={shown.counter}" if shown.run.outcome == "running" else ""
    tasks = ordered(shown.tasks, by_time=shown.by_time)
    return page(
        "run",
        f"Run of {shown.key}",
        layout,
        live=live,
        above=path_to(shown.key),
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
    return render("run_facts", run=run, here=here)


def task_rows(shown: RunPage, tasks: Sequence[ShownTask]) -> Html:
    here = places.of_run(shown.key, shown.run.run)
    return render("task_rows", shown=shown, tasks=tasks, here=here)


def task_details(ends: Sequence[TaskEnd], requests: Sequence[RecordedRequest] | None) -> Html:
    """`requests`: None where there is no record of them."""
    return render("task_details", ends=ends, requests=requests)


def task_page(key: Key, run: KeptRun, task: ShownTask, details: Html, layout: PageLayout) -> Html:
    above = [*path_to(key), ("Run", places.of_run(key, run.run))]
    return page("task", task.name or task.action, layout, above=above, details=details)


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
    return page(
        "comparison",
        f"Two runs of {key}",
        layout,
        above=path_to(key),
        runs=runs,
        here="",
        pairs=[pair for *_, pair in rows[:_MOST_COMPARED]],
    )


def stdout(key: Key, run: KeptRun, text: str, layout: PageLayout) -> Html:
    above = [*path_to(key), ("Run", places.of_run(key, run.run))]
    return page("stdout", f"Output of a run of {key}", layout, above=above, text=text)
