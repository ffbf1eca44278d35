"""What conditions say in words, beside their status and reason."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.status import Ended, InFlight, Started, Verdict, find
from rolecall.status.changes import StatusChange

OLD = "2026-11-21T08:00:00Z"
NOW = "2026-11-21T09:00:00Z"


def cr_of(generation: int | None = 1, status: Any = None) -> Json:
    return {"metadata": {"name": "a", "generation": generation}, "status": status or {}}


def applied(cr: Json, change: StatusChange, now: str = OLD) -> Json:
    return {**cr, "status": change(cr, now)}


def condition(cr: Json, type_: str) -> Json:
    found = find(cr["status"]["conditions"], type_)
    assert found is not None
    return found


@pytest.mark.parametrize(("generation", "what"), [(3, "Generation 3"), (None, "The object")])
def test_ready_names_the_generation_that_is_under_way(generation: int | None, what: str) -> None:
    running = applied(cr_of(generation), Started())

    assert condition(running, "Ready")["message"] == f"{what} is being reconciled"


def test_task_of_a_long_run_is_reported_and_other_keys_stay() -> None:
    running = applied(cr_of(status={"url": "x"}), Started())

    long = applied(running, InFlight("task `X` since 09:00:05 UTC"), now=NOW)

    assert long["status"]["url"] == "x"
    assert condition(long, "Running") == {
        **condition(running, "Running"),
        "message": "Running task `X` since 09:00:05 UTC",
    }


def test_failure_without_a_text_has_none() -> None:
    failed = applied(cr_of(), Ended(Verdict(succeeded=False), 1))

    assert condition(failed, "Failure")["message"] == condition(failed, "Ready")["message"] == ""
