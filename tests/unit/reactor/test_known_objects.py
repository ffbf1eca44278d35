"""Which event of a watched kind brings its key: contract 3.2, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.reactor.known_objects import How, KnownObjects, sighting_of
from rolecall.watches import Requirement, Selector
from rolecall.workqueue import Urgency
from tests.unit.reactor.objects import metadata, watch


def hear(known: KnownObjects, how: How, *, first: bool = False, **fields: Any) -> Urgency | None:
    return known.hear(sighting_of(how, metadata(**fields)), is_first_list=first)


@pytest.fixture
def known() -> KnownObjects:
    """One object, of generation 1, heard of before."""
    known = KnownObjects(watch())
    hear(known, How.CREATED, generation=1)
    return known


def test_first_list_is_for_startup_and_what_comes_later_for_now() -> None:
    known = KnownObjects(watch())
    assert hear(known, How.LISTED, first=True, name="old", generation=1) is Urgency.STARTUP
    assert hear(known, How.CREATED, first=True, name="new", generation=1) is Urgency.EDIT
    assert hear(known, How.LISTED, name="missed", generation=1) is Urgency.EDIT


def test_object_that_waits_for_its_deletion_at_startup_is_urgent() -> None:
    known = KnownObjects(watch())
    dying = {"generation": 2, "deletionTimestamp": "2026-11-21T09:00:00Z"}
    assert hear(known, How.LISTED, first=True, **dying) is Urgency.EDIT


@pytest.mark.parametrize(
    "fields",
    [
        {"resourceVersion": "2"},  # status
        {"resourceVersion": "2", "labels": {"a": "b"}},
        {"resourceVersion": "2", "finalizers": ["demo.example.com/f"]},
        {"resourceVersion": "2", "annotations": {"a": "b"}},
        {},  # the same again, as after listing anew
    ],
)
def test_update_without_a_new_generation_brings_nothing(
    known: KnownObjects, fields: dict[str, Any]
) -> None:
    for how in (How.CHANGED, How.LISTED, How.CREATED):
        assert hear(known, how, generation=1, **fields) is None


def test_new_generation_brings_the_key_once(known: KnownObjects) -> None:
    assert hear(known, How.CHANGED, generation=2) is Urgency.EDIT
    assert hear(known, How.LISTED, generation=2) is None


def test_older_generation_heard_late_changes_nothing(known: KnownObjects) -> None:
    hear(known, How.CHANGED, generation=3)
    assert hear(known, How.CHANGED, generation=2) is None
    assert hear(known, How.CHANGED, generation=3) is None


def test_kind_without_generation_brings_every_update_but_not_the_same_twice() -> None:
    known = KnownObjects(watch())
    hear(known, How.CREATED)
    assert hear(known, How.CHANGED, resourceVersion="2") is Urgency.EDIT
    assert hear(known, How.LISTED, resourceVersion="2") is None
    assert hear(known, How.CHANGED, resourceVersion="3") is Urgency.EDIT


def test_annotations_count_only_where_the_watch_says_so() -> None:
    known = KnownObjects(watch(watch_annotations_changes=True))
    hear(known, How.CREATED, generation=1, annotations={"a": "1", "b": "2"})
    same = {"b": "2", "a": "1"}
    assert hear(known, How.CHANGED, generation=1, annotations=same) is None
    assert hear(known, How.CHANGED, generation=1, annotations={"a": "1"}) is Urgency.EDIT
    assert hear(known, How.CHANGED, generation=1, labels={"a": "1"}) is Urgency.EDIT  # none left


def test_pausing_and_resuming_bring_the_key_though_annotations_do_not_count(
    known: KnownObjects,
) -> None:
    paused: dict[str, Any] = {"generation": 1, "annotations": {"rolecall.dev/paused": "true"}}

    assert hear(known, How.CHANGED, resourceVersion="2", **paused) is Urgency.EDIT
    assert hear(known, How.CHANGED, resourceVersion="3", **paused) is None
    assert hear(known, How.CHANGED, resourceVersion="4", generation=1) is Urgency.EDIT


def test_delete_brings_the_key_and_is_forgotten(known: KnownObjects) -> None:
    assert hear(known, How.GONE, generation=1) is Urgency.EDIT
    assert len(known) == 0
    assert hear(known, How.CREATED, generation=1) is Urgency.EDIT


def test_recreated_object_is_new_even_if_its_deletion_is_heard_late(known: KnownObjects) -> None:
    assert hear(known, How.CREATED, uid="second", generation=1) is Urgency.EDIT
    hear(known, How.GONE, generation=1)  # of the first
    assert hear(known, How.CHANGED, uid="second", generation=1) is None
    assert len(known) == 1


def test_selector_is_asked_about_the_labels_of_now() -> None:
    known = KnownObjects(watch(selector=Selector({"tier": "gold"})))
    gold = {"tier": "gold"}
    assert hear(known, How.CREATED, generation=1) is None
    # Labels alone are no reason, even if they make it match.
    assert hear(known, How.CHANGED, generation=1, labels=gold) is None
    assert hear(known, How.CHANGED, generation=2, labels=gold) is Urgency.EDIT
    assert hear(known, How.CHANGED, generation=3, labels={"tier": "tin"}) is None
    assert hear(known, How.GONE, generation=3, labels={"tier": "tin"}) is None


def test_selector_expressions_count() -> None:
    rows = [Requirement("tier", "In", ("gold",)), Requirement("off", "DoesNotExist")]
    known = KnownObjects(watch(selector=Selector(match_expressions=rows)))
    assert hear(known, How.CREATED, labels={"tier": "gold"}) is Urgency.EDIT
    assert hear(known, How.CREATED, name="b", labels={"tier": "gold", "off": ""}) is None


def test_audit_finds_what_is_gone_but_not_what_was_heard_meanwhile(known: KnownObjects) -> None:
    for name in ("b", "c"):
        hear(known, How.CREATED, name=name, generation=1)
    snapshot = known.places()
    hear(known, How.CHANGED, name="b", generation=2)
    hear(known, How.CREATED, name="d", generation=1)
    assert known.unheard_since(snapshot, [("shop", "a")]) == [("shop", "c")]
