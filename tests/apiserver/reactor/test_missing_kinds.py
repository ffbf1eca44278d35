"""Kinds whose CRD comes late, goes away and comes back; with and without the right to watch CRDs."""

from __future__ import annotations

import logging

import pytest

from rolecall.gvk import Gvk
from rolecall.reactor import SyncState
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reactor.setting import (
    body,
    client_for,
    follow,
    kind_of,
    new_group,
)
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.crds import CRD, crd_for, wait_until_served
from tests.fixtures.eventually import eventually_async

EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["list", "watch"]}


async def test_kind_that_comes_late_is_followed_at_once_and_others_do_not_wait(
    cluster: Cluster, namespace: str
) -> None:
    late = Gvk(new_group(), "v1", "Late")
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app, late]) as following,
    ):
        await following.synced()
        assert following.reactor.states[late] is SyncState.NO_SUCH_KIND
        await client.create(app, body(app, namespace, "meanwhile"))
        await following.brings("meanwhile")
        await client.create(CRD, crd_for(late))
        await eventually_async(
            lambda: following.reactor.states[late] is SyncState.SYNCED, timeout_s=20
        )
        await wait_until_served(client, late)
        await client.create(late, body(late, namespace, "a"))
        await following.brings("a")
        await client.delete(CRD, "", crd_for(late)["metadata"]["name"])


@pytest.mark.nightly
async def test_kind_that_goes_and_comes_back_is_followed_again(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app]) as following,
    ):
        await following.synced()
        await client.create(app, body(app, namespace, "a"))
        await following.brings("a")
        await client.delete(CRD, "", crd_for(app)["metadata"]["name"])
        await eventually_async(
            lambda: following.reactor.states[app] is SyncState.NO_SUCH_KIND, timeout_s=60
        )
        await following.brings("a")
        assert not following.roll.present
        await client.create(CRD, crd_for(app))
        await wait_until_served(client, app)
        await client.create(app, body(app, namespace, "b"))
        await following.brings("b")


@pytest.mark.nightly
async def test_kind_that_comes_back_with_another_scope_is_watched_there(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_for(cluster.kubeconfig) as client,
        kind_of(client) as app,
        follow(client, [app], namespaces=(namespace,)) as following,
    ):
        await following.synced()
        await client.create(app, body(app, namespace, "a"))
        await following.brings("a")
        await client.delete(CRD, "", crd_for(app)["metadata"]["name"])
        await following.brings("a")
        await eventually_async(
            lambda: following.reactor.states[app] is SyncState.NO_SUCH_KIND, timeout_s=60
        )
        await client.create(CRD, crd_for(app, scope="Cluster"))
        await wait_until_served(client, app)
        await client.create(app, body(app, "", "wide"))
        await following.brings("wide")


async def test_without_the_right_to_watch_crds_a_late_kind_is_still_found(
    cluster: Cluster,
    namespace: str,
    service_account_kubeconfig: ServiceAccountKubeconfig,
    caplog: pytest.LogCaptureFixture,
) -> None:
    late = Gvk(new_group(), "v1", "Late")
    rule = {"apiGroups": [late.group], "resources": ["*"], "verbs": ["list", "watch"]}
    kubeconfig = service_account_kubeconfig(cluster_rules=[rule])
    async with client_for(cluster.kubeconfig) as admin, client_for(kubeconfig) as client:
        with caplog.at_level(logging.WARNING, logger="rolecall"):
            async with follow(client, [late]) as following:
                await following.synced()
                await admin.create(CRD, crd_for(late))
                await eventually_async(
                    lambda: following.reactor.states[late] is SyncState.SYNCED, timeout_s=90
                )
                await admin.create(late, body(late, namespace, "a"))
                await following.brings("a")
        said = [entry.message for entry in caplog.records]
        assert sum("not allowed to watch CRDs" in line for line in said) == 1
        await admin.delete(CRD, "", crd_for(late)["metadata"]["name"])
