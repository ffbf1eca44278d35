"""The three conditions of the Go operator, moment by moment."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rolecall.status import ansible_conditions as of

OLD = "2026-11-21T08:00:00Z"
NOW = "2026-11-21T09:00:00Z"
RESULT = {"ok": 3, "changed": 1, "skipped": 0, "failures": 0, "completion": "2026-11-21T09:00"}
FOREIGN: list[Any] = [
    {"type": "Healthy", "status": "True", "observedGeneration": 3, "severity": {"level": 7}},
    {"status": "True", "reason": "NoType"},
    "not even a map",
]
Conditions = list[dict[str, Any]]


def after_success() -> Conditions:
    return of.success(of.running([], OLD), RESULT, OLD)


def after_failure() -> Conditions:
    return of.failure(of.running([], OLD), of.FAILED, "disk full", RESULT, OLD)


def by_type(conditions: Conditions) -> dict[str, dict[str, Any]]:
    return {condition["type"]: condition for condition in conditions}


def condition(
    type_: str, status: str, reason: str = "", message: str = "", time: str = OLD, **more: Any
) -> dict[str, Any]:
    texts = {"reason": reason, "message": message}
    return {"type": type_, "status": status, **texts, "lastTransitionTime": time, **more}


def test_first_run_shows_running_and_nothing_else() -> None:
    assert of.running([], NOW) == [
        condition("Running", "True", "Running", "Running reconciliation", NOW)
    ]


def test_first_success_is_the_go_operators_to_the_letter() -> None:
    assert after_success() == [
        condition(
            "Running", "True", "Successful", "Awaiting next reconciliation", ansibleResult=RESULT
        ),
        condition("Successful", "True", "Successful", "Last reconciliation succeeded"),
        condition("Failure", "False"),
    ]


def test_first_failure_is_the_go_operators_to_the_letter() -> None:
    assert after_failure() == [
        condition("Running", "False", "Running", "Running reconciliation"),
        condition("Failure", "True", "Failed", "disk full", ansibleResult=RESULT),
        condition("Successful", "False"),
    ]


def test_run_after_a_success_shows_success_as_past() -> None:
    seen = by_type(of.running(after_success(), NOW))

    assert seen["Successful"] == condition(
        "Successful", "False", "Successful", "Last reconciliation succeeded", NOW
    )
    assert seen["Running"] == condition("Running", "True", "Running", "Running reconciliation", NOW)
    assert seen["Failure"] == condition("Failure", "False")


def test_run_after_a_failure_keeps_the_failure_in_sight() -> None:
    seen = by_type(of.running(after_failure(), NOW))

    assert seen["Failure"]["status"] == "True"
    assert seen["Failure"]["lastTransitionTime"] == OLD
    assert seen["Running"]["lastTransitionTime"] == NOW


def test_failure_after_a_success_flips_all_three_with_a_new_time() -> None:
    running = of.running(after_success(), OLD)

    seen = by_type(of.failure(running, "TimedOut", "took too long", None, NOW))

    assert seen["Running"] == condition(
        "Running", "False", "Running", "Running reconciliation", NOW
    )
    assert seen["Failure"] == condition("Failure", "True", "TimedOut", "took too long", NOW)
    assert seen["Successful"] == condition("Successful", "False", time=OLD)


def test_repeated_failure_keeps_its_time_and_refreshes_its_text() -> None:
    again = of.failure(of.running(after_failure(), NOW), of.FAILED, "still full", None, NOW)

    assert by_type(again)["Failure"] == condition("Failure", "True", "Failed", "still full", OLD)


def test_order_after_a_success_and_after_a_failure_is_the_go_operators() -> None:
    once = of.success(of.running(after_failure(), NOW), RESULT, NOW)
    twice = of.failure(of.running(once, NOW), of.FAILED, "x", None, NOW)

    assert [item["type"] for item in once] == ["Running", "Successful", "Failure"]
    assert [item["type"] for item in twice] == ["Running", "Failure", "Successful"]


def test_error_before_any_run_sets_only_failure() -> None:
    message = "Unable to run reconciliation"

    assert of.error([], message, NOW) == [condition("Failure", "True", "Failed", message, NOW)]


def test_error_after_a_success_flips_the_others_and_keeps_their_texts() -> None:
    seen = by_type(of.error(after_success(), "Unable to run reconciliation", NOW))

    assert seen["Running"]["status"] == seen["Successful"]["status"] == "False"
    assert seen["Running"]["ansibleResult"] == RESULT
    assert seen["Successful"]["message"] == "Last reconciliation succeeded"
    assert "ansibleResult" not in seen["Failure"]


def test_cancelled_run_says_that_nothing_runs_and_judges_nothing() -> None:
    before = of.running(after_failure(), OLD)

    seen = by_type(of.cancelled(before, "The engine ended the run", NOW))

    assert seen["Running"]["status"] == "False"
    assert seen["Running"]["reason"] == "Cancelled"
    assert seen["Failure"] == by_type(before)["Failure"]


@pytest.mark.parametrize("phase", ["running", "success", "failure", "error", "cancelled"])
def test_conditions_of_others_survive_unchanged_and_in_place(phase: str) -> None:
    before = [*copy.deepcopy(FOREIGN), *after_success()]
    given = copy.deepcopy(before)
    after = {
        "running": lambda: of.running(before, NOW),
        "success": lambda: of.success(before, RESULT, NOW),
        "failure": lambda: of.failure(before, of.FAILED, "x", None, NOW),
        "error": lambda: of.error(before, "x", NOW),
        "cancelled": lambda: of.cancelled(before, "x", NOW),
    }[phase]()

    assert after[:3] == FOREIGN
    assert before == given, "the list on the object was changed in place"


def test_unknown_fields_inside_our_conditions_survive() -> None:
    before = after_success()
    for item in before:
        item["severity"] = "info"

    after = of.success(of.running(before, NOW), RESULT, NOW)

    assert {item["severity"] for item in after} == {"info"}


def test_text_of_another_client_stays_where_status_and_reason_are_the_same() -> None:
    before = [condition("Running", "True", "Running", "something else", OLD)]

    assert of.running(before, NOW) == [
        condition("Running", "True", "Running", "something else", NOW)
    ]
    assert of.in_flight(before, "task `X` since 09:00:00 UTC") == before


def test_message_of_a_long_run_names_its_task_and_nothing_else_changes() -> None:
    before = [*FOREIGN, *of.running(after_failure(), NOW)]

    after = of.in_flight(before, "task `X` (a.yml:1) since 09:00:05 UTC")

    message = "Running task `X` (a.yml:1) since 09:00:05 UTC"
    assert by_type(after[3:])["Running"] == condition("Running", "True", "Running", message, NOW)
    assert [each for each in after if each not in before] == [by_type(after[3:])["Running"]]


@pytest.mark.parametrize(
    "later",
    [of.success([], None, OLD), of.cancelled(of.running([], OLD), "shut down", OLD), []],
    ids=["over", "cancelled", "taken away"],
)
def test_run_that_is_over_is_not_said_to_be_at_a_task(later: Conditions) -> None:
    assert of.in_flight(later, "task `X` since 09:00:05 UTC") == later


@pytest.mark.parametrize("end", ["failure", "error", "next run"])
def test_no_task_is_named_any_more_once_its_run_is_over(end: str) -> None:
    long = of.in_flight(of.running([], OLD), "task `X` since 09:00:05 UTC")
    after = {
        "failure": of.failure(long, of.FAILED, "x", None, NOW),
        "error": of.error(long, "x", NOW),
        "next run": of.running(long, NOW),  # the engine died in the run
    }[end]

    assert by_type(after)["Running"]["message"] == "Running reconciliation"


@pytest.mark.parametrize("time", [None, "yesterday", 17, "2026-11-21T08:00:00"])
def test_unreadable_transition_time_becomes_now(time: object) -> None:
    before = [{"type": "Failure", "status": "True", "lastTransitionTime": time}]

    after = of.failure(before, of.FAILED, "x", None, NOW)

    assert by_type(after)["Failure"]["lastTransitionTime"] == NOW


@pytest.mark.parametrize("bare", [{}, {"status": "True"}])
def test_condition_without_reason_and_message_gets_them_when_it_flips(bare: dict[str, Any]) -> None:
    after = of.error([{"type": "Successful", **bare}], "x", NOW)

    assert by_type(after)["Successful"] == condition("Successful", "False", time=NOW)


def test_condition_without_status_and_reason_is_none_of_a_run() -> None:
    bare = [{"type": "Running"}]

    assert of.running(bare, NOW) == of.running([], NOW)
    assert of.in_flight(bare, "task `X` since 09:00:05 UTC") == bare
    assert of.success([{"type": "Successful"}], None, NOW) == of.success([], None, NOW)


def test_condition_without_a_reason_is_not_written_again_to_say_the_same() -> None:
    before = {"type": "Successful", "status": "False"}

    assert of.failure([before], of.FAILED, "x", None, NOW)[0] == before


def test_nothing_that_ran_is_nothing_that_was_cancelled() -> None:
    assert of.cancelled(after_failure()[1:], "shut down", NOW) == after_failure()[1:]


def test_other_condition_may_begin_as_the_message_of_a_long_run_does() -> None:
    before = [condition("Successful", "True", "Successful", "Running task by task")]

    assert of.running(before, NOW)[0]["message"] == "Running task by task"


def test_condition_twice_on_the_object_becomes_one() -> None:
    before = [condition("Failure", "True"), condition("Failure", "False")]

    after = of.success(before, None, NOW)

    assert [item["type"] for item in after].count("Failure") == 1
