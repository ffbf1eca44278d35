"""Streams that die in every way they can: nothing that happened meanwhile is lost."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.reactor import SyncState
from rolecall_dev.localcluster import Cluster
from tests.apiserver.reactor.setting import (
    CONFIG_MAP,
    body,
    client_for,
    follow,
    kind_of,
)
from tests.apiserver.reactor.test_dependent_informers import cr_followed, owned_by, watched
from tests.fixtures.eventually import eventually_async

SILENCE_S = 3.0


async def change_behind_the_relay(admin: Client, app: Gvk) -> None:
    """While the watch sends nothing: a create, an edit, a delete, and a dependent deleted."""
    await admin.create(app, body(app, "default", "created"))
    await admin.merge_patch(app, "default", "edited", {"spec": {"a": 2}})
    await admin.delete(app, "default", "deleted")
    await admin.delete(CONFIG_MAP, "default", "dependent")


@pytest.mark.nightly
async def test_dead_streams_are_replaced_and_nothing_is_missed(
    disturbed_cluster: Cluster, tmp_path: Path
) -> None:
    direct = direct_kubeconfig(disturbed_cluster, tmp_path)
    relay = disturbed_cluster.apiserver.relay
    async with (
        client_for(direct) as admin,
        client_for(disturbed_cluster.kubeconfig) as client,
        kind_of(admin) as app,
        follow(client, [app], silence_s=SILENCE_S) as following,
    ):
        cr = await cr_followed(client, following, app, "default")
        following.dependents.note(app, CONFIG_MAP, by_annotation=False, namespace="")
        await watched(following, CONFIG_MAP)
        expected = ("created", "deleted", "edited", "owner")
        for end_the_fault, fault in (
            (relay.release, relay.hold),  # frozen: open connections, no bytes
            (relay.accept, relay.refuse),  # down: refused connections
            (lambda: None, relay.cut),  # cut: a moment's loss
        ):
            for name in ("edited", "deleted"):
                await admin.create(app, body(app, "default", name, spec={"a": 1}))
            made = body(CONFIG_MAP, "default", "dependent", metadata=owned_by(cr))
            await admin.create(CONFIG_MAP, made)
            await eventually_async(lambda: {"edited", "deleted"} <= set(following.keys.names))
            following.keys.added.clear()
            fault()
            await change_behind_the_relay(admin, app)
            end_the_fault()
            await eventually_async(lambda: sorted(set(following.keys.names)) == list(expected))
            assert "deleted" not in {key.name for key in following.roll.present}
            for name in ("created", "edited"):
                await admin.delete(app, "default", name)
            await eventually_async(lambda: len(following.roll.present), lambda left: left == 1)
            following.keys.added.clear()


@pytest.mark.nightly
async def test_restart_of_the_server_enqueues_only_changed_crs(
    disturbed_cluster: Cluster, tmp_path: Path
) -> None:
    direct = direct_kubeconfig(disturbed_cluster, tmp_path)
    async with (
        client_for(direct) as admin,
        client_for(disturbed_cluster.kubeconfig) as client,
        kind_of(admin) as app,
        follow(client, [app], silence_s=SILENCE_S) as following,
    ):
        await following.synced()
        for number in range(20):
            await admin.create(app, body(app, "default", f"a-{number}"))
        await eventually_async(lambda: len(following.keys.added), lambda count: count == 20)
        following.keys.added.clear()
        disturbed_cluster.apiserver.restart()
        async with client_for(direct) as afresh:  # the old connections are dead
            await afresh.create(app, body(app, "default", "after"))
        await eventually_async(lambda: "after" in following.keys.names)
        assert following.keys.names == ["after"]


@pytest.mark.nightly
async def test_right_that_is_taken_away_is_noticed(
    disturbed_cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="rolecall.reactor")
    config = yaml.safe_load(disturbed_cluster.kubeconfig.read_text())
    config["users"][0]["user"]["as"] = "other-user"
    of_other_user = tmp_path / "other-user"
    of_other_user.write_text(yaml.safe_dump(config))
    api, rbac = disturbed_cluster.api, "/apis/rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list", "watch"]}]
    api.create(f"{rbac}/clusterroles", {"metadata": {"name": "some"}, "rules": rules})
    binding = {
        "metadata": {"name": "some"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "some"},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "other-user"}
        ],
    }
    api.create(f"{rbac}/clusterrolebindings", binding)
    async with (
        client_for(disturbed_cluster.kubeconfig) as admin,
        client_for(of_other_user) as client,
        kind_of(admin) as app,
        follow(client, [app]) as following,
    ):
        await following.synced()
        assert following.reactor.states[app] is SyncState.SYNCED
        api.delete(f"{rbac}/clusterrolebindings/some")
        disturbed_cluster.apiserver.relay.cut()  # streams are not examined again
        await eventually_async(lambda: following.reactor.states[app] is SyncState.REFUSED)
        assert "watching again" not in caplog.messages
        api.create(f"{rbac}/clusterrolebindings", binding)
        await eventually_async(lambda: following.reactor.states[app] is SyncState.SYNCED)
        await eventually_async(lambda: "watching again" in caplog.messages)
    reported = [vars(each)["fields"] for each in caplog.records if each.message == "cannot watch"]
    missing = [each for each in reported if "not allowed to list, watch" in each["why"]]
    assert len(missing) == 1, "it is logged once, however often the API server refuses"
    assert missing[0]["kind"] == str(app)
    assert f"apps.{app.group}" in missing[0]["why"]
    assert "list, watch" in missing[0]["hint"]


def direct_kubeconfig(cluster: Cluster, folder: Path) -> Path:
    """A way to the API server that goes around the relay."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    port = cluster.record.ports.apiserver
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    path = folder / "direct"
    path.write_text(yaml.safe_dump(config))
    return path
