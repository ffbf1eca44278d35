"""A failure over a missing right names the rule, with all verbs that the task needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.runner.cases import Reported, prepared_run, run_request


def test_missing_right_comes_before_what_else_is_known() -> None:
    asked: list[str] = []

    def missing_right(said: str, _needed: Sequence[str]) -> str:
        asked.append(said)
        return "add the rule"

    request = replace(run_request(), missing_right=missing_right)
    reported = Reported(prepared=prepared_run(request))
    failed = reported.failed(
        "apply", "it is forbidden", res={"msg": "it is forbidden", "stderr": "403"}
    )
    (failure,) = failed.stats(failures=1).result(2).failures
    assert failure.message == "it is forbidden"
    assert failure.detail.startswith("add the rule")
    assert "it is forbidden" in asked[0]


@pytest.mark.parametrize(
    ("action", "arguments", "verbs"),
    [
        ("kubernetes.core.k8s", {"state": "present"}, ["get", "create", "patch"]),
        ("kubernetes.core.k8s", {"state": "present", "force": True}, ["get", "create", "update"]),
        ("kubernetes.core.k8s", {"state": "absent"}, ["get", "delete"]),
        ("k8s", {}, ["get", "create", "patch"]),
        ("kubernetes.core.k8s_info", {}, ["get", "list"]),
        ("ansible.builtin.command", {}, []),
    ],
)
@pytest.mark.parametrize("in_loop", [False, True])
def test_missing_right_is_asked_for_with_all_verbs_of_the_module(
    action: str, arguments: dict[str, Any], verbs: list[str], in_loop: bool
) -> None:
    asked: list[Sequence[str]] = []

    def missing_right(_said: str, needed: Sequence[str]) -> str:
        asked.append(needed)
        return ""

    res: dict[str, Any] = {"msg": "forbidden", "invocation": {"module_args": arguments}}
    if in_loop:
        res = {"msg": "One or more items failed", "results": [{}, {**res, "failed": True}]}
    request = replace(run_request(), missing_right=missing_right)
    reported = Reported(prepared=prepared_run(request))
    reported.failed("apply", res=res, task_action=action).stats(failures=1).result(2)
    assert list(asked[0]) == verbs


def test_failure_report_names_the_verbs_of_the_task_that_it_reports() -> None:
    asked: list[Sequence[str]] = []

    def missing_right(_said: str, needed: Sequence[str]) -> str:
        asked.append(needed)
        return ""

    request = replace(run_request(), missing_right=missing_right)
    reported = Reported(prepared=prepared_run(request))
    reported.failed("apply", task_action="kubernetes.core.k8s")
    reported.failed("report", task_action="rolecall.operator.report_failure")
    reported.stats(failures=1, rescued=1).result(2)
    assert [list(verbs) for verbs in asked] == [["get", "create", "patch"]]
