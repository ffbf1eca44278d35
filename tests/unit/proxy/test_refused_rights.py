"""A failed task names the right that it lacked: only its own, and only where it was refused one."""

from __future__ import annotations

import json

import pytest

from rolecall.proxy.refused_rights import RefusedRights

SENTENCE = (
    'configmaps is forbidden: User "system:serviceaccount:a:b" cannot create resource "configmaps"'
    ' in API group "" in the namespace "shop"'
)
WAY_OUT = "to a role in config/rbac, or let `rolecall rbac` write it"


def answer(sentence: str) -> bytes:
    return json.dumps({"kind": "Status", "code": 403, "message": sentence}).encode()


def refused(*sentences: str) -> RefusedRights:
    rights = RefusedRights()
    for sentence in sentences:
        rights.note(answer(sentence))
    return rights


@pytest.mark.parametrize(
    "words",
    [
        f"Failed to create object: {answer(SENTENCE)!r}",
        f"Error from server (Forbidden): {SENTENCE}",
        json.dumps({"msg": answer(SENTENCE).decode()}),
    ],
    ids=["kubernetes.core", "kubectl", "quoted twice"],
)
def test_refusal_is_reported_as_a_rule_to_paste(words: str) -> None:
    assert refused(SENTENCE).hint_for(words) == (
        "the operator may not create configmaps in namespace `shop`: add"
        f' `- {{apiGroups: [""], resources: [configmaps], verbs: [create]}}` {WAY_OUT}'
    )


@pytest.mark.parametrize(
    ("sentence", "lack", "rule"),
    [
        (
            'pods "x" is forbidden: User "u" cannot create resource "pods/exec" in API group ""'
            ' in the namespace "shop"',
            "create pods/exec in namespace `shop`",
            '{apiGroups: [""], resources: [pods/exec], verbs: [create]}',
        ),
        (
            'nodes is forbidden: User "u" cannot list resource "nodes" in API group "" at the'
            " cluster scope",
            "list nodes at the cluster scope",
            '{apiGroups: [""], resources: [nodes], verbs: [list]}',
        ),
        (
            'apps.shop.example.com "x" is forbidden: User "u" cannot patch resource "apps/status"'
            ' in API group "shop.example.com" in the namespace "shop"',
            "patch apps/status.shop.example.com in namespace `shop`",
            '{apiGroups: ["shop.example.com"], resources: [apps/status], verbs: [patch]}',
        ),
        (
            'forbidden: User "u" cannot get path "/metrics"',
            "get `/metrics`",
            '{nonResourceURLs: ["/metrics"], verbs: [get]}',
        ),
    ],
    ids=["subresource", "cluster", "group", "path"],
)
def test_every_shape_of_a_refusal_is_understood(sentence: str, lack: str, rule: str) -> None:
    reported = refused(sentence).hint_for(sentence)
    assert reported == f"the operator may not {lack}: add `- {rule}` {WAY_OUT}"


def test_rule_grants_all_verbs_that_the_task_needs() -> None:
    needed = ("get", "create", "patch")
    assert "verbs: [get, create, patch]}` to a role" in refused(SENTENCE).hint_for(SENTENCE, needed)
    assert (
        refused(SENTENCE)
        .hint_for(SENTENCE, needed)
        .startswith("the operator may not create configmaps in namespace `shop`: add")
    )


def test_verbs_of_a_task_say_nothing_of_another_refused_verb_or_a_subresource() -> None:
    needed = ("get", "create", "patch")
    other = SENTENCE.replace("cannot create", "cannot watch")
    assert "verbs: [watch]" in refused(other).hint_for(other, needed)
    sub = SENTENCE.replace('resource "configmaps"', 'resource "pods/exec"')
    assert "verbs: [create]" in refused(sub).hint_for(sub, needed)


def test_role_that_failed_over_something_else_gets_no_advice() -> None:
    assert refused(SENTENCE).hint_for("the database did not answer") == ""


def test_words_that_the_server_never_said_are_not_believed() -> None:
    assert refused().hint_for(SENTENCE) == ""
    other = SENTENCE.replace("configmaps", "secrets")
    assert refused(other).hint_for(SENTENCE) == ""


def test_quota_is_no_missing_right() -> None:
    sentence = 'pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1'
    assert refused(sentence).hint_for(sentence) == ""


def test_loop_over_refusals_keeps_the_last_ones_only() -> None:
    sentences = [SENTENCE.replace("shop", f"shop-{number}") for number in range(100)]
    rights = refused(*sentences)
    assert rights.hint_for(sentences[0]) == ""
    assert "`shop-99`" in rights.hint_for(sentences[99])


def test_refusal_that_came_again_is_the_newest() -> None:
    sentences = [SENTENCE.replace("shop", f"shop-{number}") for number in range(32)]
    kept = refused(*sentences, sentences[0], SENTENCE)
    assert "`shop-0`" in kept.hint_for(sentences[0])
    assert kept.hint_for(sentences[1]) == ""
    assert "`shop-2`" in kept.hint_for(sentences[2])


def test_first_refusal_that_the_task_repeats_is_reported() -> None:
    other = SENTENCE.replace("shop", "other")
    reported = refused(SENTENCE).hint_for(f"{other} and {SENTENCE}")
    assert "`shop`" in reported


def test_streamed_or_binary_answer_reports_nothing() -> None:
    rights = RefusedRights()
    rights.note(None)
    rights.note(SENTENCE)
    assert rights.hint_for(SENTENCE) == ""
    rights.note(b"\xff " + SENTENCE.encode())
    assert "`shop`" in rights.hint_for(SENTENCE)
