from __future__ import annotations

import random
from typing import Any

import pytest

from rolecall.runner import Ending, Recap
from rolecall.runner.events import completion_time
from tests.unit.runner.cases import Reported

REQUEUE = "operator_sdk.util.requeue_after"
REPORT = "rolecall.operator.report"


def messages(reported: Reported, **exit_: Any) -> list[str]:
    return [failure.message for failure in reported.result(**exit_).failures]


def test_a_run_without_failures_succeeds() -> None:
    result = Reported().event("runner_on_ok", res={}).stats(ok=4, changed=1, skipped=2).result()
    assert result.succeeded
    assert result.recap == Recap(4, 1, 2, 0, "2026-11-21T09:13:44.12+00:00")
    assert result.recap_stdout == "PLAY RECAP"


def test_a_failed_task_is_named_with_its_place_and_message() -> None:
    result = Reported().failed("create claim | apply", "no such class").stats(failures=1).result(2)
    assert not result.succeeded
    assert result.ending is Ending.FINISHED
    (failure,) = result.failures
    assert failure.message == "no such class"
    assert failure.task == "create claim | apply"
    assert failure.place == "roles/app/tasks/main.yml:3"


def test_an_ignored_failure_is_none() -> None:
    reported = Reported().failed("a", ignore_errors=True).stats(ok=1, ignored=1)
    assert reported.result().succeeded


def test_a_rescued_failure_is_none() -> None:
    assert Reported().failed("a").stats(ok=2, rescued=1).result().succeeded


def test_of_rescued_and_failed_tasks_the_last_ones_failed() -> None:
    reported = (
        Reported().failed("rescued", "one").failed("in rescue", "two").stats(rescued=1, failures=1)
    )
    assert messages(reported, rc=2) == ["two"]


def test_each_host_is_judged_by_its_own_recap() -> None:
    reported = (
        Reported().failed("a", "rescued here", host="one").failed("a", "failed there", host="two")
    )
    reported.stats(rescued={"one": 1}, failures={"two": 1})
    assert [(f.host, f.message) for f in reported.result(2).failures] == [("two", "failed there")]


def test_an_unreachable_host_is_a_failure() -> None:
    reported = Reported().event(
        "runner_on_unreachable", host="far", task="ping", res={"msg": "no route"}
    )
    (failure,) = reported.stats(dark={"far": 1}).result(4).failures
    assert (failure.host, failure.message, failure.task) == ("far", "no route", "ping")


def test_an_unreachable_host_that_the_play_ignores_is_none() -> None:
    reported = Reported().event("runner_on_unreachable", host="far", res={"msg": "no route"})
    assert reported.stats(ok={"far": 1}, ignored={"far": 1}).result().succeeded


def test_a_crash_after_the_recap_is_a_failure() -> None:
    reported = Reported().stats(ok=1)
    assert messages(reported, rc=250) == [
        "ansible-playbook ended with exit status 250 after its recap"
    ]


def test_a_counted_failure_whose_event_got_lost_is_still_a_failure() -> None:
    assert not Reported().stats(failures=1).result(0).succeeded


@pytest.mark.parametrize("res", [{}, {"msg": 5}, {"msg": ""}, None, "text", [1]])
def test_a_failure_without_a_message_gets_the_contracts_text(res: Any) -> None:
    reported = Reported().failed("a", res=res).stats(failures=1)
    assert messages(reported, rc=2) == ["unknown playbook failure"]


def test_a_failure_under_no_log_says_why_it_says_nothing() -> None:
    (failure,) = (
        Reported().failed("a", res={"censored": "hidden"}).stats(failures=1).result(2).failures
    )
    assert failure.message == "unknown playbook failure"
    assert failure.detail == "its output is hidden by `no_log`"


def test_a_failed_loop_names_the_item_that_failed() -> None:
    items = [{"item": "a"}, {"item": "b", "failed": True, "msg": "b is broken"}]
    res = {"msg": "One or more items failed", "results": items}
    (failure,) = Reported().failed("a", res=res).stats(failures=1).result(2).failures
    assert (failure.message, failure.detail) == (res["msg"], "item `b`: b is broken")


def test_failed_loop_says_each_failure_once() -> None:
    items = [{"item": name, "failed": True, "msg": "exceeded quota"} for name in "abcde"]
    items.append({"item": "x", "failed": True, "msg": "no such class"})
    items += [{"item": name, "failed": True, "msg": f"{name} is broken"} for name in "yz"]
    res = {"msg": "One or more items failed", "results": items}
    (failure,) = Reported().failed("a", res=res).stats(failures=1).result(2).failures
    assert failure.detail == (
        "items `a`, `b`, `c` and 2 more: exceeded quota; item `x`: no such class; 2 more items failed"
    )


def test_the_end_of_stderr_explains_a_failed_command() -> None:
    res = {"msg": "non-zero return code", "stderr": "noise\n" * 200 + "disk is\nfull"}
    (failure,) = Reported().failed("a", res=res).stats(failures=1).result(2).failures
    assert failure.detail.endswith("disk is full")
    assert failure.detail.startswith("... ")
    assert len(failure.detail) <= 300


def test_events_in_any_order_come_to_the_same_result() -> None:
    reported_in_order = (
        Reported().failed("rescued").failed("last", "it").stats(failures=1, rescued=1)
    )
    events: list[tuple[int, str, dict[str, Any]]] = [
        (1, "runner_on_failed", {"host": "localhost", "res": {"msg": "first"}}),
        (2, "runner_on_failed", {"host": "localhost", "res": {"msg": "it"}}),
        (3, "playbook_on_stats", {"failures": {"localhost": 1}, "rescued": {"localhost": 1}}),
    ]
    for seed in range(6):
        random.Random(seed).shuffle(events)
        reported = Reported()
        for counter, name, data in events:
            reported.numbered(counter, name, **data)
        assert messages(reported, rc=2) == messages(reported_in_order, rc=2) == ["it"]


def test_changed_tasks_are_listed_in_order() -> None:
    reported = Reported()
    for counter, task, changed in ((9, "later", True), (2, "sooner", True), (5, "not", False)):
        reported.numbered(
            counter, "runner_on_ok", task=task, task_path="/x/a.yml:1", res={"changed": changed}
        )
    assert reported.stats(ok=3).result().changed_tasks == (
        "/x/a.yml:1: sooner",
        "/x/a.yml:1: later",
    )


def test_changed_tasks_that_only_report_are_known() -> None:
    reported = Reported()
    actions = ("operator_sdk.util.k8s_status", "k8s_event", REPORT, "kubernetes.core.k8s")
    for action in actions:
        reported.event("runner_on_ok", task=action, task_action=action, res={"changed": True})
    result = reported.stats(ok=4).result()
    assert len(result.changed_tasks) == 4
    are_reports = [task in result.report_tasks for task in result.changed_tasks]
    assert are_reports == [True, True, True, False]


@pytest.mark.parametrize("action", [REQUEUE, "requeue_after", REPORT])
@pytest.mark.parametrize("event", ["runner_on_ok", "runner_item_on_ok"])
def test_requeue_after_counts(event: str, action: str) -> None:
    reported = Reported().event(event, task_action=action, res={"period": "1m30s"}).stats(ok=1)
    assert reported.result().requeue_after_s == 90.0


def test_report_that_does_not_ask_for_a_run_leaves_it_to_the_next_that_does() -> None:
    reported = Reported().event("runner_on_ok", task_action=REPORT, res={"changed": False})
    reported.event("runner_on_ok", task_action=REPORT, res={"period": "10s"}).stats(ok=2)
    assert reported.result().requeue_after_s == 10.0


def test_report_with_an_invalid_period_fails_the_run_by_its_own_name() -> None:
    reported = (
        Reported().event("runner_on_ok", task_action=REPORT, res={"censored": "x"}).stats(ok=1)
    )
    assert reported.result().failures[0].message.startswith("`again` of `report` has `no_log`")


def test_failure_report_fails_in_the_name_of_the_task_that_it_reports() -> None:
    reported = Reported().event(
        "runner_on_failed", task="apply", task_path="/x/a.yml:1", res={"msg": "raw"}
    )
    reported.event(
        "runner_on_failed",
        task="report why",
        task_action="rolecall.operator.report_failure",
        task_path="/x/a.yml:9",
        res={"msg": "in good words"},
    ).stats(failures=1, rescued=1)
    (failure,) = reported.result().failures
    assert (failure.task, failure.place, failure.message) == (
        "apply",
        "/x/a.yml:1",
        "in good words",
    )


def test_the_first_requeue_after_counts() -> None:
    reported = Reported().event("runner_on_ok", task_action=REQUEUE, res={"period": "10s"})
    reported.event("runner_on_ok", task_action=REQUEUE, res={"period": "1h"}).stats(ok=2)
    assert reported.result().requeue_after_s == 10.0


def test_a_short_name_that_resolved_to_the_collections_module_counts() -> None:
    reported = Reported().event(
        "runner_on_ok", task_action="later", resolved_action=REQUEUE, res={"period": "5s"}
    )
    assert reported.stats(ok=1).result().requeue_after_s == 5.0


@pytest.mark.parametrize(
    "event", ["runner_on_failed", "runner_on_skipped", "playbook_on_task_start"]
)
def test_a_requeue_after_that_did_not_go_well_does_not_count(event: str) -> None:
    reported = Reported().event(
        event, task_action=REQUEUE, ignore_errors=True, res={"period": "5s"}
    )
    assert reported.stats(ok=1).result().requeue_after_s is None


@pytest.mark.parametrize("period", ["5", "ms", "", "1d"])
def test_a_period_that_is_none_is_a_failure_that_says_so(period: str) -> None:
    reported = Reported().event(
        "runner_on_ok", task="again", task_action=REQUEUE, res={"period": period}
    )
    result = reported.stats(ok=1).result()
    (failure,) = result.failures
    assert failure.message.startswith("`requeue_after`: time: ")
    assert failure.task == "again"
    assert result.requeue_after_s is None


def test_a_censored_requeue_after_is_a_failure_and_no_crash() -> None:
    reported = Reported().event("runner_on_ok", task_action=REQUEUE, res={"censored": "hidden"})
    (failure,) = reported.stats(ok=1).result().failures
    assert "no_log" in failure.message


def test_an_oversized_requeue_after_result_is_passed_over() -> None:
    reported = Reported().event("runner_on_ok", task_action=REQUEUE, res={}).stats(ok=1)
    assert reported.result().succeeded


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"event": None, "uuid": "u"},
        {"event": 5, "uuid": "u"},
        {"event": "EOF"},
        {"event": "runner_on_failed"},
    ],
)
def test_what_is_no_event_is_passed_over(event: dict[str, Any]) -> None:
    reported = Reported()
    assert reported.fold.add(event) is None
    assert reported.stats(ok=1).result().succeeded


@pytest.mark.parametrize("garbage", [None, 5, "text", [], {"res": 5}, {"res": {"results": 3}}])
@pytest.mark.parametrize("name", ["runner_on_ok", "runner_on_failed", "playbook_on_stats", "odd"])
def test_garbage_in_events_never_raises(name: str, garbage: Any) -> None:
    reported = Reported()
    event = {"event": name, "uuid": "u", "counter": "x", "created": 3, "stdout": None}
    taken = reported.fold.add({**event, "event_data": garbage})
    assert taken is not None
    assert taken.counter == 0
    reported.stats(ok="x", failures=["y"], dark={"localhost": "z"})
    assert reported.result(2).ending is Ending.FINISHED


@pytest.mark.parametrize(
    ("created", "expected"),
    [
        ("2026-11-21T09:13:44.512345+00:00", "2026-11-21T09:13:44.512345+00:00"),
        ("2026-11-21T09:13:44.500000+00:00", "2026-11-21T09:13:44.5+00:00"),
        ("2026-11-21T09:13:44+00:00", "2026-11-21T09:13:44+00:00"),
        ("2026-11-21T09:13:44.000000+00:00", "2026-11-21T09:13:44+00:00"),
        ("2026-11-21T09:13:44.1234567891+00:00", "2026-11-21T09:13:44.12345678+00:00"),
        ("yesterday", ""),
        (None, ""),
    ],
)
def test_completion_is_spelled_as_go_does(created: Any, expected: str) -> None:
    assert completion_time(created) == expected
