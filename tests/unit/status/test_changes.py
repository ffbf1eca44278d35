"""Status as a whole: Ready, the observed generation, and the conditions that are ours alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.status import Cancelled, Ended, NotRun, Paused, Started, Verdict, find
from rolecall.status.changes import StatusChange

OLD = "2026-11-21T08:00:00Z"
NOW = "2026-11-21T09:00:00Z"
GOOD = Verdict(succeeded=True)
BAD = Verdict(succeeded=False, reason="TimedOut", message="over its limit of 60 s")


def cr_of(generation: int | None = 1, status: Any = None) -> Json:
    cr: Json = {"metadata": {"name": "a", "generation": generation}}
    if status is not None:
        cr["status"] = status
    return cr


def applied(cr: Json, *changes: StatusChange, now: str = OLD) -> Json:
    for change in changes:
        cr = {**cr, "status": change(cr, now)}
    return cr


def edited(cr: Json, generation: int) -> Json:
    return {**cr, "metadata": {**cr["metadata"], "generation": generation}}


def condition(cr: Json, type_: str) -> Json:
    found = find(cr["status"]["conditions"], type_)
    assert found is not None
    return found


def by_type(cr: Json) -> Json:
    return {found["type"]: found for found in cr["status"]["conditions"]}


def ready(cr: Json) -> tuple[str, str, Any]:
    found = condition(cr, "Ready")
    return found["status"], found["reason"], found.get("observedGeneration")


def test_ready_is_unknown_during_the_first_run_and_true_after_it() -> None:
    running = applied(cr_of(), Started())
    done = applied(running, Ended(GOOD, 1))

    assert ready(running) == ("Unknown", "RunInProgress", 1)
    assert "observedGeneration" not in running["status"]
    assert ready(done) == ("True", "RunSucceeded", 1)
    assert done["status"]["observedGeneration"] == 1


def test_ready_is_false_with_the_failures_reason_and_message() -> None:
    failed = applied(cr_of(), Started(), Ended(BAD, 1))

    assert ready(failed) == ("False", "RunTimedOut", 1)
    assert condition(failed, "Ready")["message"] == condition(failed, "Failure")["message"]
    assert condition(failed, "Failure")["reason"] == "TimedOut"


def test_ready_stays_true_while_the_same_generation_runs_again() -> None:
    again = applied(applied(cr_of(), Started(), Ended(GOOD, 1)), Started(), now=NOW)

    assert ready(again) == ("True", "RunSucceeded", 1)
    assert condition(again, "Ready")["lastTransitionTime"] == OLD


def test_ready_is_unknown_again_while_a_new_generation_runs() -> None:
    done = applied(cr_of(), Started(), Ended(GOOD, 1))

    running = applied(edited(done, 2), Started(), now=NOW)

    assert ready(running) == ("Unknown", "RunInProgress", 2)
    assert running["status"]["observedGeneration"] == 1


@pytest.mark.parametrize(("verdict", "word"), [(GOOD, "succeeded"), (BAD, "failed")])
def test_result_of_an_old_generation_makes_nothing_ready(verdict: Verdict, word: str) -> None:
    running = applied(cr_of(), Started())

    done = applied(edited(running, 2), Ended(verdict, 1))

    assert ready(done) == ("Unknown", "RunPending", 2)
    assert condition(done, "Ready")["message"].endswith(f"that of 1 {word}")
    assert done["status"]["observedGeneration"] == 1


@pytest.mark.parametrize(
    "of_a_role",
    [
        {"type": "Ready", "status": "False", "reason": "PodsMissing", "message": "0 of 3"},
        {"type": "Ready", "status": "Unknown", "reason": "Running", "message": "under way"},
        {"type": "Ready", "status": "False", "reason": "RunFailed", "severity": "none"},
    ],
)
def test_bad_news_of_a_role_stay_as_it_wrote_them(of_a_role: Json) -> None:
    running = applied(cr_of(), Started())
    running["status"]["conditions"][0] = copy.deepcopy(of_a_role)  # during the run

    done = applied(running, Ended(GOOD, 1), Started(), Ended(BAD, 1), NotRun("x"), now=NOW)

    assert condition(done, "Ready") == of_a_role


OF_ROLES = [
    {"type": "Ready", "status": "True"},
    {"type": "Ready", "status": "True", "reason": "Available", "message": "3 of 3"},
    {"type": "Ready", "status": "True", "reason": "RunSucceeded", "severity": "none"},
]


def written_by_a_role(of_a_role: Json) -> Json:
    running = applied(cr_of(), Started())
    running["status"]["conditions"][0] = copy.deepcopy(of_a_role)  # during the run
    return running


@pytest.mark.parametrize("of_a_role", OF_ROLES)
def test_good_news_of_a_role_stay_while_runs_succeed(of_a_role: Json) -> None:
    running = written_by_a_role(of_a_role)

    done = applied(running, Ended(GOOD, 1), Started(), Cancelled("x"), Ended(GOOD, 1), now=NOW)

    assert condition(done, "Ready") == of_a_role


@pytest.mark.parametrize("of_a_role", OF_ROLES)
@pytest.mark.parametrize(
    ("change", "reason"), [(Ended(BAD, 1), "RunTimedOut"), (NotRun("x"), "RunFailed")]
)
def test_good_news_of_a_role_do_not_outlive_a_run_that_failed(
    of_a_role: Json, change: StatusChange, reason: str
) -> None:
    failed = applied(written_by_a_role(of_a_role), change, now=NOW)

    assert ready(failed) == ("False", reason, 1)
    assert condition(failed, "Ready")["lastTransitionTime"] == NOW
    assert ready(applied(failed, Started(), Ended(GOOD, 1))) == ("True", "RunSucceeded", 1)


def test_ready_of_a_role_is_not_touched_where_the_watch_has_none() -> None:
    of_a_role = OF_ROLES[1]
    changes = (Ended(BAD, 1, has_ready=False), NotRun("x", has_ready=False))

    failed = applied(written_by_a_role(of_a_role), *changes)

    assert condition(failed, "Ready") == of_a_role


def test_watch_without_ready_gets_neither_ready_nor_observed_generation() -> None:
    changes: list[StatusChange] = [
        Started(has_ready=False),
        Ended(GOOD, 1, has_ready=False),
        NotRun("x", has_ready=False),
    ]

    status = applied(cr_of(), *changes)["status"]

    assert set(status) == {"conditions"}
    assert find(status["conditions"], "Ready") is None


@pytest.mark.parametrize("generation", [None, 0])
def test_kind_without_generations_has_a_ready_without_one(generation: int | None) -> None:
    done = applied(cr_of(generation), Started(), Ended(GOOD, None), Started())

    assert ready(done) == ("True", "RunSucceeded", None)
    assert "observedGeneration" not in done["status"]


def test_ready_does_not_flap_where_the_schema_drops_its_generation() -> None:
    done = applied(cr_of(), Started(), Ended(GOOD, 1))
    del condition(done, "Ready")["observedGeneration"]

    assert ready(applied(done, Started()))[0] == "True"


def test_ready_does_not_flap_where_the_schema_keeps_its_generation_alone() -> None:
    done = applied(cr_of(), Started(), Ended(GOOD, 1))
    del done["status"]["observedGeneration"]

    assert ready(applied(done, Started()))[0] == "True"


def test_fields_of_others_in_our_own_conditions_survive() -> None:
    held = applied(cr_of(), Paused("nothing will run"))
    condition(held, "Paused")["severity"] = "info"

    assert condition(applied(held, Started()), "Paused")["severity"] == "info"


def test_our_own_conditions_stand_before_the_three_of_ansible_and_stay_there() -> None:
    cr = cr_of(status={"conditions": [{"type": "Healthy", "status": "True"}]})

    done = applied(cr, Started(), Ended(GOOD, 1, not_converging="task `x`"), Started(), Paused("p"))
    types = [item["type"] for item in done["status"]["conditions"]]

    assert types[:2] == ["Healthy", "Ready"]
    assert set(types[2:]) == {"Running", "Successful", "Failure", "NotConverging", "Paused"}


def test_keys_of_others_survive() -> None:
    mine = {"url": "http://x", "conditions": [], "nested": {"a": [1, None]}}

    done = applied(cr_of(status=mine), Started(), Ended(BAD, 1))

    assert {key: done["status"][key] for key in ("url", "nested")} == {
        "url": "http://x",
        "nested": {"a": [1, None]},
    }


@pytest.mark.parametrize("status", [None, "text", [], {"conditions": "text"}, {"conditions": 3}])
def test_status_of_an_unexpected_shape_does_not_stop_us(status: Any) -> None:
    done = applied(cr_of(status=status), Started(), Ended(GOOD, 1))

    assert ready(done)[0] == "True"


def test_refused_run_is_a_failure_of_this_generation() -> None:
    refused = applied(cr_of(4), NotRun("Unable to run reconciliation"))

    assert ready(refused) == ("False", "RunFailed", 4)
    assert refused["status"]["observedGeneration"] == 4


def test_cancelled_run_observed_nothing() -> None:
    status = applied(cr_of(), Started(), Cancelled("the engine stops"))["status"]

    assert "observedGeneration" not in status
    assert status["conditions"][-1]["status"] == "False"


def test_not_converging_comes_stays_while_unknown_and_goes() -> None:
    text = "task `x` changed something in each of the last 5 runs"
    looping = applied(cr_of(), Started(), Ended(GOOD, 1, not_converging=text))
    unknown = applied(looping, Started(), Ended(GOOD, 1, not_converging=None))
    calm = applied(unknown, Started(), Ended(GOOD, 1, not_converging=""), now=NOW)

    assert condition(looping, "NotConverging")["status"] == "True"
    assert condition(looping, "NotConverging")["reason"] == "SameTaskChanged"
    assert condition(unknown, "NotConverging") == condition(looping, "NotConverging")
    assert condition(calm, "NotConverging")["status"] == "False"
    assert condition(calm, "NotConverging")["reason"] == "Converged"
    assert condition(calm, "NotConverging")["lastTransitionTime"] == NOW


def test_calm_object_has_no_condition_not_converging() -> None:
    done = applied(cr_of(), Started(), Ended(GOOD, 1, not_converging=""))

    assert find(done["status"]["conditions"], "NotConverging") is None


def test_paused_is_taken_back_by_the_next_run() -> None:
    held = applied(cr_of(), Paused("nothing will run"))
    running = applied(held, Started(), now=NOW)

    assert condition(held, "Paused")["status"] == "True"
    assert condition(held, "Paused")["reason"] == "PausedByAnnotation"
    assert condition(running, "Paused")["status"] == "False"
    assert condition(running, "Paused")["reason"] == "Resumed"


@pytest.mark.parametrize(
    "change", [Started(), Ended(BAD, 1), NotRun("x"), Cancelled("x"), Paused("x")]
)
def test_change_leaves_the_given_object_alone_and_repeats_to_the_same(change: StatusChange) -> None:
    cr = applied(cr_of(), Started(), Ended(GOOD, 1))
    before = copy.deepcopy(cr)

    once = applied(cr, change)

    assert cr == before
    assert by_type(applied(once, change)) == by_type(once)
