"""Careful writes to any part of an object, as the status writer and finalizers need them."""

from __future__ import annotations

from typing import Any

from rolecall.status import ObjectWriter, Started, StatusWriter, find
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.workqueue.keys import APP
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_write_to_a_kind_with_generations_is_not_noted() -> None:
    cluster = FakeCluster()
    notes: list[tuple[str, str, str]] = []
    cr = await Shop(cluster, APP, "default").create()
    clock = VirtualClock()
    objects = ObjectWriter(cluster, clock, lambda *note: notes.append(note))

    await StatusWriter(objects, clock).write(APP, cr, Started())

    assert notes == []


async def test_cr_without_a_namespace_is_written_and_read_again() -> None:
    cluster = FakeCluster()
    known = await cluster.create(APP, {"metadata": {"name": "a"}, "spec": {"size": 1}})
    await cluster.merge_patch(APP, "", "a", {"spec": {"size": 2}})
    clock = VirtualClock()

    written = await StatusWriter(ObjectWriter(cluster, clock), clock).write(APP, known, Started())

    assert "get" in cluster.calls
    assert find(written["status"]["conditions"], "Running") is not None


async def test_whatever_a_section_was_a_change_sets_its_keys_in_steps() -> None:
    """Both sections in one write; the first one is no map yet."""
    cluster = FakeCluster()
    shop = Shop(cluster, APP, "default")
    known = await shop.create()
    await shop.patch({"metadata": {"labels": {"a": "b"}}})
    changes: dict[str, dict[str, Any]] = {
        "extra": {"x": 1},
        "metadata": {"finalizers": ["demo/one"]},
    }

    written = await ObjectWriter(cluster, VirtualClock()).patch(APP, known, changes)

    assert cluster.calls[-1] == "steps"
    assert written["extra"] == {"x": 1}
    assert written["metadata"]["finalizers"] == ["demo/one"]


async def test_finalizers_are_sent_with_the_version_that_they_were_computed_from() -> None:
    cluster = FakeCluster()
    known = await Shop(cluster, APP, "default").create()

    written = await ObjectWriter(cluster, VirtualClock()).patch(
        APP, known, {"metadata": {"finalizers": ["demo/one"]}}
    )

    assert cluster.calls == ["patch"]
    assert written["metadata"]["finalizers"] == ["demo/one"]
