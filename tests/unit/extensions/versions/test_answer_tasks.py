"""What a play of admission answered, from its events: denials, warnings, a patch, or a fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rolecall.extensions.versions.admission.answer_tasks import AnswerTasks, PlayAnswer
from rolecall.runner.secrets import Redactor
from tests.unit.runner.cases import Reported, prepared_run, run_request

ASSERT, FAIL = "ansible.builtin.assert", "ansible.builtin.fail"
SECRET = {"kind": "Secret", "data": {"password": "czNjcjN0LXBhc3N3MHJk"}}


def asked() -> Reported:
    variables = {"admission": {"object": SECRET}}
    request = replace(run_request(), variables=variables, read_tasks=AnswerTasks)
    redactor = Redactor()
    redactor.learn(variables)
    return Reported(redactor, prepared_run(request))


def failed(reported: Reported, action: str, **result: Any) -> Reported:
    return reported.failed("check", res=result, task_action=action, resolved_action=action)


def answer(reported: Reported, **stats: int) -> PlayAnswer:
    found = reported.stats(**stats).result(2 if stats.get("failures") else 0).answer
    assert isinstance(found, PlayAnswer)
    return found


@pytest.mark.parametrize(
    ("action", "result", "denials"),
    [
        (ASSERT, {"msg": "too small", "evaluated_to": False}, ["too small"]),
        (FAIL, {"msg": "not here"}, ["not here"]),
        ("rolecall.operator.refuse", {"msg": "taken"}, ["taken"]),
        (FAIL, {"censored": "hidden"}, ["denied; the reason is hidden by `no_log`"]),
        (FAIL, {"msg": "it is s3cr3t-passw0rd"}, ["it is ********"]),
        (ASSERT, {"msg": "", "evaluated_to": False}, ["denied by task `check`"]),
        (ASSERT, {"msg": "Task failed: Error while evaluating conditional: 'x' is undefined"}, []),
        (FAIL, {"msg": "Task failed: Finalization of task args for 'fail' failed: x"}, []),
        (FAIL, {"msg": "Task failed: A 'when' expression failed: Error while"}, []),
        (FAIL, {"msg": "The conditional check 'x' failed. The error was: y"}, []),
        (FAIL, {"msg": "The task includes an option with an undefined variable.. x"}, []),
        ("kubernetes.core.k8s", {"msg": "403 Forbidden"}, []),
    ],
)
def test_failure_is_a_denial_where_the_play_meant_it(
    action: str, result: dict[str, Any], denials: list[str]
) -> None:
    assert list(answer(failed(asked(), action, **result), failures=1).denials) == denials


def test_each_item_of_a_loop_that_failed_is_a_denial() -> None:
    """Items of the task before it, which something rescued, are not."""
    reported = asked()
    for texts in (["rescued"], ["first", "third"]):
        for text in texts:
            result = {"msg": text, "evaluated_to": False}
            reported.event("runner_item_on_failed", task_action=ASSERT, res=result)
        reported.event(
            "runner_item_on_ok", task_action=ASSERT, res={"msg": "All assertions passed"}
        )
        failed(reported, ASSERT, msg="One or more items failed", results=[{}, {}])
    assert answer(reported, failures=1, rescued=1).denials == ("first", "third")


def test_failure_that_was_rescued_is_no_denial() -> None:
    reported = failed(asked(), FAIL, msg="no")
    assert answer(reported, ok=1, rescued=1).denials == ()


def test_debug_messages_are_warnings_in_order() -> None:
    reported = asked()
    for name, msg in (
        ("runner_on_ok", "first s3cr3t-passw0rd"),
        ("runner_on_ok", ["second", "third"]),
        ("runner_item_on_ok", 4),
        ("runner_on_ok", {"no": "text"}),
    ):
        reported.event(name, task_action="debug", res={"msg": msg})
    reported.event("runner_on_ok", task_action="ansible.builtin.command", res={"msg": "other"})
    assert answer(reported, ok=5).warnings == ("first ********", "second", "third", "4")


def test_fact_that_was_set_last_is_the_patch() -> None:
    reported = asked()
    for size in (1, 2):
        facts = {"admission_patch": {"spec": {"size": size, "to": {"__ansible_unsafe": "{{ x }}"}}}}
        reported.event("runner_on_ok", task_action="set_fact", res={"ansible_facts": facts})
    assert answer(reported, ok=2).patch == {"spec": {"size": 2, "to": "{{ x }}"}}


@pytest.mark.parametrize(
    ("result", "why"), [({"censored": "x"}, "has `no_log`"), ({}, "is too large")]
)
def test_patch_that_cannot_be_read_is_reported(result: dict[str, Any], why: str) -> None:
    reported = asked().event("runner_on_ok", task_action="set_fact", res=result)
    assert why in answer(reported, ok=1).unread


def test_run_for_a_cr_has_no_answer() -> None:
    assert failed(Reported(), FAIL, msg="no").stats(failures=1).result(2).answer is None
