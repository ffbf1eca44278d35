"""Dependents on a real API server: what brings their owner, in every namespace mode; contract 5.5."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.workqueue import Key, Urgency
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reactor.setting import (
    CONFIG_MAP,
    NAMESPACE,
    Following,
    body,
    client_for,
    follow,
    kind_of,
)
from tests.fixtures.cluster import ServiceAccountKubeconfig, grant
from tests.fixtures.crds import wait_until_served
from tests.fixtures.eventually import eventually_async
from tests.unit.reactor.objects import watch

DEPLOYMENT = Gvk("apps", "v1", "Deployment")
CLAIM = Gvk("", "v1", "PersistentVolumeClaim")


def owned_by(cr: dict[str, Any]) -> dict[str, Any]:
    reference = {key: cr[key] for key in ("apiVersion", "kind")}
    reference |= {key: cr["metadata"][key] for key in ("name", "uid")}
    return {"ownerReferences": [reference]}


def annotated_for(cr: dict[str, Any]) -> dict[str, Any]:
    gvk = Gvk.parse(cr["apiVersion"], cr["kind"])
    place = f"{cr['metadata']['namespace']}/{cr['metadata']['name']}"
    pair = {
        "operator-sdk/primary-resource": place,
        "operator-sdk/primary-resource-type": gvk.group_kind,
    }
    return {"annotations": pair}


async def watched(following: Following, kind: Gvk, namespace: str = "") -> None:
    await eventually_async(lambda: following.dependents.is_watched(kind, namespace))


async def cr_followed(
    client: Client, following: Following, app: Gvk, namespace: str
) -> dict[str, Any]:
    """A CR whose own events are over."""
    await following.synced()
    cr = await client.create(app, body(app, namespace, "owner"))
    await following.brings("owner")
    return cr


async def quiet_until(following: Following, client: Client, namespace: str, name: str) -> None:
    """What was done before brought nothing: the delete that follows is the next thing following."""
    await client.delete(CONFIG_MAP, namespace, name)
    await following.brings("owner")


async def test_update_and_delete_bring_the_owner_and_create_does_not(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app]) as following,
    ):
        cr = await cr_followed(client, following, app, namespace)
        for _ in range(3):
            following.dependents.note(app, CONFIG_MAP, by_annotation=False, namespace=namespace)
        await watched(following, CONFIG_MAP)
        for name in ("d", "e"):
            made = body(CONFIG_MAP, namespace, name, metadata=owned_by(cr), data={"k": "1"})
            await client.create(CONFIG_MAP, made)
        await client.create(CONFIG_MAP, body(CONFIG_MAP, namespace, "free"))
        await client.merge_patch(CONFIG_MAP, namespace, "free", {"data": {"k": "1"}})
        await client.merge_patch(CONFIG_MAP, namespace, "d", {"data": {"k": "2"}})
        await eventually_async(lambda: following.keys.added)
        assert following.keys.added == [(Key(app, namespace, "owner"), Urgency.DEPENDENT)]
        following.keys.added.clear()
        await client.delete(CONFIG_MAP, namespace, "e")
        await following.brings("owner")


@pytest.mark.parametrize("kind", [DEPLOYMENT, CLAIM])
async def test_status_writes_never_bring_the_owner_not_even_the_first(
    cluster: Cluster, namespace: str, kind: Gvk
) -> None:
    labels = {"app": "d"}
    container = {"name": "c", "image": "example.com/c:1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    specs: dict[Gvk, dict[str, Any]] = {
        # Paused, or its controller numbers the revision in an annotation, which does count.
        DEPLOYMENT: {
            "paused": True,
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": template,
        },
        CLAIM: {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "there-is-none",
        },
    }
    statuses: dict[Gvk, dict[str, Any]] = {
        DEPLOYMENT: {"conditions": [{"type": "Test", "status": "True"}]},
        CLAIM: {"conditions": [{"type": "Resizing", "status": "True"}]},
    }
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app]) as following,
    ):
        cr = await cr_followed(client, following, app, namespace)
        following.dependents.note(app, kind, by_annotation=False, namespace=namespace)
        following.dependents.note(app, CONFIG_MAP, by_annotation=False, namespace=namespace)
        await watched(following, kind)
        await watched(following, CONFIG_MAP)
        marker = body(CONFIG_MAP, namespace, "marker", metadata=owned_by(cr))
        await client.create(CONFIG_MAP, marker)
        made = body(kind, namespace, "d", metadata=owned_by(cr), spec=specs[kind])
        await client.create(kind, made)
        status = {"status": statuses[kind]}
        await client.merge_patch(kind, namespace, "d", status, subresource="status")
        written = (await client.get(kind, namespace, "d"))["metadata"]["managedFields"]
        assert any(row.get("subresource") == "status" for row in written)
        await quiet_until(following, client, namespace, "marker")
        await client.merge_patch(kind, namespace, "d", {"metadata": {"labels": {"x": "y"}}})
        await eventually_async(lambda: following.keys.names, lambda names: set(names) == {"owner"})


async def test_annotated_dependents_elsewhere_bring_their_owner(
    cluster: Cluster, namespace: str
) -> None:
    async with client_for(cluster.kubeconfig) as client, kind_of(client) as app:
        wide = watch(app, watch_cluster_scoped_resources=True)
        async with follow(client, [wide]) as following:
            cr = await cr_followed(client, following, app, namespace)
            for kind in (CONFIG_MAP, NAMESPACE):
                following.dependents.note(app, kind, by_annotation=True, namespace="")
                await watched(following, kind)
            other = f"{namespace[:50]}-2"
            tied = annotated_for(cr)
            await client.create(NAMESPACE, body(NAMESPACE, "", other, metadata=tied))
            for name in ("d", "of-a-neighbour"):
                await client.create(CONFIG_MAP, body(CONFIG_MAP, other, name, metadata=tied))
            owner = Key(app, namespace, "owner")
            following.dependents.note_asked(owner, "", "configmaps", other, "d")
            following.dependents.note_asked(owner, "", "namespaces", "", other)
            following.keys.causes.clear()
            # Whatever a neighbour writes into such an object starts no run of another CR.
            await client.merge_patch(CONFIG_MAP, other, "of-a-neighbour", {"data": {"k": "1"}})
            await client.delete(CONFIG_MAP, other, "of-a-neighbour")
            await client.merge_patch(CONFIG_MAP, other, "d", {"data": {"k": "1"}})
            await following.brings("owner")
            patch = {"metadata": {"labels": {"x": "y"}}}
            await client.merge_patch(NAMESPACE, "", other, patch)
            await following.brings("owner")
            await client.delete(NAMESPACE, "", other)
            assert not [cause for cause in following.keys.causes if "neighbour" in cause]


async def test_what_the_watch_excludes_is_not_watched(cluster: Cluster, namespace: str) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as plain,
        kind_of(client, "Off") as off,
    ):
        watches = [
            watch(plain, blacklist=frozenset({CONFIG_MAP})),
            watch(off, watch_dependent_resources=False),
        ]
        async with follow(client, watches) as following:
            await following.synced()
            for owner in (plain, off):
                following.dependents.note(owner, CONFIG_MAP, by_annotation=False, namespace="")
            # Cluster-scoped and annotated, but `watchClusterScopedResources` is not on.
            following.dependents.note(plain, NAMESPACE, by_annotation=True, namespace="")
            following.dependents.note(plain, CLAIM, by_annotation=False, namespace="")
            await watched(following, CLAIM)
            assert not following.dependents.is_watched(CONFIG_MAP)
            assert not following.dependents.is_watched(NAMESPACE)


async def test_bound_to_namespaces_the_streams_are_too(cluster: Cluster, namespace: str) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app], namespaces=(namespace,)) as following,
    ):
        cr = await cr_followed(client, following, app, namespace)
        following.dependents.note(app, CONFIG_MAP, by_annotation=True, namespace="default")
        following.dependents.note(app, CONFIG_MAP, by_annotation=False, namespace=namespace)
        following.dependents.note(app, NAMESPACE, by_annotation=False, namespace="")
        await watched(following, CONFIG_MAP, namespace)
        assert not following.dependents.is_watched(CONFIG_MAP)
        assert not following.dependents.is_watched(CONFIG_MAP, "default")
        assert not following.dependents.is_watched(NAMESPACE)
        made = body(CONFIG_MAP, namespace, "d", metadata=owned_by(cr))
        await client.create(CONFIG_MAP, made)
        await client.delete(CONFIG_MAP, namespace, "d")
        await following.brings("owner")


async def test_own_writes_of_a_play_enqueue_no_cr(cluster: Cluster, namespace: str) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app]) as following,
    ):
        cr = await cr_followed(client, following, app, namespace)
        following.dependents.note(app, CONFIG_MAP, by_annotation=False, namespace=namespace)
        await watched(following, CONFIG_MAP)
        made = body(CONFIG_MAP, namespace, "d", metadata=owned_by(cr), data={"k": "1"})
        await client.create(CONFIG_MAP, made)
        patch = {"data": {"k": "2"}}
        wrote = (await client.merge_patch(CONFIG_MAP, namespace, "d", patch))["metadata"]
        following.dependents.note_own_write(wrote["uid"], wrote["resourceVersion"])
        await quiet_until(following, client, namespace, "d")


async def test_missing_right_is_named_with_its_rule_and_found_once_granted(
    cluster: Cluster,
    namespace: str,
    service_account_kubeconfig: ServiceAccountKubeconfig,
    caplog: pytest.LogCaptureFixture,
) -> None:
    read = {"apiGroups": ["*"], "resources": ["apps"], "verbs": ["list", "watch"]}
    kubeconfig = service_account_kubeconfig(cluster_rules=[read])
    async with (
        client_for(cluster.kubeconfig) as admin,
        client_for(kubeconfig) as client,
        kind_of(admin) as app,
        follow(client, [app], namespaces=(namespace,)) as following,
    ):
        await following.synced()
        with caplog.at_level(logging.WARNING, logger="rolecall.reactor.owned_objects"):
            following.dependents.note(app, CONFIG_MAP, by_annotation=False, namespace=namespace)
            (entry,) = await eventually_async(
                lambda: [each for each in caplog.records if "dependents" in each.message]
            )
        rule = '{apiGroups: [""], resources: [configmaps], verbs: [list]}'
        assert entry.__dict__["fields"]["rule"] == rule
        assert not following.dependents.is_watched(CONFIG_MAP, namespace)
        more = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}
        subject = {"kind": "ServiceAccount", "name": "engine", "namespace": namespace}
        grant(cluster, f"/namespaces/{namespace}", "Role", "more", ([more], subject))
        await eventually_async(lambda: following.dependents.is_watched(CONFIG_MAP, namespace))


async def test_kind_of_a_dependent_that_comes_later_is_watched_then(
    cluster: Cluster, namespace: str
) -> None:
    async with client_for(cluster.kubeconfig) as client, kind_of(client) as app:
        late = Gvk(app.group, "v1", "Part")
        async with follow(client, [app]) as following:
            cr = await cr_followed(client, following, app, namespace)
            following.dependents.note(app, late, by_annotation=False, namespace=namespace)
            async with kind_of(client, "Part", group=app.group, has_status=False):
                await wait_until_served(client, late)
                await watched(following, late)
                await client.create(late, body(late, namespace, "d", metadata=owned_by(cr)))
                # Where status is no subresource, the generation counts it; still no reason.
                await client.merge_patch(late, namespace, "d", {"status": {"a": 1}})
                await client.merge_patch(late, namespace, "d", {"spec": {"a": 1}})
                await following.brings("owner")
