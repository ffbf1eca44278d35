"""What runs did: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.run_timeline import RunTimeline
from rolecall.extensions.console.page.shown_tasks import ShownTask, TaskEnd
from rolecall.extensions.console.page.views.rendering import (
    Html,
    PageLayout,
    page,
    path_to,
    render,
)
from rolecall.extensions.console.task_times import Axis, TaskTimes, outline, ticks
from rolecall.history import KeptRun
from rolecall.record import RecordedRequest
from rolecall.workqueue import Key

TASK_WINDOW = 100
_BEFORE = 10  # tasks above the one that a mark leads to, for browsers without scripts
_ORDER = ("failed", "unreachable", "", "changed", "ignored", "ok", "skipped")
_FIRST = {outcome: number for number, outcome in enumerate(_ORDER)}
_WORDS = {
    "creation": "the object was created",
    "edit": "the object was edited",
    "deletion": "the object is being deleted",
    "pause": "the object was paused",
    "resumed": "the object was resumed",
    "period": "its period elapsed",
    "start": "the operator started",
}


@dataclass(frozen=True, slots=True)
class Before:
    """What changed between a run and the one before it."""

    run: KeptRun
    changes: Sequence[tuple[str, Any, Any]] | None = None  # of the spec; None: not kept


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
    timeline: RunTimeline = field(default_factory=RunTimeline)
    before: Before | None = None
    expected: int = 0  # tasks of the last good run; 0: not known

    @property
    def here(self) -> str:
        return places.of_run(self.key, self.run.run)

    @property
    def is_live(self) -> bool:
        return self.run.outcome == "running"

    @property
    def found(self) -> str:
        """Said before the link to the other order."""
        order = "in the order of time" if self.by_time else "failed and changed ones first"
        return f"{len(self.tasks):,} tasks, {order}; "

    @property
    def order(self) -> str:
        return "time" if self.by_time else "failed"

    @property
    def cause(self) -> str:
        """Why it was started, in words."""
        return _WORDS.get(self.run.cause, self.run.cause)

    @property
    def progress(self) -> str:
        now = f"task {len(self.tasks):,}"
        if not self.expected:
            return f"{now} so far"
        return f"{now} of about {max(self.expected, len(self.tasks)):,}, as in the last good run"

    def link_to(self, counter: int, index: int) -> str:
        """To a task in the list, in the order of time."""
        return f"{self.here}?order=time&from={max(0, index - _BEFORE)}#task-{counter}"

    @property
    def failed(self) -> tuple[int, ShownTask] | None:
        """The last task that failed, and which of all tasks it is."""
        for index in reversed(range(len(self.tasks))):
            if self.tasks[index].outcome in ("failed", "unreachable"):
                return index, self.tasks[index]
        return None


@dataclass(frozen=True, slots=True)
class TaskBar:
    """A task's time on the axis, as shapes and in words."""

    shapes: Sequence[tuple[str, str]]  # class and path
    words: str


def bar_of(times: TaskTimes, axis: Axis, outcome: str) -> TaskBar:
    """Each part has a height of its own, so that nothing depends on colours."""
    module = "bad" if outcome in ("failed", "unreachable") else "module"
    shapes = (
        (module, outline(times.busy, axis, 28, 44)),
        ("waits", outline(times.waits, axis, 42, 16)),
        ("read", outline(times.reads, axis, 28, 44)),
        ("write", outline(times.writes, axis, 8, 84)),
    )
    return TaskBar([each for each in shapes if each[1]], times.words)


def run(shown: RunPage, layout: PageLayout) -> Html:
    live = f"{shown.here}/events?after={shown.counter}" if shown.is_live else ""
    tasks = ordered(shown.tasks, by_time=shown.by_time)
    return page(
        "run",
        f"Run of {shown.key}",
        layout,
        live=live,
        above=path_to(shown.key),
        tasks=_rows(shown, tasks[shown.start : shown.start + TASK_WINDOW]),
        size=TASK_WINDOW,
        **_values(shown),
    )


def ordered(tasks: Sequence[ShownTask], *, by_time: bool) -> list[ShownTask]:
    if by_time:
        return list(tasks)
    # They are in the order of time, and a sort keeps it; thousands of pairs as keys would only make
    # the collector look at everything that the engine has.
    return sorted(tasks, key=lambda task: _FIRST[task.outcome])


def run_facts(shown: RunPage) -> Html:
    """What changes above the tasks while a run is in flight."""
    return render("run_renewed", **_values(shown))


def task_rows(shown: RunPage, tasks: Sequence[ShownTask]) -> Html:
    rows = _rows(shown, tasks)
    return render("task_rows", shown=shown, tasks=rows, **axis_values(shown.timeline.axis))


def axis_values(axis: Axis) -> dict[str, Any]:
    """What templates draw an axis and its lines from."""
    found = ticks(axis)
    return {"ticks": found, "grid": "".join(f"M{x:.1f} 0v100" for x, _ in found)}


def _values(shown: RunPage) -> dict[str, Any]:
    linked = [(each, shown.link_to(each.counter, each.index)) for each in shown.timeline.strip]
    return {"shown": shown, "marks": linked, **axis_values(shown.timeline.axis)}


def _rows(shown: RunPage, tasks: Sequence[ShownTask]) -> list[tuple[ShownTask, TaskBar]]:
    timeline = shown.timeline
    return [(task, bar_of(timeline.of(task), timeline.axis, task.outcome)) for task in tasks]


def task_details(
    ends: Sequence[TaskEnd],
    requests: Sequence[RecordedRequest] | None,
    times: TaskTimes | None = None,
) -> Html:
    """`requests`: None where there is no record of them."""
    return render("task_details", ends=ends, requests=requests, times=times)


def task_page(key: Key, run: KeptRun, task: ShownTask, details: Html, layout: PageLayout) -> Html:
    above = [*path_to(key), ("Run", places.of_run(key, run.run))]
    return page("task", task.name or task.action, layout, above=above, details=details)


def stdout(key: Key, run: KeptRun, text: str, layout: PageLayout) -> Html:
    above = [*path_to(key), ("Run", places.of_run(key, run.run))]
    return page("stdout", f"Output of a run of {key}", layout, above=above, text=text)
