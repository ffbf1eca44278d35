"""Whatever an object, a task or a run says: each view is our markup, and that text in it as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from inspect import isfunction
from itertools import product
from typing import Any

import pytest
from tests.unit.extensions.console.page.reading_html import Seen

from rolecall.extending import HeldRun
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.failures import FailingSince, Failure, Failures
from rolecall.extensions.console.page.grouping import Group
from rolecall.extensions.console.page.rows import Counts, CrRow, Live, NextRun, Query
from rolecall.extensions.console.page.run_timeline import RunTimeline, timeline_of
from rolecall.extensions.console.page.shown_tasks import ShownTask, TaskEnd
from rolecall.extensions.console.page.trends import BusyRow, Interval, SeenTrends, Span
from rolecall.extensions.console.page.views import (
    Before,
    CrPage,
    Fleet,
    Groups,
    KindsPage,
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
HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)>",
    "quotes": "\"' onmouseover=alert(1) style='x' \"><b>",
    "end of text": "</pre></td></title></textarea></script><!-- <![CDATA[ <?x ?>",
    "links": "javascript:alert(1)",
    "links with spaces": " \tjava\nscript:alert(1)",
    "other hosts": "//evil.example/x",
    "data": "data:text/html,<script>alert(1)</script>",
    "terminal": "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07x\x1b]0;t\x1b\\\x9b31m\x08\x0b",
    "direction": "abc\u202ecba\u2066x\u2069\u200f\u061c\ufeff\u00ad\u200b",
    "nothing": "\x00\x00",
    "halves of characters": "a\ud800b\udfffc\udcff",
    "references": "&lt;script&gt;&#x202e;&amp;&#0;&#27;",
    "lines": "a\r\nb\rc\u2028d\u2029e\x85f",
    "megabytes": "<\"'&>\x1b[31m\u202e" * 100_000,
    "path": "../../../../etc/passwd?x=1#y%2F",
    "empty": "",
}
# No view is larger, whatever is in it: a browser shows this at once.
MOST_BYTES = 6_000_000


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
        ShownTask(n, text, text, text, text, outcome, items=1, message=text, uuid=text)
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


def seen_trends(text: str, span: Span = Span.HOUR, **changes: Any) -> SeenTrends:
    intervals = [Interval(9, 1, 2, 0.5, 3.0, 1.5)] * span.intervals
    busy = [BusyRow(key(text).gvk, text, text, 3, 9.0, 4.0)]
    values = {"all": intervals, "by_kind": {key(text).gvk: intervals}, "slowest": busy}
    return SeenTrends(span, NOON, NOON, is_reading=False, **{**values, "noisiest": busy, **changes})


def overview_page(text: str) -> OverviewPage:
    gvk, rows = key(text).gvk, [row(text, "failed")]
    failures = [
        Failure(gvk, 1, rows, True, run(text, "failed"), FailingSince(3, NOON)),
        Failure(gvk, 9, rows * 3, True, run(text)),
        Failure(gvk, 9, rows * 3, False),
    ]
    return OverviewPage(
        counts(text),
        replica(text),
        seen_trends(text),
        Failures(failures, 19, 3),
        {key(text): RunProgress(3, 9, text)},
    )


def window(text: str) -> Window:
    states = ("running", "waiting", "failed", "ready", text)
    rows = [row(text, state) for state in states]
    return Window(Query(*[text[:253]] * 9), rows, 100, 1000)


def groups(text: str) -> Fleet:
    query, by_state = Query(*[text[:253]] * 9), Counter({"failed": 1, "ready": 2, text[:99]: 3})
    named = Group(text[:400], Query(label=text[:253]), by_state=by_state)
    every = [Group(text[:400], query, by_state=by_state), *[named] * 100]
    return Fleet(Window(query, [], 0, 606), [text], f"label:{text}", Groups(every))


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


VIEWS: dict[str, Callable[[str], str]] = {
    "overview": lambda text: views.overview(overview_page(text), layout(text)),
    "kinds": lambda text: views.kinds(
        KindsPage(seen_trends(text, Span.DAY), NOON, text), layout(text)
    ),
    "list": lambda text: views.crs(Fleet(window(text), [text]), layout(text)),
    "groups": lambda text: views.crs(groups(text), layout(text)),
    "groups alone": lambda text: views.cr_groups(groups(text)),
    "list without a row": lambda text: views.crs(
        Fleet(Window(Query(name=text), [], 0, 0, nothing="name"), [text]), layout(text)
    ),
    "rows of the list": lambda text: views.cr_rows(window(text)),
    "problem of the list": lambda text: views.crs(
        Fleet(Window(Query(), [], 0, 0, text), [text]), layout(text)
    ),
    "object": lambda text: views.cr(cr_page(text), layout(text)),
    "object that waits": lambda text: views.cr(
        cr_page(text, row=row(text, "waiting"), may_read_log=False), layout(text)
    ),
    "object that is paused": lambda text: views.cr(
        cr_page(text, row=row(text, "paused"), changes=None), layout(text)
    ),
    "object that is gone": lambda text: views.cr(cr_page(text, cr=None, row=None), layout(text)),
    "object that may not be changed": lambda text: views.cr(
        cr_page(text, may_change=False), layout(text)
    ),
    "question before a run": lambda text: views.ask(ask(text, "reconcile"), layout(text)),
    "question before a stop": lambda text: views.ask(ask(text, "stop"), layout(text)),
    "question before a resumption": lambda text: views.ask(ask(text, "resume"), layout(text)),
    "question in a dialog": lambda text: views.ask_parts(
        replace(ask(text, "pause"), why_not=text), layout(text)
    ),
    "question without the right": lambda text: views.ask(
        replace(ask(text, "stop"), may=False), layout(text)
    ),
    "run": lambda text: views.run(run_page(text), layout(text)),
    "rows of a run": lambda text: views.task_rows(run_page(text), tasks(text)),
    "run that failed": lambda text: views.run(run_page(text, "failed"), layout(text)),
    "facts of a run": lambda text: views.run_facts(run_page(text, "failed")),
    "task": lambda text: views.task_page(
        key(text), run(text), tasks(text)[0], details(text), layout(text)
    ),
    "comparison": lambda text: views.comparison(
        run_page(text, "failed"),
        replace(run_page(text), tasks=tasks(text)[:1]),
        [run(text)],
        layout(text),
    ),
    "output": lambda text: views.stdout(key(text), run(text), text[:1_000_000], layout(text)),
    "login": lambda text: views.login(layout(text), text, back=text),
    "login of this machine": lambda text: views.login(layout(text), text, is_local=True),
    "error": lambda text: views.error(404, text, text, layout(text)),
}


@pytest.mark.parametrize(("view", "text"), list(product(VIEWS, HOSTILE)))
def test_hostile_text_is_text_in_every_view(view: str, text: str) -> None:
    made = VIEWS[view](HOSTILE[text])
    assert Seen(made).harm == []
    assert len(made.encode()) < MOST_BYTES


def test_every_view_is_looked_at() -> None:
    """A new one must be added to `VIEWS`."""
    looked_at = {"kinds"}
    looked_at |= {
        "overview",
        "crs",
        "cr_groups",
        "cr_rows",
        "cr",
        "run",
        "task_rows",
        "run_facts",
        "task_page",
    }
    looked_at |= {"task_details", "comparison", "stdout", "login", "error"}
    looked_at |= {"ask", "ask_parts", "worst_first", "patch_right"}
    looked_at |= {"object_yaml", "plan", "plan_parts"}  # by test_hostile_plans.py
    parts = {"cr_parts", "overview_parts", "ordered"}
    assert {
        name
        for name, each in vars(views).items()
        if isfunction(each)
        and each.__module__.startswith(views.__name__)
        and not name.startswith("_")
    } == parts | looked_at


@pytest.mark.parametrize("view", ["object", "list", "run", "output"])
def test_text_can_be_read_all_the_same(view: str) -> None:
    seen = Seen(VIEWS[view]('a < b & "c" \u00e4\u4e2d'))
    assert 'a < b & "c" \u00e4\u4e2d' in "".join(seen.text)


@pytest.mark.parametrize("view", ["object", "error", "facts of a run"])
def test_what_is_cut_says_how_much_there_was(view: str) -> None:
    assert "998,000 characters more" in "".join(Seen(VIEWS[view]("x" * 1_000_000)).text)


def test_reader_of_html_sees_harm() -> None:
    """Else the tests above could not fail."""
    harmful = {
        "<p onclick='x'>a</p>": "p onclick",
        "<p style='x'>a</p>": "p style",
        "<script>x</script>": "a script that is not ours",
        "<a href='javascript:x'>a</a>": "a leads to javascript:x",
        "<a href='//evil'>a</a>": "a leads to //evil",
        "<p>a": "not closed: ['p']",
        "<p>a</b></p>": "b is closed where it is not open",
        "<math></math>": "element math",
        "<svg onload='x'></svg>": "svg onload",
        "<object></object>": "element object",
        "<p>\x1b</p>": "text 0x1b",
        "<p>\u202e</p>": "character 0x202e",
        "<!-- x -->": "comment  x ",
    }
    for html, harm in harmful.items():
        assert harm in Seen(html).harm
