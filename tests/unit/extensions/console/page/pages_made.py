"""Values of each view of the page, with one text in all that a user, a task or a run writes."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from rolecall.extending import HeldRun
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.failures import FailingSince, FailureEntries, FailureEntry
from rolecall.extensions.console.page.grouping import Group
from rolecall.extensions.console.page.rows import Counts, CrRow, Live, NextRun, Query
from rolecall.extensions.console.page.run_timeline import RunTimeline, timeline_of
from rolecall.extensions.console.page.shown_tasks import ShownTask, TaskEnd
from rolecall.extensions.console.page.trends import BusyRow, Interval, SeenTrends, TrendSpan
from rolecall.extensions.console.page.views import (
    Before,
    CrPage,
    FleetPage,
    Groups,
    OverviewPage,
    OwnedObject,
    OwnedTree,
    PageLayout,
    Replica,
    RunPage,
    RunProgress,
    Window,
)
from rolecall.extensions.console.task_times import TaskTimes
from rolecall.gvk import Gvk
from rolecall.history import FailedTask, KeptRun
from rolecall.record import RecordedRequest, RecordedTask, RunRecord
from rolecall.workqueue import Key

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


def key(text: str) -> Key:
    text = text[:253]  # the API server takes no longer names
    return Key(Gvk(text, text, text), text, text)


def row(text: str, state: str) -> CrRow:
    live = Live(0.0, text, text, text, text, text) if state in ("running", "waiting") else None
    return CrRow(key(text), state, 1, live, HeldRun.of(run(text, "failed")), NextRun(0.0, text))


def run(text: str, outcome: str = "") -> KeptRun:
    failed = FailedTask(text, text, text)
    values: Any = {"kind": text, "api_version": text, "namespace": text, "name": text, "way": text}
    return KeptRun(
        text[:255],  # the name of a folder
        **values,
        generation=1,
        cause=text,
        began=NOON if outcome else None,
        outcome=outcome or text,
        ending=text,
        changed_tasks=(text,),
        failed_task=failed if outcome == "failed" else None,
        reason=text,
    )


def tasks(text: str) -> list[ShownTask]:
    outcomes = ("ok", "failed", "")
    return [
        ShownTask(n, text, text, text, outcome, items=1, message=text, uuid=text)
        for n, outcome in enumerate(outcomes)
    ]


def request(text: str) -> RecordedRequest:
    words: Any = [*[text] * 7, 200, text, text]
    return RecordedRequest(0, 0.0, 0.1, *words)


def tree(text: str) -> OwnedTree:
    text = text[:400]  # neither the API server nor `health_of` lets longer ones through
    words: Any = {"task": text, "why": text, "created": text, "why_not": text, "run": text}
    words |= {"pruning": text, "left_out": [text], "is_orphan": True}
    pods = [OwnedObject(text, text, text, text, None, **words)] * 20
    below = OwnedObject(text, text, text, text, True, **words, below=pods)
    objects = [
        OwnedObject(text, text, text, text, well, **words, below=[below])
        for well in (True, False, None)
    ]
    return OwnedTree(objects, [text], 5, [text])


def ask(text: str, action: str) -> views.Ask:
    about = key(text)
    return views.Ask(about, action, views.patch_right(about, text), True, run=text, at=text)


def cr_page(text: str, **changes: Any) -> CrPage:
    condition = dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"), text)
    metadata = dict.fromkeys(("generation", "creationTimestamp", "deletionTimestamp"), text)
    values: dict[str, Any] = {
        "row": row(text, "running"),
        "cr": {"metadata": metadata, "status": {"conditions": [condition] * 3}},
        "runs": [run(text, "failed"), run(text), run(text, "running")],
        "owned": tree(text),
        "right": views.patch_right(key(text), text),
        "now": NOON,
        "changes": [(text, text, {text: [text]}), (text, None, text)],
        "may_change": True,
        "may_read_log": True,
        "problems": [text, text],
    }
    return CrPage(key(text), **{**values, **changes})


def layout(text: str) -> PageLayout:
    return PageLayout(text, False, text, text, text, "/static/0a")


def counts(text: str) -> Counts:
    of_kind = {key(text).gvk: Counter({"ready": 1, "running": 2})}
    return Counts(of_kind, Counter({text: 1}), [row(text, "running")])


def replica(text: str) -> Replica:
    return Replica(
        text, text, text, works=False, leader=text, part=text, server=text, runs_a_minute=1.0
    )


def seen_trends(text: str, span: TrendSpan = TrendSpan.HOUR, **changes: Any) -> SeenTrends:
    intervals = [Interval(9, 1, 2, 0.5, 3.0, 1.5)] * span.intervals
    busy = [BusyRow(key(text).gvk, text, text, 3, 9.0, 4.0)]
    values = {"all": intervals, "by_kind": {key(text).gvk: intervals}, "slowest": busy}
    return SeenTrends(span, NOON, NOON, is_reading=False, **{**values, "noisiest": busy, **changes})


def overview_page(text: str) -> OverviewPage:
    gvk, rows = key(text).gvk, [row(text, "failed")]
    failures = [
        FailureEntry(gvk, 1, rows, True, run(text, "failed"), FailingSince(3, NOON)),
        FailureEntry(gvk, 9, rows * 3, True, run(text)),
        FailureEntry(gvk, 9, rows * 3, False),
    ]
    return OverviewPage(
        counts(text),
        replica(text),
        seen_trends(text),
        FailureEntries(failures, Counter(failed=16, waiting=2, running=1), 3),
        {key(text): RunProgress(3, 9, text)},
    )


def window(text: str) -> Window:
    states = ("running", "waiting", "failed", "ready", text)
    rows = [row(text, state) for state in states]
    return Window(Query(*[text[:253]] * 10), rows, 100, 1000)


def groups(text: str) -> FleetPage:
    query, by_state = Query(*[text[:253]] * 10), Counter({"failed": 1, "ready": 2, text[:99]: 3})
    named = Group(text[:400], Query(label=text[:253]), by_state=by_state)
    every = [Group(text[:400], query, by_state=by_state), *[named] * 100]
    return FleetPage(Window(query, [], 0, 606), [text], f"label:{text}", Groups(every))


def timeline(text: str) -> RunTimeline:
    task = RecordedTask(text, text, text, text, 1.0, 2.0, text)
    record = RunRecord(text, NOON, 0.0, (task,), (request(text),), 3.0, text)
    return timeline_of(run(text, "running"), tasks(text), record, NOON)


def run_page(text: str, outcome: str = "running") -> RunPage:
    return RunPage(
        key(text),
        run(text, outcome),
        tasks(text),
        1,
        is_cut=True,
        by_time=True,
        timeline=timeline(text),
        before=Before(run(text), [(text, text, {text: [text]}), (text, None, text)]),
        expected=3,
    )


def details(text: str) -> views.Html:
    ends = [TaskEnd(*[text[:200_000]] * 5)]
    return views.task_details(ends, [request(text)], TaskTimes(0.0, 1.0))
