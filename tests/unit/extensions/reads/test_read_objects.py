"""Which changes of what plays read bring which CRs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from rolecall.extensions.reads.read_objects import Change, ReadObjects, ReadPorts
from rolecall.extensions.reads.readers import MISSING, Readers, ReadsOfKey
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Resource, WatchEvent
from rolecall.reactor.ports import ListAgain
from rolecall.workqueue import Cause, Key, Urgency

SITE = Gvk("demo.example.com", "v1", "Site")
SECRETS = Resource(Gvk("", "v1", "Secret"), "secrets", namespaced=True)
SERVICES = Resource(
    Gvk("", "v1", "Service"), "services", namespaced=True, subresources=frozenset({"status"})
)
ONE, OTHER = Key(SITE, "a", "one"), Key(SITE, "a", "other")


@dataclass
class Brought:
    """A sink that remembers."""

    said: list[tuple[str, str]] = field(default_factory=list)

    def add(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        assert urgency is Urgency.DEPENDENT
        self.said.append((key.name, cause.text))


@dataclass
class World:
    sink: Brought = field(default_factory=Brought)
    readers: Readers = field(default_factory=Readers)
    own: set[tuple[Key, str]] = field(default_factory=set)
    resource: Resource = SECRETS

    def __post_init__(self) -> None:
        ports = ReadPorts(self.sink, self._is_own, call_later=lambda then: then())
        self.objects = ReadObjects(self.resource, "a", self.readers, ports, keeps_labels=True)

    def _is_own(self, key: Key, change: Change) -> bool:
        return (key, change.version) in self.own

    def relist(self, *items: Json) -> None:
        self.objects.on_list_begins()
        for item in items:
            self.objects.on_listed(item)
        self.objects.on_list_complete()

    def event(self, kind: str, item: Json) -> list[tuple[str, str]]:
        """What one event brings."""
        self.sink.said.clear()
        self.objects.on_event(WatchEvent(kind, item))
        return self.sink.said


def thing(name: str, version: str, labels: dict[str, str] | None = None, **fields: Any) -> Json:
    metadata = {"name": name, "namespace": "a", "uid": name, "resourceVersion": version}
    return {"metadata": metadata | {"labels": labels or {}} | fields}


def named(**versions: str) -> ReadsOfKey:
    return ReadsOfKey(versions, seen={("a", name): seen for name, seen in versions.items()})


def test_change_enqueues_readers_by_name() -> None:
    world = World()
    world.readers.put(ONE, named(word="1"))
    world.readers.put(OTHER, named(another="1"))
    world.relist(thing("word", "1"), thing("another", "1"))
    assert world.sink.said == []
    reported = world.event("MODIFIED", thing("word", "2"))
    assert reported == [("one", "change of Secret word that the role reads")]
    reported = world.event("DELETED", thing("another", "3"))
    assert reported == [("other", "deletion of Secret another that the role reads")]


def test_what_the_run_saw_or_made_itself_is_no_news_to_its_cr_alone() -> None:
    world = World()
    world.readers.put(ONE, named(word="2"))
    world.readers.put(OTHER, named(word="1"))
    world.relist(thing("word", "1"))
    world.sink.said.clear()
    assert [name for name, _ in world.event("MODIFIED", thing("word", "2"))] == ["other"]
    world.own.add((OTHER, "3"))  # by its run in flight
    assert [name for name, _ in world.event("MODIFIED", thing("word", "3"))] == ["one"]


def test_what_changed_before_the_stream_began_is_not_lost() -> None:
    world = World()
    world.readers.put(ONE, named(word="1", none=MISSING, gone="1", same="4"))
    world.relist(thing("word", "2"), thing("none", "3"), thing("same", "4"))
    assert sorted(cause for _, cause in world.sink.said) == [
        "change of Secret word that the role reads",
        "creation of Secret none that the role reads",
        "deletion of Secret gone that the role reads",
    ]


def test_new_reader_of_a_stream_that_runs_is_compared_once() -> None:
    world = World()
    world.relist(thing("word", "2"))
    world.readers.put(ONE, named(word="1"))
    world.objects.compare(ONE, {"word"})
    assert [name for name, _ in world.sink.said] == ["one"]


def test_list_brings_for_what_comes_leaves_and_changes_in_it() -> None:
    world = World()
    world.readers.put(ONE, ReadsOfKey(lists={"team=blue": ""}))
    world.relist(thing("x", "1", {"team": "blue"}), thing("y", "1", {"team": "green"}))
    assert world.event("MODIFIED", thing("y", "2", {"team": "green"})) == []
    where = "in a list that the role reads"
    came = world.event("ADDED", thing("z", "3", {"team": "blue"}))
    assert came == [("one", f"creation of Secret z {where}")]
    left = world.event("MODIFIED", thing("x", "4", {"team": "green"}))
    assert left == [("one", f"change of Secret x {where}")]
    assert world.event("MODIFIED", thing("x", "5", {"team": "green"})) == []


def test_generation_stands_for_the_content_where_there_is_one() -> None:
    world = World()
    world.readers.put(ONE, named(word="1"))
    world.relist(thing("word", "1", generation=1))
    assert world.event("MODIFIED", thing("word", "2", generation=1)) == []  # its status
    assert world.event("MODIFIED", thing("word", "3", generation=2)) != []
    annotated = thing("word", "4", generation=2, annotations={"a": "b"})
    assert world.event("MODIFIED", annotated) != []


def test_object_with_status_and_no_generation_is_asked_for_whole() -> None:
    world = World(resource=SERVICES)
    world.readers.put(ONE, named(word="1"))
    assert world.objects.wants_metadata_only
    with pytest.raises(ListAgain):
        world.objects.on_listed(thing("word", "1") | {"kind": "PartialObjectMetadata"})
    assert not world.objects.wants_metadata_only
    world.relist(thing("word", "1") | {"kind": "Service", "spec": {"a": 1}})
    status = thing("word", "2") | {"kind": "Service", "spec": {"a": 1}, "status": {"b": 2}}
    assert world.event("MODIFIED", status) == []
    assert world.event("MODIFIED", thing("word", "3") | {"kind": "Service", "spec": {}}) != []


def test_readers_forget_deleted_crs() -> None:
    world = World()
    world.readers.put(ONE, named(word="1"))
    world.readers.put(ONE, None)
    world.relist(thing("word", "1"))
    assert world.event("MODIFIED", thing("word", "2")) == []
    assert not world.readers
