"""`k8s_event` against the real API server."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.apiserver.collection.modules import Modules


class Events:
    """Those of one namespace, and the module to post them with."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace

    def post(self, **arguments: Any) -> Json:
        """Run the module."""
        what = {"name": "x", "namespace": self._namespace, "message": "m", "reason": "Test"}
        return Modules(self._cluster.kubeconfig).run("k8s_event", **{**what, **arguments})

    @property
    def all(self) -> list[Json]:
        """As they are now."""
        path = f"/api/v1/namespaces/{self._namespace}/events"
        return list(self._cluster.api.get(path)["items"])

    @property
    def subject(self) -> Json:
        """An object to speak of, as `involvedObject` names it."""
        path = f"/api/v1/namespaces/{self._namespace}/configmaps"
        self._cluster.api.create(path, {"metadata": {"name": "about"}})
        names = {"apiVersion": "v1", "kind": "ConfigMap", "name": "about"}
        return {**names, "namespace": self._namespace}


@pytest.fixture
def events(cluster: Cluster, namespace: str) -> Events:
    return Events(cluster, namespace)


def test_same_reason_counts_and_keeps_the_first_time(events: Events) -> None:
    assert events.post(type="Warning", reportingComponent="example.com/x")["changed"] is True
    (first,) = events.all
    events.post(type="Warning")
    (second,) = events.all
    assert (first["count"], second["count"]) == (1, 2)
    assert second["firstTimestamp"] == first["firstTimestamp"]
    assert (second["type"], second["reportingComponent"]) == ("Warning", "example.com/x")


@pytest.mark.nightly
def test_another_reason_counts_anew(events: Events) -> None:
    events.post()
    events.post()
    events.post(reason="Other")
    (found,) = events.all
    assert (found["reason"], found["count"]) == ("Other", 1)


def test_uid_of_the_subject_is_looked_up(events: Events) -> None:
    subject = events.subject
    events.post(involvedObject=subject)
    (found,) = events.all
    assert found["involvedObject"]["uid"]
    assert found["involvedObject"]["name"] == subject["name"]


def test_stamped_events_have_legal_names_and_are_whole(events: Events) -> None:
    for _ in range(2):
        assert events.post(appendTimestamp=True, involvedObject=events.subject)["changed"] is True
    found = events.all
    assert len({event["metadata"]["name"] for event in found}) == 2
    assert all(event["count"] == 1 and event["involvedObject"]["uid"] for event in found)


@pytest.mark.nightly
def test_absent_deletes(events: Events) -> None:
    events.post()
    assert events.post(state="absent")["changed"] is True
    assert events.all == []
    assert events.post(state="absent")["changed"] is False


@pytest.mark.nightly
@pytest.mark.parametrize("merge_type", [["merge"], ["json", "merge"], ["strategic-merge"]])
def test_every_merge_type_is_taken(events: Events, merge_type: list[str]) -> None:
    events.post()
    assert events.post(message="new", merge_type=merge_type)["changed"] is True
    assert events.all[0]["message"] == "new"


def test_check_mode_posts_nothing(events: Events) -> None:
    assert events.post(check=True)["changed"] is True
    assert events.all == []


def test_refusal_is_reported(events: Events) -> None:
    said = events.post(namespace="is-not-there")
    assert said["failed"] is True
    assert said["msg"].startswith("Unable to create event: ")
