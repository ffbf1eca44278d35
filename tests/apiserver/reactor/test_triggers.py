"""What brings a CR's key, on a real API server; contract 3.2."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.watches import Selector
from rolecall.workqueue import Key, Urgency
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reactor.setting import (
    CONFIG_MAP,
    NAMESPACE,
    body,
    client_for,
    follow,
    kind_of,
)
from tests.fixtures.eventually import eventually_async
from tests.unit.reactor.objects import watch


@pytest.mark.fast
async def test_every_cr_is_brought_at_start_and_new_ones_sooner(
    cluster: Cluster, namespace: str
) -> None:
    async with client_for(cluster.kubeconfig) as client, kind_of(client) as app:
        for number in range(150):  # more than a few turns of the loop
            await client.create(app, body(app, namespace, f"old-{number}"))
        async with follow(client, [app]) as following:
            await following.synced()
            assert len(following.keys.added) == 150
            assert {urgency for _, urgency in following.keys.added} == {Urgency.STARTUP}
            assert len(following.roll.present) == 150
            following.keys.added.clear()
            await client.create(app, body(app, namespace, "new"))
            await eventually_async(lambda: following.keys.added)
            assert following.keys.added == [(Key(app, namespace, "new"), Urgency.EDIT)]


@pytest.mark.fast
async def test_only_changes_of_the_spec_and_deletion_bring_a_cr(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app]) as following,
    ):
        await following.synced()
        cr = await client.create(app, body(app, namespace, "a", spec={"size": 1}))
        await following.brings("a")
        quiet: list[dict[str, Any]] = [
            {"metadata": {"labels": {"x": "y"}}},
            {"metadata": {"annotations": {"x": "y"}}},
            {"metadata": {"finalizers": ["example.com/wait"]}},
        ]
        for patch in quiet:
            await client.merge_patch(app, namespace, "a", patch)
        done = {"status": {"phase": "done"}}
        await client.merge_patch(app, namespace, "a", done, subresource="status")
        await client.merge_patch(app, namespace, "a", {"spec": {"size": 2}})
        await following.brings("a")
        await client.delete(app, namespace, "a")  # waits for the finalizer
        await following.brings("a")
        assert Key(app, namespace, "a") in following.roll.present
        await client.merge_patch(app, namespace, "a", {"metadata": {"finalizers": None}})
        await following.brings("a")
        assert not following.roll.present
        assert cr["metadata"]["generation"] == 1


async def test_annotations_bring_a_cr_where_the_watch_says_so(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [watch(app, watch_annotations_changes=True)]) as following,
    ):
        await following.synced()
        await client.create(app, body(app, namespace, "a"))
        await following.brings("a")
        patch = {"metadata": {"annotations": {"x": "y"}}}
        await client.merge_patch(app, namespace, "a", patch)
        await following.brings("a")


async def test_selector_chooses_by_the_labels_of_now(cluster: Cluster, namespace: str) -> None:
    async with client_for(cluster.kubeconfig) as client, kind_of(client) as app:
        gold = watch(app, selector=Selector({"tier": "gold"}))
        async with follow(client, [gold]) as following:
            await following.synced()
            labels = {"metadata": {"labels": {"tier": "gold"}}}
            await client.create(app, body(app, namespace, "plain"))
            await client.create(app, body(app, namespace, "fine", **labels))
            await following.brings("fine")
            await client.merge_patch(app, namespace, "plain", labels)
            await client.merge_patch(app, namespace, "plain", {"spec": {"a": 1}})
            await following.brings("plain")


async def test_kinds_without_generation_are_brought_by_every_update(
    cluster: Cluster, namespace: str
) -> None:
    async with client_for(cluster.kubeconfig) as client:
        marked = watch(CONFIG_MAP, selector=Selector({"test": namespace}))
        async with follow(client, [marked]) as following:
            await following.synced()
            labels = {"labels": {"test": namespace}}
            await client.create(
                CONFIG_MAP, body(CONFIG_MAP, namespace, "a", metadata=labels, data={"k": "1"})
            )
            await following.brings("a")
            for number in range(2, 5):
                await client.merge_patch(CONFIG_MAP, namespace, "a", {"data": {"k": str(number)}})
                await following.brings("a")


async def test_what_the_engine_writes_itself_brings_no_kind_without_generation(
    cluster: Cluster, namespace: str
) -> None:
    async with client_for(cluster.kubeconfig) as client:
        marked = watch(CONFIG_MAP, selector=Selector({"test": namespace}))
        async with follow(client, [marked]) as following:
            await following.synced()
            labels = {"labels": {"test": namespace}}
            known = await client.create(
                CONFIG_MAP, body(CONFIG_MAP, namespace, "a", metadata=labels, data={"k": "0"})
            )
            await following.brings("a")
            for number in range(1, 4):
                before = known["metadata"]["resourceVersion"]
                known = await client.merge_patch(
                    CONFIG_MAP, namespace, "a", {"data": {"k": str(number)}}
                )
                metadata = known["metadata"]
                following.own_writes.note(metadata["uid"], metadata["resourceVersion"], before)
            await client.merge_patch(CONFIG_MAP, namespace, "a", {"data": {"k": "theirs"}})
            await following.brings("a")


async def test_two_groups_with_the_same_kind_and_version_are_distinguished(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as one,
        kind_of(client) as other,
        follow(client, [one, other]) as following,
    ):
        await following.synced()
        await client.create(one, body(one, namespace, "a"))
        await client.create(other, body(other, namespace, "a"))
        await eventually_async(lambda: len(following.keys.added), lambda count: count == 2)
        assert {key.gvk for key, _ in following.keys.added} == {one, other}


async def test_nothing_is_ever_written_on_a_cr(cluster: Cluster, namespace: str) -> None:
    """Not even what an earlier operator on kopf left behind is taken away."""
    async with client_for(cluster.kubeconfig) as client, kind_of(client) as app:
        left = {
            "finalizers": ["kopf.zalando.org/KopfFinalizerMarker"],
            "annotations": {"kopf.zalando.org/last-handled-configuration": "{}"},
        }
        await client.create(app, body(app, namespace, "a", metadata=left, spec={"a": 1}))
        async with follow(client, [app]) as following:
            await following.synced()
            before = await client.merge_patch(app, namespace, "a", {"spec": {"a": 2}})
            await following.brings("a", "a")
            await client.create(app, body(app, namespace, "b"))
            await following.brings("b")
            assert await client.get(app, namespace, "a") == before
        await client.merge_patch(app, namespace, "a", {"metadata": {"finalizers": None}})


async def test_only_the_named_namespaces_are_followed_but_wide_kinds_always(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        kind_of(client, "Wide", scope="Cluster") as wide,
    ):
        second = f"{namespace[:50]}-2"
        await client.create(NAMESPACE, body(NAMESPACE, "", second))
        names = (namespace, second, "there-is-none")
        async with follow(client, [app, wide], namespaces=names) as following:
            await following.synced()
            await client.create(app, body(app, "default", "elsewhere"))
            await client.create(app, body(app, namespace, "first"))
            await client.create(app, body(app, second, "second"))
            await client.create(wide, body(wide, "", "wide"))
            await following.brings("first", "second", "wide")
            places = {key.namespace for key in following.roll.present}
            assert places == {namespace, second, ""}
        await client.delete(NAMESPACE, "", second)


def test_core_kinds_are_spelled_as_the_contract_does() -> None:
    assert str(Gvk("", "v1", "ConfigMap")) == "/v1, Kind=ConfigMap"
