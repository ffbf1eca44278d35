"""Dependents are recognised in what passes, in whatever pieces, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Resource
from rolecall.proxy import dependent_finder
from rolecall.proxy.dependent_finder import DependentFinder
from rolecall.proxy.owners import Tie
from rolecall.proxy.run_credentials import RunCredential, RunCredentials
from tests.unit.proxy.crs import APP, UID, owner, watch
from tests.unit.proxy.test_protobuf import METADATA, envelope, field
from tests.unit.proxy.upstream import Reported

VERBS = frozenset({"get", "list", "watch"})
SECRET = Resource(Gvk("", "v1", "Secret"), "secrets", namespaced=True, verbs=VERBS)
NODE = Resource(Gvk("", "v1", "Node"), "nodes", namespaced=False, verbs=VERBS)
ANNOTATIONS = {
    "operator-sdk/primary-resource": "prod/shop",
    "operator-sdk/primary-resource-type": "App.demo.example.com",
}


def credential(**options: Any) -> RunCredential:
    return RunCredentials().issue("run", owner(), watch(**options))


def item(uid: str = UID, **annotations: str) -> Json:
    stranger = {**owner().reference(), "uid": "stranger"}
    return {
        "metadata": {
            "name": "made",
            "annotations": annotations,
            "ownerReferences": [stranger, {**owner().reference(), "uid": uid}],
        }
    }


def reported(
    text: str, size: int, resource: Resource = SECRET, namespace: str = "prod"
) -> list[Any]:
    """What was reported after an answer that came in pieces of this size."""
    sink = Reported()
    search = DependentFinder(sink).search_for(credential(), resource, namespace)
    assert search is not None
    data = text.encode()
    for start in range(0, len(data), size):
        search(data[start : start + size])
    return sink.dependents


@pytest.mark.parametrize("size", [1, 7, 100, 1_000_000])
@pytest.mark.parametrize("indent", [None, 2])
def test_owned_object_is_seen_in_any_pieces(size: int, indent: int | None) -> None:
    text = json.dumps({"items": [item("x"), item()] * 2}, indent=indent)
    assert reported(text, size) == [("Secret", False, "prod")]


def test_owned_object_is_seen_at_the_end_of_a_long_list() -> None:
    text = json.dumps({"items": [item("x")] * 5000 + [item()]})
    assert reported(text, 65536) == [("Secret", False, "prod")]


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"uid": UID}},
        {"involvedObject": {"uid": UID}},
        {"spec": json.dumps({"ownerReferences": [{"uid": UID}]})},
        {"metadata": {"ownerReferences": [{"uid": "x"}], "uid": UID}},
        {"metadata": {"ownerReferences": [{"uid": "x" + UID}]}},
        {"metadata": {"annotations": ANNOTATIONS}},  # in the owner's own namespace
    ],
)
def test_the_uid_elsewhere_means_nothing(body: Json) -> None:
    assert reported(json.dumps(body), 50) == []


def test_annotated_object_is_seen_in_another_namespace() -> None:
    text = json.dumps(item("x", **ANNOTATIONS))
    assert reported(text, 10, namespace="other") == [("Secret", True, "other")]
    other_kind = {**ANNOTATIONS, "operator-sdk/primary-resource-type": "App"}
    assert reported(json.dumps(item("x", **other_kind)), 10, namespace="other") == []


def test_list_over_all_namespaces_shows_both_ties() -> None:
    text = json.dumps({"items": [item(), item("x", **ANNOTATIONS)]})
    assert sorted(reported(text, 99, namespace="")) == [("Secret", False, ""), ("Secret", True, "")]


def test_reported_dependent_is_not_searched_again() -> None:
    dependents = DependentFinder(Reported())
    search = dependents.search_for(credential(), SECRET, "prod")
    assert search is not None
    search(json.dumps(item()).encode())
    assert dependents.search_for(credential(), SECRET, "prod") is None
    assert dependents.search_for(credential(), SECRET, "other") is not None


@pytest.mark.parametrize(
    "options",
    [{"blacklist": frozenset({SECRET.gvk})}, {"watch_dependent_resources": False}],
    ids=["blacklisted", "not wanted"],
)
def test_kinds_that_are_not_followed_are_not_looked_for(options: Json) -> None:
    assert DependentFinder(Reported()).search_for(credential(**options), SECRET, "prod") is None


def test_cluster_scoped_kinds_are_looked_for_where_the_watch_wants_them() -> None:
    assert DependentFinder(Reported()).search_for(credential(), NODE, "") is None
    wanted = credential(watch_cluster_scoped_resources=True)
    assert DependentFinder(Reported()).search_for(wanted, NODE, "") is not None
    assert wanted.watch.gvk == APP


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b'{"metadata":{"uid":"u","resourceVersion":"7"}}', [("u", "7")]),
        (b'{"kind":"Status","metadata":{}}', []),
        (b'{"metadata":{"uid":7,"resourceVersion":{}}}', []),
        (b"not JSON", []),
    ],
)
def test_own_write_is_reported_where_the_answer_is_an_object(answer: bytes, expected: Any) -> None:
    sink = Reported()
    DependentFinder(sink).note_write("application/json", answer)
    assert sink.own_writes == expected


@pytest.mark.parametrize("group", ["", "events.k8s.io"])
def test_events_are_never_followed_and_a_kind_of_that_name_elsewhere_is(group: str) -> None:
    event = Resource(Gvk(group, "v1", "Event"), "events", namespaced=True, verbs=VERBS)
    other = Resource(Gvk("x.io", "v1", "Event"), "events", namespaced=True, verbs=VERBS)
    assert DependentFinder(Reported()).search_for(credential(), event, "prod") is None
    assert DependentFinder(Reported()).search_for(credential(), other, "prod") is not None


def test_created_kind_is_reported_each_time_and_only_to_followers() -> None:
    sink = Reported()
    finder = DependentFinder(sink)
    for _ in range(2):
        finder.note_created(credential(), SECRET, Tie.REFERENCE, "prod")
    finder.note_created(credential(), NODE, Tie.ANNOTATIONS, "")
    finder.note_created(credential(), NODE, Tie.REFERENCE, "")
    assert sink.dependents == [("Secret", False, "prod")] * 2 + [("Node", False, "")]


def test_reports_are_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dependent_finder, "_REMEMBERED", 2)
    finder = DependentFinder(Reported())
    known = []
    for namespace in ("a", "b", "c"):
        finder.note_created(credential(), SECRET, Tie.ANNOTATIONS, namespace)
        known.append([finder.search_for(credential(), SECRET, each) is None for each in "abc"])
    assert known == [[True, False, False], [True, True, False], [False, False, True]]


def test_answer_in_protobuf_or_of_another_type_is_read_as_what_it_is() -> None:
    sink = Reported()
    finder = DependentFinder(sink)
    data = envelope(field(1, METADATA))
    assert finder.note_write("text/plain", b'{"metadata":{"uid":"u","resourceVersion":"7"}}') == {}
    assert finder.note_write("application/json", data) == {}
    assert sink.own_writes == []
    assert finder.note_write("application/vnd.kubernetes.protobuf", data)["namespace"] == "prod"
    assert sink.own_writes == [("uid-0", "42")]


@pytest.mark.parametrize("metadata", ['{"uid":"","resourceVersion":"7"}', '{"uid":"u"}'])
def test_object_without_uid_or_version_is_no_write_of_ours(metadata: str) -> None:
    sink = Reported()
    DependentFinder(sink).note_write("application/json", f'{{"metadata":{metadata}}}'.encode())
    assert sink.own_writes == []
