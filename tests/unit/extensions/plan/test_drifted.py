"""`Drifted`, of a CR that is only observed, and what a run makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.extensions.plan.conditions import DriftApplied, Observed
from rolecall.json_object import Json
from rolecall.status import Ended, Started, Verdict, find
from rolecall.status.changes import StatusChange

OLD = "2026-11-21T08:00:00Z"
NOW = "2026-11-21T09:00:00Z"
GOOD = Verdict(succeeded=True)
BAD = Verdict(succeeded=False)
ENDED = Ended(GOOD, 3, edits=[DriftApplied()])
FOREIGN = {"type": "Healthy", "status": "True"}


def applied(*changes: StatusChange, now: str = OLD, **status: Any) -> Json:
    cr: Json = {"metadata": {"name": "a", "generation": 3}, "status": status}
    for change in changes:
        cr = {**cr, "status": change(cr, now)}
    return dict(cr["status"])


def drifted(status: Json) -> Json | None:
    return find(status["conditions"], "Drifted")


@pytest.mark.parametrize(
    ("objects", "is_known", "status", "reason"),
    [
        (2, True, "True", "RunWouldChange"),
        (0, True, "False", "RunWouldChangeNothing"),
        (0, False, "Unknown", "NotKnown"),
        (2, False, "Unknown", "NotKnown"),
    ],
)
def test_observed_cr_reports_whether_a_run_would_change_anything(
    objects: int, is_known: bool, status: str, reason: str
) -> None:
    seen = applied(Observed(objects, "what of it", 3, is_known), conditions=[FOREIGN], url="x")

    assert seen == {
        "url": "x",
        "conditions": [
            FOREIGN,
            {
                "type": "Drifted",
                "status": status,
                "reason": reason,
                "message": "what of it",
                "observedGeneration": 3,
                "lastTransitionTime": OLD,
            },
        ],
    }


def test_plan_counts_as_known_by_default() -> None:
    assert Observed(1, "x", 3).status == "True"


def test_observed_kind_without_generations_reports_none() -> None:
    found = drifted(applied(Observed(1, "x", None)))

    assert found is not None
    assert "observedGeneration" not in found


def test_run_that_succeeds_applies_what_an_observer_missed() -> None:
    before = applied(Observed(2, "two objects", 3))["conditions"]

    after = applied(Started(), ENDED, now=NOW, conditions=[FOREIGN, *before])

    found = drifted(after)
    assert found is not None
    assert (found["status"], found["reason"]) == ("False", "RunSucceeded")
    assert found["lastTransitionTime"] == NOW
    assert [each["type"] for each in after["conditions"][:2]] == ["Healthy", "Drifted"]


@pytest.mark.parametrize("ended", [Ended(BAD, 3), Ended(GOOD, 3)])
def test_run_that_applied_nothing_leaves_the_drift(ended: Ended) -> None:
    before = applied(Observed(2, "two objects", 3))["conditions"]

    assert drifted(applied(ended, now=NOW, conditions=before)) == before[0]


def test_run_says_nothing_new_of_a_cr_that_had_not_drifted() -> None:
    before = applied(Observed(0, "nothing", 3))["conditions"]

    assert drifted(applied(ENDED, now=NOW, conditions=before)) == before[0]
    assert drifted(applied(ENDED)) is None
