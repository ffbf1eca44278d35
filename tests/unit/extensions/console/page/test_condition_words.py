"""Conditions as sentences: those of ours, those of the Go operator, and those of others."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.extensions.console.page.views.condition_words import (
    DriftWords,
    drift_in,
    shown_conditions,
)
from rolecall.json_object import Json

AT = "2026-11-22T12:04:00Z"


def condition(type_: str, status: str, reason: str = "", message: str = "", **more: Any) -> Json:
    known = {"type": type_, "status": status, "reason": reason, "message": message}
    return {**known, "lastTransitionTime": AT, **more}


def said(*conditions: Json) -> str:
    """The sentence of the last one."""
    each = shown_conditions(conditions)[-1]
    return f"{each.words}{f' {each.at[11:16]}' if each.at else ''}{each.rest}"


RUNS = condition("Running", "True", "Running", "Running reconciliation")


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ([RUNS], "A run has been in progress since 12:04"),
        (
            [condition("Running", "True", "Running", "Running task `x` (main.yml:3)")],
            "A run has been in progress since 12:04: task `x` (main.yml:3)",
        ),
        (
            [condition("Running", "True", "Successful", "Awaiting next reconciliation")],
            "No run is in progress; the last one began at 12:04",
        ),
        ([condition("Running", "False")], "No run is in progress"),
        (
            [condition("Running", "False", "Cancelled", "by anna")],
            "The operator cancelled the last run at 12:04: by anna",
        ),
        ([condition("Successful", "True", "Successful")], "Last run succeeded at 12:04"),
        ([condition("Successful", "False")], "The last run did not succeed"),
        ([RUNS, condition("Successful", "False")], "The current run has not succeeded yet"),
        ([condition("Failure", "True", "Failed", "boom")], "Runs have failed since 12:04: boom"),
        (
            [condition("Failure", "True", "TimedOut", "60 s")],
            "Runs have failed since 12:04: it timed out: 60 s",
        ),
        ([condition("Failure", "False")], "No run has failed since 12:04"),
        (
            [condition("Ready", "True", "RunSucceeded", observedGeneration=3)],
            "Generation 3 is applied, since 12:04",
        ),
        (
            [condition("Ready", "False", "RunFailed", "boom")],
            "The object is not applied, since 12:04: boom",
        ),
        (
            [condition("Ready", "Unknown", "RunPending", "Generation 4 awaits its run")],
            "Generation 4 awaits its run",
        ),
        (
            [condition("Paused", "True", "PausedByAnnotation", "Paused by anna")],
            "Paused since 12:04: Paused by anna",
        ),
        ([condition("Paused", "False", "Resumed")], "Resumed at 12:04"),
        (
            [condition("NotConverging", "True", "SameTaskChanged", "task x")],
            "Each run has changed something since 12:04: task x",
        ),
        (
            [condition("Drifted", "True", "RunWouldChange", "A run would change 1 object: a")],
            "A run would change 1 object: a",
        ),
        ([condition("Drifted", "False")], "A run would have changed nothing since 12:04"),
        (
            [condition("Ready", "True", "Running", "of a role")],
            "Ready: yes since 12:04, Running: of a role",
        ),
        ([condition("Stalled", "Unknown")], "Stalled: unknown since 12:04"),
        ([{"type": "Reconciling", "status": "False"}], "Reconciling: no"),
    ],
)
def test_each_condition_is_a_sentence(conditions: list[Json], sentence: str) -> None:
    assert said(*conditions) == sentence


@pytest.mark.parametrize(
    ("type_", "status", "colour"),
    [
        ("Available", "True", "good"),
        ("Available", "False", "bad"),
        ("Stalled", "True", "bad"),
        ("Reconciling", "True", "busy"),
        ("OfSomeRole", "False", "other"),
        ("Ready", "Unknown", "other"),
    ],
)
def test_colour_is_that_of_what_is_known(type_: str, status: str, colour: str) -> None:
    assert shown_conditions([condition(type_, status)])[0].colour == colour


def test_what_is_no_condition_is_left_out_and_odd_values_are_text() -> None:
    (shown,) = shown_conditions([None, "x", [1], {"type": ["Ready"], "status": {"a": 1}}])
    assert (shown.type, shown.status, shown.colour) == ("['Ready']", "{'a': 1}", "other")


def test_drift_names_each_field_that_differs() -> None:
    paths = ["Deployment shop/web.spec.replicas", "Secret shop/login (create)"]
    message = f"A run would change 3 objects: {', '.join(paths)} and 4 more"
    found = drift_in([condition("Drifted", "True", message=message)])
    assert found == DriftWords("A run would change 3 objects", AT, "waits", paths, "and 4 more")


@pytest.mark.parametrize("message", ["", "something else", "A run would change nothing", None, 5])
def test_drift_in_other_words_is_shown_as_it_is(message: Any) -> None:
    found = drift_in([None, condition("Drifted", "False", message=message)])
    assert found is not None and not found.paths
    assert found.words == (str(message) if message else "A run would change nothing")


def test_object_that_is_not_observed_has_no_drift() -> None:
    assert drift_in([condition("Running", "True")]) is None
