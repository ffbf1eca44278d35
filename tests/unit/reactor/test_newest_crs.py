"""The objects of edited CRs, kept until their turns begin: never an old one, never many."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.kube import WatchEvent
from rolecall.reactor.known_crs import KnownCrs
from rolecall.reactor.newest_crs import NewestCrs
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.ports import ListAgain
from rolecall.watches import ExtensionKeys
from rolecall.workqueue import Key
from tests.unit.reactor.objects import APP, Keys, Roll, metadata, watch

KEY = Key(APP, "shop", "a")


class OptionalRuns(ExtensionKeys):
    has_optional_runs = True


def event(kind: str = "MODIFIED", **fields: Any) -> WatchEvent:
    document = {"kind": "App", "metadata": metadata(**fields), "spec": {"size": 1}}
    return WatchEvent(kind, document, json.dumps({"type": kind, "object": document}).encode())


class Stream:
    """One watch that has listed its CRs."""

    def __init__(self, *listed: Json, **fields: Any) -> None:
        self.newest = NewestCrs()
        self.known = KnownCrs(
            watch(**fields),
            Keys(),
            Roll(),
            OwnWrites(),
            self.newest,
            lambda _: None,
        )
        assert self.known.wants_metadata_only
        self.known.on_list_begins()
        for each in listed:
            self.known.on_listed({"metadata": each})
        self.known.on_list_complete()

    def reports(self, *events: WatchEvent) -> Json | None:
        for each in events:
            self.known.on_event(each)
        return self.newest.take(KEY)


@pytest.fixture
def stream() -> Stream:
    return Stream(metadata(generation=1))


def test_edit_brings_its_object_once(stream: Stream) -> None:
    edit = event(generation=2, resourceVersion="2")
    assert stream.reports(edit) == edit.object
    assert stream.reports() is None


def test_object_that_changed_while_its_key_waits_is_the_newer_one(stream: Stream) -> None:
    edit = event(generation=2, resourceVersion="2")
    label = event(generation=2, resourceVersion="3", labels={"a": "b"})
    assert stream.reports(edit, label) == label.object


def test_event_that_enqueues_no_cr_keeps_nothing(stream: Stream) -> None:
    assert stream.reports(event(generation=1, resourceVersion="2")) is None


def test_deleted_object_is_not_kept_and_its_successor_is(stream: Stream) -> None:
    edit, gone = event(generation=2, resourceVersion="2"), event("DELETED", generation=2)
    assert stream.reports(edit, gone) is None
    other = event("ADDED", uid="other", generation=1, resourceVersion="9")
    assert stream.reports(edit, gone, other) == other.object


def test_object_that_went_unseen_is_not_kept(stream: Stream) -> None:
    stream.known.on_event(event(generation=2, resourceVersion="2"))
    stream.known.on_list_begins()
    stream.known.on_list_complete()
    assert stream.reports() is None


def test_object_that_a_later_list_shows_changed_is_not_kept_as_it_was(stream: Stream) -> None:
    stream.known.on_event(event(generation=2, resourceVersion="2"))
    stream.known.on_list_begins()
    stream.known.on_listed({"metadata": metadata(generation=2, resourceVersion="3")})
    stream.known.on_list_complete()
    assert stream.reports() is None


def test_lists_are_of_metadata_and_events_of_whole_objects(stream: Stream) -> None:
    assert not stream.known.wants_metadata_only
    stream.known.on_list_begins()
    assert stream.known.wants_metadata_only


def test_kind_with_large_objects_is_followed_by_metadata_from_then_on(stream: Stream) -> None:
    large = event(generation=2, annotations={"x": "y" * 100_000})
    with pytest.raises(ListAgain):
        stream.reports(large)
    assert stream.reports() is None
    stream.known.on_list_complete()
    assert stream.known.wants_metadata_only
    assert stream.reports(event(generation=3)) is None


@pytest.mark.parametrize(
    "stream", [Stream(metadata()), Stream(manage_status=False)], ids=["no generation", "no status"]
)
def test_kinds_whose_turns_begin_with_no_checked_write_are_followed_by_metadata(
    stream: Stream,
) -> None:
    assert stream.known.wants_metadata_only
    assert stream.reports(event("ADDED", name="a", generation=1)) is None


def test_burst_of_edits_keeps_no_more_than_has_room_and_first_come_stay() -> None:
    newest = NewestCrs(most_bytes=1000)
    line = event(generation=2).line
    keys = [Key(APP, "shop", str(number)) for number in range(20)]
    for key in keys:
        newest.keep(key, line)
    assert len(newest) == 1000 // len(line)
    assert newest.take(keys[0]) is not None
    newest.keep(keys[-1], line)
    assert newest.take(keys[-1]) is not None


class TestFirstListOfKindsThatSkip:
    """Turns of the start that may end without a run need not read their CRs one by one."""

    @staticmethod
    def started(*listed: Json, **fields: Any) -> Stream:
        stream = Stream.__new__(Stream)
        stream.newest = NewestCrs()
        entry = watch(of_extensions=(OptionalRuns(),), **fields)
        stream.known = KnownCrs(entry, Keys(), Roll(), OwnWrites(), stream.newest, lambda _: None)
        assert not stream.known.wants_metadata_only
        stream.known.on_list_begins()
        for each in listed:
            stream.known.on_listed(each)
        return stream

    def test_turn_begins_with_what_the_list_brought(self) -> None:
        managed = {"managedFields": [{"manager": "kubectl"}]}
        listed = {"metadata": metadata(generation=1), "spec": {"size": 1}}
        stream = self.started({**listed, "metadata": {**listed["metadata"], **managed}})
        assert stream.reports() == {"apiVersion": APP.api_version, "kind": "App", **listed}
        assert stream.reports() is None

    def test_later_lists_are_of_metadata(self) -> None:
        stream = self.started({"metadata": metadata(generation=1)})
        stream.known.on_list_complete()
        stream.known.on_list_begins()
        assert stream.known.wants_metadata_only

    def test_change_before_the_turn_is_what_the_turn_sees(self) -> None:
        stream = self.started({"metadata": metadata(generation=1), "spec": {"size": 1}})
        stream.known.on_list_complete()
        edit = event(generation=2, resourceVersion="2")
        assert stream.reports(edit) == edit.object

    def test_status_written_before_the_turn_is_what_the_turn_sees(self) -> None:
        stream = self.started({"metadata": metadata(generation=1), "spec": {"size": 1}})
        stream.known.on_list_complete()
        written = event(generation=1, resourceVersion="2")
        assert stream.reports(written) == written.object

    def test_deleted_before_the_turn_is_read(self) -> None:
        stream = self.started({"metadata": metadata(generation=1)})
        stream.known.on_list_complete()
        assert stream.reports(event("DELETED", generation=1)) is None

    def test_large_object_makes_the_list_one_of_metadata(self) -> None:
        large = {"metadata": metadata(generation=1), "spec": {"text": "x" * 70_000}}
        stream = self.started()
        with pytest.raises(ListAgain):
            stream.known.on_listed(large)
        assert stream.known.wants_metadata_only
        assert stream.reports() is None
        stream.known.on_list_begins()
        stream.known.on_listed({"metadata": metadata(generation=1)})
        assert stream.reports() is None

    def test_without_a_status_of_ours_lists_are_of_metadata(self) -> None:
        stream = Stream(
            metadata(generation=1), of_extensions=(OptionalRuns(),), manage_status=False
        )
        assert stream.reports() is None
