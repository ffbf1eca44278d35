"""What is no longer wanted, by what two runs touched."""

from __future__ import annotations

import pytest

from rolecall.extensions.prune import Inventory, Prune, inventory_of, read_inventory, would_prune
from rolecall.gvk import Gvk
from rolecall.record import RecordedRequest
from tests.unit.extensions.prune.worlds import (
    INFO,
    asked,
    inventory,
    looked,
    missing,
    touched,
    watch,
)


def gone(old: Inventory, *requests: RecordedRequest, prune: Prune = Prune()) -> list[str]:  # noqa: B008
    """Names of what would be deleted after a run that asked for this."""
    found = would_prune(old, touched(*requests), watch(prune))
    return [each.entry.name for each in found if not each.kept and not each.lists]


@pytest.mark.parametrize(
    "requests",
    [
        [asked("create", "x")],
        [asked("patch", "x")],
        [asked("update", "x")],
        [missing("x"), asked("create", "x")],
        [looked("x")],  # a task that would have written it
    ],
)
def test_what_a_run_made_wrote_or_ensured_is_ours(requests: list[RecordedRequest]) -> None:
    assert [entry.name for entry in inventory(*requests).entries] == ["x"]


@pytest.mark.parametrize(
    "requests",
    [
        [looked("x", INFO)],
        [missing("x")],
        [asked("list")],
        [asked("create", "x", code=403)],
        [asked("create", "x", query="dryRun=All")],
        [asked("create", "x"), asked("delete", "x")],
        [asked("patch", "x", subresource="status")],
        [asked("create", "x", resource="events")],
        [asked("create", "x", resource="leases", group="coordination.k8s.io")],
    ],
)
def test_what_is_read_gone_or_reported_is_not(requests: list[RecordedRequest]) -> None:
    assert not inventory(*requests).entries


def test_what_is_another_ones_is_kept_as_shared_and_never_pruned() -> None:
    old = inventory(asked("patch", "x", is_owned=False))
    assert [entry.is_shared for entry in old.entries] == [True]
    assert gone(old) == []


def test_object_that_is_written_once_and_read_from_then_on_is_not_forgotten() -> None:
    first = inventory(asked("create", "x"))
    second = inventory(looked("x", INFO), old=first)
    assert gone(second) == ["x"]


@pytest.mark.parametrize(
    "request_",
    [
        looked("x"),
        looked("x", INFO),
        asked("patch", "x"),
        asked("list", query="fieldSelector=metadata.name%3Dx"),
    ],
)
def test_what_is_written_or_read_by_name_stays(request_: RecordedRequest) -> None:
    old = inventory(asked("create", "x"), asked("create", "y"))
    assert gone(old, request_) == ["y"]


def test_one_object_at_two_versions_of_its_kind_is_one() -> None:
    old = inventory(asked("create", "x", group="autoscaling", resource="hpas"))
    assert gone(old, looked("x", group="autoscaling", resource="hpas", version="v2")) == []


def test_what_a_run_saw_in_a_list_stays_unless_the_watch_says_otherwise() -> None:
    old, listed = inventory(asked("create", "x")), asked("list", query="labelSelector=app%3Dx")
    assert gone(old, listed) == []
    assert gone(old, listed, prune=Prune(even_if_listed=True)) == ["x"]
    assert gone(old, asked("list", resource="secrets")) == ["x"]
    assert gone(old, asked("list", namespace="b")) == ["x"]
    assert gone(old, asked("list", namespace="")) == []


@pytest.mark.parametrize(
    ("group", "resource"),
    [
        ("", "persistentvolumeclaims"),
        ("", "namespaces"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("snapshot.storage.k8s.io", "volumesnapshots"),
        ("demo.example.com", "things"),
    ],
)
def test_kinds_that_may_hold_data_are_deleted_only_where_they_are_named(
    group: str, resource: str
) -> None:
    old = inventory(asked("create", "x", group=group, resource=resource))
    kind = old.entries[0].gvk
    assert gone(old) == []
    # Named at another version: an object is served at all of them.
    assert gone(old, prune=Prune(frozenset({Gvk(group, "v9", kind.kind)}))) == ["x"]


def test_watch_that_does_not_prune_prunes_nothing() -> None:
    old = inventory(asked("create", "x"))
    assert would_prune(old, touched(), watch(None)) == ()


def test_inventory_is_read_as_it_was_written_and_anything_else_is_none() -> None:
    old = inventory(asked("create", "x"), asked("create", "y", is_owned=False))
    assert read_inventory(old.as_text()) == inventory_of("cr", old.entries)
    for text in ("", "{}", "[]", '[2,"cr",[]]', '[1,"cr",[["a"]]]', "[1,3,[]]", "[" * 9999):
        assert read_inventory(text) is None
