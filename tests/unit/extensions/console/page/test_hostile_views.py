"""Whatever an object, a task or a run says: each view is our markup, and that text in it as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from inspect import isfunction
from itertools import product
from typing import Any

import pytest
from tests.unit.extensions.console.page.reading_html import Seen

from rolecall.extending import HeldRun
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.grouping import Group
from rolecall.extensions.console.page.rows import Counts, CrRow, Live, NextRun, Query
from rolecall.extensions.console.page.shown_tasks import ShownTask, TaskEnd
from rolecall.extensions.console.page.views import (
    CrPage,
    Fleet,
    Groups,
    OwnedObject,
    PageLayout,
    Replica,
    RunPage,
    Window,
)
from rolecall.gvk import Gvk
from rolecall.history import FailedTask, KeptRun
from rolecall.record import RecordedRequest
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


def cr_page(text: str, **changes: Any) -> CrPage:
    condition = dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"), text)
    metadata = dict.fromkeys(("generation", "creationTimestamp", "deletionTimestamp"), text)
    values: dict[str, Any] = {
        "row": row(text, "running"),
        "cr": {"metadata": metadata, "status": {"conditions": [condition] * 3}},
        "runs": [run(text, "failed"), run(text), run(text, "running")],
        "owned": [OwnedObject(text, text, text, text, well, text) for well in (True, False, None)],
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


def window(text: str) -> Window:
    states = ("running", "waiting", "failed", "ready", text)
    rows = [row(text, state) for state in states]
    return Window(Query(*[text[:253]] * 9), rows, 100, 1000)


def groups(text: str) -> Fleet:
    query, by_state = Query(*[text[:253]] * 9), Counter({"failed": 1, "ready": 2, text[:99]: 3})
    named = Group(text[:400], Query(label=text[:253]), by_state=by_state)
    every = [Group(text[:400], query, by_state=by_state), *[named] * 100]
    return Fleet(Window(query, [], 0, 606), [text], f"label:{text}", Groups(every))


def run_page(text: str) -> RunPage:
    return RunPage(key(text), run(text, "running"), tasks(text), 1, is_cut=True, by_time=True)


def details(text: str) -> views.Html:
    return views.task_details([TaskEnd(*[text[:200_000]] * 5)], [request(text)])


VIEWS: dict[str, Callable[[str], str]] = {
    "overview": lambda text: views.overview(counts(text), replica(text), layout(text)),
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
    "run": lambda text: views.run(run_page(text), layout(text)),
    "rows of a run": lambda text: views.task_rows(run_page(text), tasks(text)),
    "facts of a run": lambda text: views.run_facts(run(text, "failed"), "/cr/x"),
    "task": lambda text: views.task_page(
        key(text), run(text), tasks(text)[0], details(text), layout(text)
    ),
    "comparison": lambda text: views.comparison(
        key(text), (run(text, "failed"), run(text)), (tasks(text), tasks(text)[:1]), layout(text)
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
    looked_at = {
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
        "<p>\x1b</p>": "text 0x1b",
        "<p>\u202e</p>": "character 0x202e",
        "<!-- x -->": "comment  x ",
    }
    for html, harm in harmful.items():
        assert harm in Seen(html).harm
