"""A record folded by object: what the run knew of each at its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rolecall.record import ObjectsOfRun, RunRecord, objects_of
from tests.fixtures.requests import recorded

_REQUEST = recorded(group="apps", resource="deployments", name="web")


def fold(*requests: dict[str, Any], incomplete: str = "") -> ObjectsOfRun:
    numbered = [replace(_REQUEST, number=number, **each) for number, each in enumerate(requests)]
    began = datetime(2026, 1, 1, tzinfo=UTC)
    return objects_of(RunRecord("1", began, 0.0, (), tuple(numbered), incomplete=incomplete))


def states(objects: ObjectsOfRun) -> dict[str, str]:
    return {
        read.place.name or f"?{read.place.label_selector}": read.state for read in objects.reads
    }


def test_object_has_the_version_of_whatever_came_last() -> None:
    read_then_written = fold(
        {"object_version": "1"}, {"verb": "patch", "object_version": "2", "is_owned": True}
    )
    assert states(read_then_written) == {"web": "2"}
    assert read_then_written.has_changed
    assert [each.name for each in read_then_written.owned] == ["web"]


def test_write_that_changed_nothing_is_no_change() -> None:
    objects = fold({"object_version": "1"}, {"verb": "patch", "object_version": "1"})
    assert not objects.has_changed
    assert [each.place.name for each in objects.written] == ["web"]


def test_dry_run_is_no_write() -> None:
    objects = fold({"verb": "patch", "object_version": "9", "query": "dryRun=All"})
    assert not objects.written
    assert not objects.has_changed


def test_missing_object_is_an_answer_too() -> None:
    assert states(fold({"code": 404})) == {"web": ""}
    assert states(fold({"code": 403})) == {}


def test_deleted_object_is_gone_until_it_is_written_again() -> None:
    gone = fold({"object_version": "1"}, {"verb": "delete"})
    assert (states(gone), len(gone.deleted)) == ({"web": ""}, 1)
    again = fold({"verb": "delete"}, {"verb": "create", "object_version": "3"})
    assert not again.deleted


def test_list_that_a_later_write_made_old_is_unknown() -> None:
    listed = {"verb": "list", "name": "", "items_digest": "d", "query": "labelSelector=a%3Db"}
    assert states(fold(listed)) == {"?a=b": "d"}
    assert fold(listed).unknown == ""
    written = {"verb": "create", "object_version": "2"}
    assert "listed deployments and changed one" in fold(listed, written).unknown
    assert fold(written, listed).unknown == ""
    other = {**written, "resource": "pods", "group": ""}
    assert fold(listed, other).unknown == ""


def test_what_was_not_read_or_not_answered_is_unknown() -> None:
    assert "it is a stream" in fold({"verb": "watch", "unread": "it is a stream"}).unknown
    assert "was not answered" in fold({"verb": "patch", "code": 0}).unknown
    assert "was not answered" in fold({"verb": "patch", "code": 504}).unknown
    assert fold({}, incomplete="too many").unknown == "too many"


def test_subresource_counts_as_its_object() -> None:
    objects = fold(
        {"object_version": "1"}, {"verb": "patch", "subresource": "status", "object_version": "2"}
    )
    assert states(objects) == {"web": "2"}
