"""A missing right is named with the rule to add, harms no other kind, and is found once granted."""

from __future__ import annotations

import logging

import pytest

from rolecall.reactor import SyncState
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reactor.setting import READ_CRDS, body, client_for, follow, kind_of
from tests.fixtures.cluster import ServiceAccountKubeconfig, grant
from tests.fixtures.eventually import eventually_async


async def test_refused_kind_is_named_and_followed_once_granted_while_others_work(
    cluster: Cluster,
    namespace: str,
    service_account_kubeconfig: ServiceAccountKubeconfig,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        client_for(cluster.kubeconfig) as admin,
        kind_of(admin, "Free") as free,
        kind_of(admin, "Shut") as shut,
    ):
        rule = {"apiGroups": [free.group], "resources": ["frees"], "verbs": ["list", "watch"]}
        kubeconfig = service_account_kubeconfig(cluster_rules=[rule, READ_CRDS])
        async with client_for(kubeconfig) as client:
            with caplog.at_level(logging.WARNING, logger="rolecall"):
                async with follow(client, [free, shut]) as following:
                    await following.synced()
                    assert following.reactor.states == {
                        free: SyncState.SYNCED,
                        shut: SyncState.REFUSED,
                    }
                    await admin.create(free, body(free, namespace, "a"))
                    await following.brings("a")
                    (entry,) = caplog.records
                    fields = entry.__dict__["fields"]
                    assert f"not allowed to list, watch `shuts.{shut.group}`" in fields["why"]
                    assert "resources: [shuts], verbs: [list, watch]" in fields["hint"]
                    more = {**rule, "apiGroups": [shut.group], "resources": ["shuts"]}
                    subject = {
                        "kind": "ServiceAccount",
                        "name": "engine",
                        "namespace": namespace,
                    }
                    grant(cluster, "", "ClusterRole", f"{namespace}-more", ([more], subject))
                    await eventually_async(
                        lambda: following.reactor.states[shut] is SyncState.SYNCED
                    )
                    await admin.create(shut, body(shut, namespace, "b"))
                    await following.brings("b")
    for kind in ("clusterrolebindings", "clusterroles"):
        cluster.api.delete(f"/apis/rbac.authorization.k8s.io/v1/{kind}/{namespace}-more")


async def test_refused_namespace_does_not_silence_the_others(
    cluster: Cluster, namespace: str, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    async with client_for(cluster.kubeconfig) as admin, kind_of(admin) as app:
        rule = {"apiGroups": [app.group], "resources": ["apps"], "verbs": ["list", "watch"]}
        kubeconfig = service_account_kubeconfig(rules=[rule], cluster_rules=[READ_CRDS])
        async with (
            client_for(kubeconfig) as client,
            follow(client, [app], namespaces=(namespace, "default")) as following,
        ):
            await following.synced()
            await admin.create(app, body(app, namespace, "a"))
            await following.brings("a")
