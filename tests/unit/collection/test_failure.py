"""Why a task failed: the API server's words, and whether trying again can help."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.collection.plugins import part

failure = part("plugin_utils.failure")
TASK = {"name": "Apply | the Deployment", "action": "kubernetes.core.k8s"}


def status(code: int, message: str) -> str:
    reported = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return json.dumps({**reported, "message": message, "reason": "Any", "code": code})


def reported(result: dict[str, Any], **task: Any) -> Any:
    return failure.failure_of({**TASK, **task}, result)


QUOTA = (
    'pods "a" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2'
)
SECURITY = 'pods "a" is forbidden: violates PodSecurity "restricted:latest": hostPort'
WEBHOOK = 'admission webhook "images.example.com" denied the request: latest is not allowed'
POLICY = (
    "deployments.apps \"a\" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'all' denied"
    " request: at most 3"
)
LIMITS = 'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
RIGHT = 'pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "pods"'
ESCALATION = (
    'roles "a" is forbidden: user "x" is attempting to grant RBAC permissions not currently held'
)
ENDING = 'pods "a" is forbidden: unable to create it in namespace b because it is being terminated'


@pytest.mark.parametrize(
    ("code", "message", "reason"),
    [
        (422, 'Deployment "a" is invalid: spec.replicas: Invalid value: -1', "SpecRefused"),
        (400, 'Deployment in version "v1" cannot be handled: strict decoding', "SpecRefused"),
        (403, QUOTA, "QuotaExceeded"),
        (403, SECURITY, "PolicyRefused"),
        (403, WEBHOOK, "PolicyRefused"),
        (400, WEBHOOK, "PolicyRefused"),
        (422, POLICY, "PolicyRefused"),
        (403, LIMITS, "PolicyRefused"),
        (403, RIGHT, "RightMissing"),
        (403, ESCALATION, "RightMissing"),
        (403, ENDING, "Retrying"),
        (403, 'pods "a" is forbidden: error looking up service account b/c: not found', "Retrying"),
        (409, "the object has been modified", "Retrying"),
        (404, 'namespaces "a" not found', "Retrying"),
        (429, "too many requests", "Retrying"),
        (500, 'failed calling webhook "a": connection refused', "Retrying"),
    ],
)
def test_refusals_for_good_have_reasons_of_their_own(code: int, message: str, reason: str) -> None:
    shown = status(code, message)
    ways_to_say_it: list[dict[str, Any]] = [
        {"msg": f"Failed to create object: {shown.encode()!r}"},
        {"msg": f"Failed to patch object: {shown}"},
        {"msg": f"403\nReason: Any\nHTTP response body: {shown.encode()!r}\nOriginal traceback: x"},
        {"msg": "Failed to report", "error": {"status": code, "reason": "Any", "body": shown}},
        {"msg": "One or more items failed", "results": [{"failed": True, "msg": shown}]},
    ]
    for result in ways_to_say_it:
        found = reported(result)
        assert found.reason == reason, result
        assert " ".join(message.split()) in found.words
        assert found.message.startswith("Apply | the Deployment: ")
        assert ("refused until" in found.words) == (reason != "Retrying")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({}, "it failed, and does not say why"),
        ({"msg": None, "failed": True}, "it failed, and does not say why"),
        ({"rc": 3}, "exit status 3"),
        ({"msg": "non-zero return code", "rc": 1, "stderr": "a\nno space left\n"}, "no space left"),
        ({"msg": "The command exited with a non-zero return code.", "rc": 4}, "exit status 4"),
        (
            {"msg": "MODULE FAILURE\nSee stdout", "module_stderr": "T:\nKeyError: 'a'"},
            "KeyError: 'a'",
        ),
        ({"reason": "Could not find tasks/a.yml"}, "Could not find tasks/a.yml"),
        (
            {"results": [{"item": 1, "msg": "fine"}, {"item": "b", "failed": True, "msg": "bad"}]},
            "item `b`: bad",
        ),
        ({"results": ["?"], "msg": "One or more items failed"}, "One or more items failed"),
        ({"results": [{"failed": True, "item": {"k": 1}, "stderr": "so"}]}, "so"),
        ({"msg": "a\n  b"}, "a b"),
        ({"msg": "{{ lookup('pipe', 'x') }}"}, "{{ lookup('pipe', 'x') }}"),
        (
            {"msg": 'broken {"kind":"Status", "code": 422, "mess'},
            'broken {"kind":"Status", "code": 422, "mess',
        ),
        ({"msg": "b'\\xff' and b'unfinished"}, "b'\\xff' and b'unfinished"),
    ],
)
def test_every_result_is_reported_whatever_it_lacks(result: dict[str, Any], words: str) -> None:
    found = reported(result)
    assert (found.reason, found.words) == ("Retrying", words)


def test_long_and_hostile_text_is_cut() -> None:
    assert len(reported({"msg": "x" * 10**6}).words) <= failure.MOST_WORDS
    assert len(reported({"msg": "b'" + "\\\\" * 10**5 + status(422, "y" * 10**6)}).words) < 1000
    assert reported({"msg": '{"kind":"Status",' + "[" * 10**5}).reason == "Retrying"


def test_refusal_of_the_role_has_its_reason_and_its_words_alone() -> None:
    found = reported({"msg": "Service db was there before", "refusal": "NameTaken"})
    assert (found.reason, found.message) == ("NameTaken", "Service db was there before")


@pytest.mark.parametrize(
    ("task", "result"),
    [
        ({"no_log": True}, {"msg": "s3cret"}),
        ({}, {"msg": "s3cret", "_ansible_no_log": True}),
        ({}, {"results": [{"failed": True, "msg": "s3cret", "_ansible_no_log": True}]}),
        ({"no_log": True}, {"msg": status(422, "s3cret is invalid")}),
    ],
)
def test_words_of_a_hidden_task_stay_hidden(task: dict[str, Any], result: dict[str, Any]) -> None:
    assert "s3cret" not in reported(result, **task).message
