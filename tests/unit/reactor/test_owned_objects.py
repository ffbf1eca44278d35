"""What of a dependent's life brings its owners: contract 5.5 with its fixes."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Resource, WatchEvent
from rolecall.reactor.asked_objects import AskedObjects
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.owned_objects import OwnedObjects
from rolecall.reactor.owner_keys import Interest
from rolecall.reactor.ports import ListAgain
from rolecall.workqueue import Key, Urgency
from tests.unit.reactor.objects import APP, Keys, metadata

CONFIG_MAPS = Resource(Gvk("", "v1", "ConfigMap"), "configmaps", True)
DEPLOYMENTS = Resource(
    Gvk("apps", "v1", "Deployment"), "deployments", True, subresources=frozenset({"status"})
)
CLAIMS = Resource(
    Gvk("", "v1", "PersistentVolumeClaim"),
    "persistentvolumeclaims",
    True,
    subresources=frozenset({"status"}),
)


def owned(name: str = "d", owners: tuple[str, ...] = ("a",), **fields: Any) -> dict[str, Any]:
    references = [
        {"apiVersion": "demo.example.com/v1", "kind": "App", "name": owner, "uid": "u"}
        for owner in owners
    ]
    inside: tuple[str, ...] = ("data", "spec", "status")
    rest = {key: fields.pop(key) for key in inside if key in fields}
    return {"metadata": metadata(name, ownerReferences=references, **fields), **rest}


class Stream:
    """One stream, fed by hand."""

    def __init__(self, resource: Resource) -> None:
        self.keys = Keys()
        self.own_writes = OwnWrites(lambda then: then())
        self.asked = AskedObjects()
        self.objects = OwnedObjects(resource, "", self.keys, self.own_writes, self.asked)
        self.objects.add_interest(Interest(APP, owner_is_namespaced=True, by_annotation=False))

    def says(self, kind: str, document: dict[str, Any]) -> list[str]:
        """The names of the owners that one event brings."""
        self.keys.added.clear()
        self.objects.on_event(WatchEvent(kind, document))
        return self.keys.names

    def lists(self, *documents: dict[str, Any]) -> list[str]:
        self.keys.added.clear()
        self.objects.on_list_begins()
        for document in documents:
            self.objects.on_listed(document)
        self.objects.on_list_complete()
        return self.keys.names


@pytest.fixture
def stream() -> Stream:
    """ConfigMaps, of which one is owned by `a`."""
    stream = Stream(CONFIG_MAPS)
    assert stream.lists(owned(data={"k": "1"})) == []
    return stream


def test_create_never_brings_anybody(stream: Stream) -> None:
    assert stream.says("ADDED", owned("new")) == []


def test_delete_always_does_with_its_urgency(stream: Stream) -> None:
    assert stream.says("DELETED", owned(data={"k": "1"})) == ["a"]
    assert stream.keys.urgencies("a") == [Urgency.DEPENDENT]
    assert len(stream.objects) == 0
    assert stream.says("DELETED", owned("never-seen")) == ["a"]


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"k": "2"}},
        {"data": {"k": "1"}, "labels": {"x": "y"}},
        {"data": {"k": "1"}, "annotations": {"x": "y"}},
        {"data": {"k": "1"}, "finalizers": ["f"]},
        {"data": {"k": "1"}, "deletionTimestamp": "2026-11-21T09:00:00Z"},
    ],
)
def test_update_of_what_counts_does(stream: Stream, change: dict[str, Any]) -> None:
    assert stream.says("MODIFIED", owned(resourceVersion="2", **change)) == ["a"]
    assert stream.says("MODIFIED", owned(resourceVersion="3", **change)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"resourceVersion": "2"},
        {"status": {"phase": "Bound"}},
        {"managedFields": [{"manager": "kube-controller-manager", "subresource": "status"}]},
        {"generation": 7},  # where the content is looked at, it says nothing new
    ],
)
def test_update_of_bookkeeping_and_status_does_not(stream: Stream, change: dict[str, Any]) -> None:
    assert stream.says("MODIFIED", owned(data={"k": "1"}, **change)) == []


def test_old_and_new_owners_are_brought(stream: Stream) -> None:
    assert stream.says("MODIFIED", owned(owners=("b", "c"), data={"k": "1"})) == ["a", "b", "c"]
    assert stream.says("MODIFIED", owned(owners=(), data={"k": "1"})) == ["b", "c"]
    assert len(stream.objects) == 0


def test_object_that_gains_its_first_owner_brings_it(stream: Stream) -> None:
    stream.says("ADDED", owned("free", owners=()))
    assert len(stream.objects) == 1
    assert stream.says("MODIFIED", owned("free", owners=("b",))) == ["b"]


def test_what_happened_in_a_gap_shows_in_the_next_list(stream: Stream) -> None:
    stream.says("ADDED", owned("second", data={}))
    stream.says("ADDED", owned("third", owners=("c",), data={}))
    same, changed = owned("third", owners=("c",), data={}), owned("second", data={"new": "1"})
    assert stream.lists(same, changed, owned("created-in-the-gap")) == ["a", "a"]
    assert stream.lists(same, changed, owned("created-in-the-gap")) == []


def test_generation_stands_for_the_content_where_there_is_one() -> None:
    stream = Stream(DEPLOYMENTS)
    assert not stream.objects.wants_metadata_only  # not known yet
    stream.lists(owned(generation=1, spec={"replicas": 1}))
    assert stream.objects.wants_metadata_only
    assert stream.says("MODIFIED", owned(generation=1, resourceVersion="2")) == []
    assert stream.says("MODIFIED", owned(generation=2, resourceVersion="3")) == ["a"]


def test_kind_that_turns_out_to_have_no_generation_is_asked_for_whole() -> None:
    stream = Stream(CLAIMS)
    stream.lists(owned("free", owners=()), owned(spec={"size": 1}))
    assert not stream.objects.wants_metadata_only
    assert stream.says("MODIFIED", owned(spec={"size": 1}, status={"phase": "Bound"})) == []
    assert stream.says("MODIFIED", owned(spec={"size": 2})) == ["a"]


def test_object_older_than_its_kinds_generations_is_listed_again_and_not_missed() -> None:
    stream = Stream(DEPLOYMENTS)
    stream.lists(owned(generation=1, spec={"replicas": 1}))
    metadata_only = {**owned("old"), "kind": "PartialObjectMetadata"}
    with pytest.raises(ListAgain):
        stream.says("ADDED", metadata_only)
    assert not stream.objects.wants_metadata_only
    same = owned(generation=1, spec={"replicas": 1})
    assert stream.lists(same, owned("old")) == []
    assert stream.lists(same, owned("old", resourceVersion="2", spec={"replicas": 2})) == ["a"]


def test_what_a_play_wrote_is_no_news_but_what_follows_is(stream: Stream) -> None:
    stream.own_writes.note("uid-d", "2")
    assert stream.says("MODIFIED", owned(data={"k": "2"}, resourceVersion="2")) == []
    assert stream.says("MODIFIED", owned(data={"k": "3"}, resourceVersion="3")) == ["a"]
    stream.own_writes.note("uid-d", "4")
    assert stream.says("DELETED", owned(data={"k": "3"}, resourceVersion="4")) == ["a"]


def test_own_write_after_a_gap_hides_no_foreign_edit_in_it(stream: Stream) -> None:
    # In the gap: a person's edit makes version 2, a play's write makes version 3 of it.
    stream.own_writes.note("uid-d", "3")
    assert stream.lists(owned(data={"k": "1", "by": "play"}, resourceVersion="3")) == ["a"]
    assert stream.lists(owned(data={"k": "1", "by": "play"}, resourceVersion="3")) == []


def test_own_write_after_a_gap_that_changed_nothing_else_is_no_news(stream: Stream) -> None:
    stream.own_writes.note("uid-d", "3")
    assert stream.lists(owned(data={"k": "1"}, resourceVersion="3")) == []


def test_object_without_a_uid_is_reported_by_its_name() -> None:
    stream = Stream(CONFIG_MAPS)
    first, second = owned("a1", data={"k": "1"}), owned("a2", data={"k": "1"})
    for document in (first, second):
        del document["metadata"]["uid"]
    assert stream.lists(first, second) == []
    assert stream.says("MODIFIED", {**second, "data": {"k": "2"}}) == ["a"]
    assert stream.says("DELETED", first) == ["a"]


def test_memory_of_own_writes_is_bounded() -> None:
    writes = OwnWrites(lambda then: then())
    for number in range(5000):
        writes.note("uid", str(number))
    assert not writes.made("uid", "0")
    assert writes.made("uid", "4999")


def test_interest_counts_once() -> None:
    stream = Stream(CONFIG_MAPS)
    interest = Interest(APP, owner_is_namespaced=True, by_annotation=True)
    assert stream.objects.add_interest(interest)
    assert not stream.objects.add_interest(interest)


def test_drift_says_which_object_changed_or_went(stream: Stream) -> None:
    stream.says("MODIFIED", owned("web", data={"k": "2"}))
    stream.says("MODIFIED", owned("web", data={"k": "3"}))
    stream.says("DELETED", owned("web", data={"k": "3"}))
    stream.lists()  # what is not there any more went without a word

    assert stream.keys.causes == [
        "drift of ConfigMap web",
        "drift of ConfigMap web",
        "drift of ConfigMap web, which is gone",
        "drift of ConfigMap, which is gone",
    ]


CLUSTER_APP = Gvk("demo.example.com", "v1", "ClusterApp")


def claiming(name: str, namespace: str, **fields: Any) -> dict[str, Any]:
    """An object that names a CR of `shop`, and one of the cluster, as its owners."""
    annotations = {
        "operator-sdk/primary-resource": "shop/a",
        "operator-sdk/primary-resource-type": "App.demo.example.com",
    }
    reference = {
        "apiVersion": "demo.example.com/v1",
        "kind": "ClusterApp",
        "name": "all",
        "uid": "u",
    }
    inside = {"annotations": annotations, "ownerReferences": [reference]}
    return {"metadata": metadata(name, namespace=namespace, **inside, **fields), "data": {}}


@pytest.fixture
def claimed(stream: Stream) -> Stream:
    stream.objects.add_interest(Interest(APP, owner_is_namespaced=True, by_annotation=True))
    other = Interest(CLUSTER_APP, owner_is_namespaced=False, by_annotation=False)
    stream.objects.add_interest(other)
    return stream


def lives_of(claimed: Stream, name: str, namespace: str) -> set[str]:
    """Which owners anything brings that can become of an object."""
    brought = set()
    for kind, version in (("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "3")):
        document = claiming(name, namespace, resourceVersion=version)
        document["data"] = {"version": version}
        brought |= set(claimed.says(kind, document))
    changed = {**claiming(name, namespace, resourceVersion="5"), "data": {"k": "5"}}
    claimed.lists(claiming(name, namespace, resourceVersion="4"))
    brought |= set(claimed.lists(changed))
    brought |= set(claimed.lists())
    return brought


def test_neighbour_who_names_a_cr_as_owner_starts_no_run_of_it(claimed: Stream) -> None:
    assert lives_of(claimed, "mine", "neighbour") == set()


def test_object_that_runs_of_the_cr_asked_for_is_believed(claimed: Stream) -> None:
    claimed.asked.note(Key(APP, "shop", "a"), "", "configmaps", "neighbour", "made")
    assert lives_of(claimed, "made", "neighbour") == {"a"}
    assert lives_of(claimed, "mine", "neighbour") == set()
    claimed.asked.note(Key(CLUSTER_APP, "", "all"), "", "configmaps", "neighbour", "made")
    assert lives_of(claimed, "made", "neighbour") == {"a", "all"}


def test_what_another_cr_asked_for_proves_nothing(claimed: Stream) -> None:
    for key in (Key(APP, "shop", "b"), Key(APP, "neighbour", "a")):
        claimed.asked.note(key, "", "configmaps", "neighbour", "mine")
    claimed.asked.note(Key(APP, "shop", "a"), "", "secrets", "neighbour", "mine")
    assert lives_of(claimed, "mine", "neighbour") == set()


def test_object_in_the_namespace_of_its_owner_needs_no_proof(claimed: Stream) -> None:
    assert lives_of(claimed, "by-hand", "shop") == {"a"}


def test_object_that_was_asked_for_late_is_missed_in_no_gap(claimed: Stream) -> None:
    """Listed before the first run after a restart, and deleted while the stream was down."""
    claimed.lists(claiming("made", "neighbour"))
    claimed.asked.note(Key(APP, "shop", "a"), "", "configmaps", "neighbour", "made")
    assert claimed.lists() == ["a"]
