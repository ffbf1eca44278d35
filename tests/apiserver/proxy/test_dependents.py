"""Followers are notified of dependents: by creates, and after a restart by what plays read."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from tests.apiserver.proxy.conftest import (
    CONFIG_MAP,
    OpenProxy,
    Run,
    RunningProxy,
    config_map,
    reference_to,
)

NAMESPACE = Gvk("", "v1", "Namespace")
BY_REFERENCE = (CONFIG_MAP, CONFIG_MAP, False)


@pytest.fixture
def owned(running_proxy: RunningProxy, cr: Json, namespace: str) -> Json:
    """A dependent from the days before the restart."""
    body = config_map(namespace, "owned")
    body["metadata"]["ownerReferences"] = [reference_to(cr)]
    made: Json = running_proxy.cluster.api.create(
        f"/api/v1/namespaces/{namespace}/configmaps", body
    )
    return made


@pytest.mark.parametrize(
    "command",
    [
        ["get", "configmap", "owned"],
        ["get", "configmap", "owned", "-o", "json"],
        ["get", "configmaps", "-o", "yaml"],
    ],
)
async def test_found_again_in_what_a_play_reads(
    running_proxy: RunningProxy, run: Run, owned: Json, namespace: str, command: list[str]
) -> None:
    await run.kubectl(*command, "-n", namespace)
    assert running_proxy.notes.dependents == [(*BY_REFERENCE, namespace)]


async def test_found_again_in_a_list_over_all_namespaces(
    running_proxy: RunningProxy, run: Run, owned: Json
) -> None:
    await run.kubectl("get", "configmaps", "--all-namespaces")
    assert running_proxy.notes.dependents == [(*BY_REFERENCE, "")]


async def test_objects_of_others_teach_nothing(
    running_proxy: RunningProxy, run: Run, owned: Json, namespace: str
) -> None:
    stranger = running_proxy.owner_in(namespace, "stranger")
    async with running_proxy.run_for(stranger) as other:
        await other.kubectl("get", "configmaps", "-n", namespace)
    assert running_proxy.notes.dependents == []


async def test_found_again_by_annotation(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    body = config_map("default", namespace)
    body["metadata"]["annotations"] = {
        "operator-sdk/primary-resource": f"{namespace}/owner",
        "operator-sdk/primary-resource-type": "ConfigMap",
    }
    running_proxy.cluster.api.create("/api/v1/namespaces/default/configmaps", body)
    try:
        await run.kubectl("get", "configmap", namespace, "-n", "default")
        assert running_proxy.notes.dependents == [(CONFIG_MAP, CONFIG_MAP, True, "default")]
    finally:
        running_proxy.cluster.api.delete(f"/api/v1/namespaces/default/configmaps/{namespace}")


@pytest.mark.parametrize(
    "watch",
    [{"blacklist": frozenset({CONFIG_MAP})}, {"watch_dependent_resources": False}],
    ids=["blacklisted", "not wanted"],
)
async def test_kinds_that_the_watch_leaves_out_still_get_their_owner(
    running_proxy: RunningProxy, cr: Json, namespace: str, owned: Json, watch: Json
) -> None:
    async with running_proxy.run_for(cr, **watch) as run:
        await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
        await run.kubectl("get", "configmaps", "-n", namespace)
    assert running_proxy.get(namespace, "made")["metadata"]["ownerReferences"] == [reference_to(cr)]
    assert running_proxy.notes.dependents == []


async def test_event_that_a_play_posts_starts_no_watch_of_all_events(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "made", "namespace": namespace},
        "involvedObject": {"kind": "ConfigMap", "name": "owner", "namespace": namespace},
        "reason": "Made",
        "message": "by a play",
    }
    ended = await run.kubectl("create", "-f", "-", stdin=event)
    assert ended.code == 0, ended.stderr
    await run.kubectl("get", "events", "-n", namespace, "-o", "json")
    assert running_proxy.notes.dependents == []


@pytest.mark.parametrize("is_wanted", [True, False])
async def test_cluster_scoped_dependents_are_followed_only_where_the_watch_says_so(
    running_proxy: RunningProxy, cr: Json, namespace: str, is_wanted: bool
) -> None:
    made = f"{namespace}-made"
    async with running_proxy.run_for(cr, watch_cluster_scoped_resources=is_wanted) as run:
        ended = await run.kubectl("create", "namespace", made)
        assert ended.code == 0, ended.stderr
        found = running_proxy.cluster.api.get(f"/api/v1/namespaces/{made}")
        await run.kubectl("delete", "namespace", made, "--wait=false")
    assert found["metadata"]["annotations"]["operator-sdk/primary-resource"] == f"{namespace}/owner"
    assert "ownerReferences" not in found["metadata"]
    expected = [(CONFIG_MAP, NAMESPACE, True, "")] if is_wanted else []
    assert running_proxy.notes.dependents == expected


async def test_cluster_scoped_owner_owns_by_reference_everywhere(
    running_proxy: RunningProxy, namespace: str
) -> None:
    found = running_proxy.cluster.api.get(f"/api/v1/namespaces/{namespace}")
    owner = {"apiVersion": "v1", "kind": "Namespace", **found}
    async with running_proxy.run_for(owner, gvk=NAMESPACE) as run:
        await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
    assert running_proxy.get(namespace, "made")["metadata"]["ownerReferences"] == [
        reference_to(owner)
    ]
    assert (NAMESPACE, CONFIG_MAP, False, namespace) in running_proxy.notes.dependents


@pytest.mark.parametrize("is_protobuf", [False, True])
async def test_own_writes_are_reported_with_their_version(
    running_proxy: RunningProxy, run: Run, namespace: str, is_protobuf: bool
) -> None:
    if is_protobuf:
        await run.kubectl("create", "configmap", "made", "-n", namespace)
    else:
        await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
    await run.kubectl("label", "configmap", "made", "a=b", "-n", namespace)
    metadata = running_proxy.get(namespace, "made")["metadata"]
    assert (metadata["uid"], metadata["resourceVersion"]) in running_proxy.notes.own_writes
    assert len(running_proxy.notes.own_writes) == 2


async def test_cr_that_is_in_no_cluster_owns_nothing(
    running_proxy: RunningProxy, namespace: str
) -> None:
    cr = {**config_map(namespace, "only-a-file")}
    async with running_proxy.run_for(cr) as run:
        ended = await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
        assert ended.code == 0, ended.stderr
        await run.kubectl("get", "configmaps", "-n", namespace)
    assert "ownerReferences" not in running_proxy.get(namespace, "made")["metadata"]
    assert running_proxy.notes.dependents == []


async def test_without_injection_nothing_is_stamped_and_nothing_reported(
    open_proxy: OpenProxy, namespace: str
) -> None:
    async with open_proxy(inject_owner=False) as running_proxy:
        async with running_proxy.run_for(running_proxy.owner_in(namespace)) as run:
            await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
            await run.kubectl("get", "configmaps", "-n", namespace)
        assert "ownerReferences" not in running_proxy.get(namespace, "made")["metadata"]
        assert running_proxy.notes.dependents == []
