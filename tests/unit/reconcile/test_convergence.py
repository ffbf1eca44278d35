"""When a role counts as never coming to rest, and how long it must wait then."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.reconcile.convergence import Convergence
from tests.unit.workqueue.keys import key

KEY = key("a")


def cr_of(generation: int = 1, uid: str = "u1") -> dict[str, Any]:
    return {"metadata": {"uid": uid, "generation": generation}}


def after(*runs: tuple[str, ...]) -> tuple[Convergence, str | None]:
    """What is reported after runs that changed these tasks."""
    convergence, reported = Convergence(), None
    for changed in runs:
        reported = convergence.observe(KEY, cr_of(), changed, 0.0)
    return convergence, reported


def test_task_that_changes_something_five_times_in_a_row_is_named() -> None:
    assert after(*[("one",)] * 4)[1] is None
    assert str(after(*[("one",)] * 5)[1]).endswith("no edit in between: `one`")


def test_task_is_named_though_others_changed_something_but_once() -> None:
    _, reported = after(*[("one",)] * 4, ("one", "two"))

    assert str(reported).endswith(": `one`")


def test_run_that_changes_nothing_begins_the_count_anew() -> None:
    convergence, reported = after(*[("one",)] * 4, (), *[("one",)] * 4)

    assert reported is None
    assert convergence.wait_s(KEY, cr_of(), 0.0) == 0.0


@pytest.mark.parametrize("other", [cr_of(generation=2), cr_of(uid="u2")], ids=["edit", "new"])
def test_edited_or_new_object_begins_the_count_anew(other: dict[str, Any]) -> None:
    convergence, _ = after(*[("one",)] * 4)

    assert convergence.observe(KEY, other, ("one",), 0.0) is None


@pytest.mark.parametrize(
    ("runs", "wait_s"), [(4, 0.0), (5, 5.0), (6, 10.0), (10, 160.0), (11, 300.0), (40, 300.0)]
)
def test_wait_doubles_with_each_run_up_to_five_minutes(runs: int, wait_s: float) -> None:
    convergence, _ = after(*[("one",)] * runs)

    assert convergence.wait_s(KEY, cr_of(), 0.0) == wait_s
    assert convergence.wait_s(KEY, cr_of(), 1.0) == max(0.0, wait_s - 1.0)
    assert convergence.wait_s(KEY, cr_of(), 1000.0) == 0.0
    assert convergence.wait_s(KEY, cr_of(generation=2), 0.0) == 0.0
    assert convergence.wait_s(key("b"), cr_of(), 0.0) == 0.0


def test_three_tasks_are_named_and_the_others_counted() -> None:
    tasks = ("one", "two", "three", "four", "five")

    assert str(after(*[tasks[:3]] * 5)[1]).endswith(": `one`, `two`, `three`")
    assert str(after(*[tasks] * 5)[1]).endswith(": `one`, `two`, `three` and 2 more")


def test_forgotten_key_waits_for_nothing_and_others_still_do() -> None:
    convergence = Convergence()
    for name in ("a", "b", "c"):
        for _ in range(5):
            convergence.observe(key(name), cr_of(), ("one",), 0.0)

    convergence.forget(key("a"))
    convergence.forget_of(key("b").__eq__)

    assert [convergence.wait_s(key(name), cr_of(), 0.0) for name in "abc"] == [0.0, 0.0, 5.0]
