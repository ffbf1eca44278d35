"""Whatever an object, a task or a run says: each view is our markup, and that text in it as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from inspect import isfunction
from itertools import product

import pytest
from tests.unit.extensions.console.page.pages_made import (
    NOON,
    ask,
    cr_page,
    details,
    groups,
    key,
    layout,
    overview_page,
    row,
    run,
    run_page,
    seen_trends,
    tasks,
    window,
)
from tests.unit.extensions.console.page.reading_html import Seen

from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.rows import Query
from rolecall.extensions.console.page.trends import TrendSpan
from rolecall.extensions.console.page.views import (
    FleetPage,
    KindsPage,
    Window,
)

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


VIEWS: dict[str, Callable[[str], str]] = {
    "overview": lambda text: views.overview(overview_page(text), layout(text)),
    "kinds": lambda text: views.kinds(
        KindsPage(seen_trends(text, TrendSpan.DAY), NOON, text), layout(text)
    ),
    "list": lambda text: views.crs(FleetPage(window(text), [text]), layout(text)),
    "groups": lambda text: views.crs(groups(text), layout(text)),
    "groups alone": lambda text: views.cr_groups(groups(text)),
    "list without a row": lambda text: views.crs(
        FleetPage(Window(Query(name=text), [], 0, 0, nothing="name"), [text]), layout(text)
    ),
    "rows of the list": lambda text: views.fleet_rows(window(text)),
    "problem of the list": lambda text: views.crs(
        FleetPage(Window(Query(), [], 0, 0, text), [text]), layout(text)
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
        "fleet_rows",
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
