"""Whatever an object or a plan says: the views of both are our markup, and that text in it as text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from tests.unit.extensions.console.control.engine import NOON
from tests.unit.extensions.console.page.pages_made import key, layout
from tests.unit.extensions.console.page.reading_html import Seen
from tests.unit.extensions.console.page.test_hostile_views import HOSTILE, MOST_BYTES

from rolecall.extensions.console.blame import Blamed, LiveField, ManagedEntry, Write
from rolecall.extensions.console.page import views
from rolecall.extensions.console.page.plan_diffs import DiffLine, ObjectDiff, PlanDiff
from rolecall.extensions.console.page.plans import AskedPlan
from rolecall.extensions.console.page.views import ObjectPage, PlanPage


def blamed(text: str, place: int) -> list[Blamed]:
    found = LiveField((text, place, text), ((text,),) * 3, text, (), is_identity=False)
    write = Write(text, text, NOON, NOON, text, text, text, text, (text,), text, text, text)
    manager = ManagedEntry(text, text, NOON, text)
    return [Blamed(found), Blamed(found, write, is_filled_in=True), Blamed(found, manager=manager)]


def object_page(text: str, *, may_read_log: bool = True) -> str:
    lines = [each for place in range(3) for each in blamed(text, place)]
    notes, more = [text], 1_000
    shown = ObjectPage(key(text), text, text, lines, more, True, may_read_log, notes)
    return views.object_yaml(shown, layout(text))


def diff(text: str) -> PlanDiff:
    text = text[:1_000]
    lines = tuple(DiffLine(sign, text) for sign in ("+", "-", "~", ""))
    objects = [ObjectDiff(verb, text, text, text, text, True, lines, True) for verb in VERBS]
    return PlanDiff(text, tuple(objects), ((text, text),), text, 1.0, False, 2, 2)


def plan_page(text: str, state: str, *, is_made: bool = False) -> str:
    asked = AskedPlan(text, NOON, state, diff(text) if is_made else None, text[:1_000])
    return views.plan(PlanPage(key(text), [], asked), layout(text))


VERBS = ("create", "change", "delete")
VIEWS: dict[str, Callable[[str], str]] = {
    "yaml": object_page,
    "yaml without the log": lambda text: object_page(text, may_read_log=False),
    "plan": lambda text: plan_page(text, "ended", is_made=True),
    "plan that waits": lambda text: plan_page(text, "waits"),
    "plan that runs": lambda text: plan_page(text, "running"),
    "plan that failed": lambda text: plan_page(text, "ended"),
    "parts of a plan": lambda text: views.plan_parts(
        PlanPage(key(text), [], AskedPlan(text, NOON, "ended", diff(text)))
    ),
    "plan that takes rights": lambda text: views.plan(
        PlanPage(key(text), [text, text], None), layout(text)
    ),
}


@pytest.mark.parametrize(("view", "text"), list(product(VIEWS, HOSTILE)))
def test_hostile_text_is_text_in_every_view(view: str, text: str) -> None:
    made = VIEWS[view](HOSTILE[text])
    assert Seen(made).harm == []
    assert len(made.encode()) < MOST_BYTES


@pytest.mark.parametrize("view", ["yaml", "plan"])
def test_text_can_be_read_all_the_same(view: str) -> None:
    assert "a < b & c \u00e4\u4e2d" in "".join(Seen(VIEWS[view]("a < b & c \u00e4\u4e2d")).text)
