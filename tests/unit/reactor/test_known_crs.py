"""Which event of a watched kind brings its key: contract 3.2, row by row."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from rolecall.kube import ForbiddenError, NoSuchKindError, Resource, Target, WatchEvent
from rolecall.reactor.known_crs import KnownCrs, SyncState
from rolecall.reactor.newest_crs import NewestCrs
from rolecall.reactor.own_writes import OwnWrites
from rolecall.reactor.ports import ListAgain
from rolecall.watches import Requirement, Selector
from rolecall.workqueue import Key, Urgency
from tests.unit.reactor.objects import APP, Keys, Roll, metadata, watch

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


class Crs:
    """All CRs of a watch, reported by hand."""

    def __init__(self, **fields: Any) -> None:
        self.keys, self.roll, self.states = Keys(), Roll(), list[SyncState]()
        self.newest = NewestCrs()
        self.known = KnownCrs(
            watch(**fields),
            self.keys,
            self.roll,
            OwnWrites(lambda then: then()),
            self.newest,
            self.states.append,
        )

    def lists(self, *objects: dict[str, Any]) -> list[tuple[str, Urgency]]:
        """The names, and how urgent they are, that a list brings."""
        self.keys.added.clear()
        self.known.on_list_begins()
        for each in objects:
            self.known.on_listed({"metadata": each})
        self.known.on_list_complete()
        return [(key.name, urgency) for key, urgency in self.keys.added]

    def says(self, kind: str, **fields: Any) -> Urgency | None:
        """How urgent the key is that one event brings."""
        self.keys.added.clear()
        with suppress(ListAgain):  # of the first one without a generation
            self.known.on_event(WatchEvent(kind, {"metadata": metadata(**fields)}))
        return self.keys.added[0][1] if self.keys.added else None


@pytest.fixture
def crs() -> Crs:
    """One object, of generation 1, known before."""
    crs = Crs()
    crs.lists(metadata(generation=1))
    return crs


def test_first_list_is_for_startup_and_what_comes_later_for_now() -> None:
    crs = Crs()
    old, missed = metadata("old", generation=1), metadata("missed", generation=1)
    assert crs.lists(old) == [("old", Urgency.STARTUP)]
    assert crs.says(ADDED, name="new", generation=1) is Urgency.EDIT
    new = metadata("new", generation=1)
    assert crs.lists(old, new, missed) == [("missed", Urgency.EDIT)]


def test_deletion_of_a_predecessor_leaves_a_cr_of_the_same_name_known(crs: Crs) -> None:
    """kopf keeps the events of one object in order, and not those of two that have one name."""
    assert crs.says(ADDED, uid="successor", generation=1) is Urgency.EDIT
    assert crs.says(DELETED, generation=1) is None
    assert ("shop", "a") in crs.known.memos
    assert crs.roll.present


def test_list_after_the_store_was_set_back_brings_all_and_not_as_a_start_whose_runs_may_be_skipped(
    crs: Crs,
) -> None:
    assert crs.keys.causes == ["start"]
    crs.known.on_history_lost()

    assert crs.lists(metadata(generation=1)) == [("a", Urgency.STARTUP)]
    assert crs.keys.causes == ["start", "the store was set back"]
    assert crs.lists(metadata(generation=1)) == []


def test_object_that_waits_for_its_deletion_at_startup_is_urgent() -> None:
    dying = metadata(generation=2, deletionTimestamp="2026-11-21T09:00:00Z")
    assert Crs().lists(dying) == [("a", Urgency.EDIT)]


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
def test_update_without_a_new_generation_brings_nothing(crs: Crs, fields: dict[str, Any]) -> None:
    assert crs.says(MODIFIED, generation=1, **fields) is None
    assert crs.says(ADDED, generation=1, **fields) is None
    assert crs.lists(metadata(generation=1, **fields)) == []


def test_new_generation_brings_the_key_once(crs: Crs) -> None:
    assert crs.says(MODIFIED, generation=2) is Urgency.EDIT
    assert crs.lists(metadata(generation=2)) == []
    assert crs.lists(metadata(generation=3)) == [("a", Urgency.EDIT)]


def test_kind_without_generation_brings_every_update_but_not_the_same_twice() -> None:
    crs = Crs()
    crs.says(ADDED)
    assert crs.says(MODIFIED, resourceVersion="2") is Urgency.EDIT
    assert crs.lists(metadata(resourceVersion="2")) == []
    assert crs.says(MODIFIED, resourceVersion="3") is Urgency.EDIT


@pytest.mark.parametrize("generation", [None, 2])
def test_event_that_comes_twice_brings_one_run(generation: int | None) -> None:
    crs = Crs()
    fields = {} if generation is None else {"generation": generation}
    crs.says(ADDED, **({} if generation is None else {"generation": 1}))
    assert crs.says(MODIFIED, resourceVersion="2", **fields) is Urgency.EDIT
    assert crs.says(MODIFIED, resourceVersion="2", **fields) is None


def test_annotations_count_only_where_the_watch_says_so() -> None:
    crs = Crs(watch_annotations_changes=True)
    crs.says(ADDED, generation=1, annotations={"a": "1", "b": "2"})
    same = {"b": "2", "a": "1"}
    assert crs.says(MODIFIED, generation=1, annotations=same) is None
    assert crs.says(MODIFIED, generation=1, annotations={"a": "1"}) is Urgency.EDIT
    assert crs.says(MODIFIED, generation=1, labels={"a": "1"}) is Urgency.EDIT  # none left


def test_pausing_and_resuming_bring_the_key_though_annotations_do_not_count(crs: Crs) -> None:
    paused: dict[str, Any] = {"generation": 1, "annotations": {"rolecall.dev/paused": "true"}}

    assert crs.says(MODIFIED, resourceVersion="2", **paused) is Urgency.EDIT
    assert crs.says(MODIFIED, resourceVersion="3", **paused) is None
    assert crs.says(MODIFIED, resourceVersion="4", generation=1) is Urgency.EDIT


def test_delete_brings_the_key_and_is_forgotten(crs: Crs) -> None:
    assert crs.says(DELETED, generation=1) is Urgency.EDIT
    assert len(crs.known) == 0
    assert not crs.roll.present
    assert crs.says(ADDED, generation=1) is Urgency.EDIT


def test_recreated_object_is_new_whether_its_deletion_was_reported_or_not(crs: Crs) -> None:
    assert crs.lists(metadata(uid="second", generation=1)) == [("a", Urgency.EDIT)]
    assert crs.says(DELETED, uid="second", generation=1) is Urgency.EDIT
    assert crs.says(ADDED, uid="third", generation=1) is Urgency.EDIT
    assert len(crs.known) == 1


def test_selector_is_asked_about_the_labels_of_now() -> None:
    crs = Crs(selector=Selector({"tier": "gold"}))
    gold = {"tier": "gold"}
    assert crs.says(ADDED, generation=1) is None
    # Labels alone are no reason, even if they make it match.
    assert crs.says(MODIFIED, generation=1, labels=gold) is None
    assert crs.says(MODIFIED, generation=2, labels=gold) is Urgency.EDIT
    assert crs.says(MODIFIED, generation=3, labels={"tier": "tin"}) is None
    assert crs.says(DELETED, generation=3, labels={"tier": "tin"}) is None


def test_selector_expressions_count() -> None:
    rows = [Requirement("tier", "In", ("gold",)), Requirement("off", "DoesNotExist")]
    crs = Crs(selector=Selector(match_expressions=rows))
    assert crs.says(ADDED, labels={"tier": "gold"}) is Urgency.EDIT
    assert crs.says(ADDED, name="b", labels={"tier": "gold", "off": ""}) is None


def test_list_finds_what_is_gone(crs: Crs) -> None:
    for name in ("b", "c"):
        crs.says(ADDED, name=name, generation=1)
    crs.says(MODIFIED, name="b", generation=2)
    left = [metadata("a", generation=1), metadata("b", generation=2)]
    assert crs.lists(*left) == [("c", Urgency.EDIT)]
    assert crs.lists(*left) == []
    assert {key.name for key in crs.roll.present} == {"a", "b"}


def test_all_are_lost_with_their_kind_and_their_late_deletions_are_no_news(crs: Crs) -> None:
    crs.keys.added.clear()
    crs.known.lose_all()
    assert crs.keys.added == [(Key(APP, "shop", "a"), Urgency.EDIT)]
    assert not crs.roll.present
    assert crs.says(DELETED, generation=1) is None


def test_kind_that_goes_during_a_list_takes_each_of_its_objects_along_once(crs: Crs) -> None:
    crs.keys.added.clear()
    crs.known.on_list_begins()
    crs.known.lose_all()
    crs.known.on_list_complete()
    assert crs.keys.names == ["a"]


def test_missing_right_is_named_once_with_both_verbs_until_it_is_granted(
    crs: Crs, caplog: pytest.LogCaptureFixture
) -> None:
    apps = Resource(APP, "apps", namespaced=True)
    for verb in ("watch", "list"):
        refused = ForbiddenError("no", code=403, target=Target(verb, apps, "shop"))
        crs.known.on_trouble(refused)
    (entry,) = caplog.records
    fields = entry.__dict__["fields"]
    assert fields["why"].startswith("not allowed to list, watch `apps.demo.example.com` in")
    assert fields["hint"].startswith(
        'add `- {apiGroups: ["demo.example.com"], resources: [apps], verbs: [list, watch]}` to'
    )
    crs.known.on_synced(True)
    assert crs.states == [SyncState.REFUSED, SyncState.REFUSED, SyncState.SYNCED]


def test_trouble_that_passes_does_not_change_how_the_watch_stands(crs: Crs) -> None:
    crs.known.on_synced(True)
    crs.known.on_synced(False)
    assert crs.states == [SyncState.SYNCED]


def test_kind_that_is_found_missing_again_is_reported_again(crs: Crs) -> None:
    """Discovery may still know it a moment later: who awaits it has to begin anew each time."""
    crs.known.on_trouble(NoSuchKindError(APP))
    crs.known.on_trouble(NoSuchKindError(APP))
    assert crs.states == [SyncState.NO_SUCH_KIND, SyncState.NO_SUCH_KIND]


def test_object_that_the_selector_does_not_want_is_known_as_such() -> None:
    crs = Crs(selector=Selector({"tier": "gold"}))
    crs.lists(metadata("a", generation=1), metadata("b", generation=1, labels={"tier": "gold"}))

    assert {name: memo.is_selected for (_, name), memo in crs.known.memos.items()} == {
        "a": False,
        "b": True,
    }
