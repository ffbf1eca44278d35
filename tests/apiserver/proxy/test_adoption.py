"""Objects that were there before the role wrote them: adopted where that is wanted, else named."""

from __future__ import annotations

import asyncio

import pytest

from rolecall.json_object import Json
from tests.apiserver.proxy.conftest import (
    CONFIG_MAP,
    OpenProxy,
    Run,
    RunningProxy,
    config_map,
    reference_to,
)

WRITES = [
    ("apply", "-f", "-"),
    ("apply", "--server-side", "--force-conflicts", "-f", "-"),
    ("replace", "-f", "-"),
    ("replace", "-f", "-", "--field-manager=x"),
]


def make(running: RunningProxy, namespace: str, **metadata: object) -> None:
    manifest = config_map(namespace)
    manifest["metadata"].update(metadata)
    running.cluster.api.create(f"/api/v1/namespaces/{namespace}/configmaps", manifest)


def marks(namespace: str, name: str = "owner") -> dict[str, str]:
    return {
        "operator-sdk/primary-resource": f"{namespace}/{name}",
        "operator-sdk/primary-resource-type": "ConfigMap",
    }


def owners(running: RunningProxy, namespace: str) -> list[Json]:
    found: list[Json] = running.get(namespace, "made")["metadata"].get("ownerReferences", [])
    return found


async def write(run: Run, namespace: str, *command: str, value: str = "x") -> None:
    ended = await run.kubectl(*command, stdin=config_map(namespace, key=value))
    assert ended.code == 0, ended.stderr


@pytest.mark.parametrize("command", WRITES)
async def test_object_that_carries_the_mark_of_this_cr_is_adopted(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str, command: tuple[str, ...]
) -> None:
    make(running_proxy, namespace, annotations=marks(namespace))
    await write(run, namespace, *command)
    assert owners(running_proxy, namespace) == [reference_to(cr)]
    assert (CONFIG_MAP, CONFIG_MAP, False, namespace) in running_proxy.notes.dependents


@pytest.mark.parametrize("command", WRITES)
async def test_any_object_without_an_owner_is_adopted_where_that_is_asked_for(
    open_proxy: OpenProxy, namespace: str, command: tuple[str, ...]
) -> None:
    async with open_proxy(adopts=True) as running:
        cr = running.owner_in(namespace)
        make(running, namespace)
        async with running.run_for(cr) as run:
            await write(run, namespace, *command)
            assert owners(running, namespace) == [reference_to(cr)]
            await write(run, namespace, *command, value="y")
        assert owners(running, namespace) == [reference_to(cr)]
        assert running.get(namespace, "made")["data"] == {"key": "y"}
        assert running.notes.events == []


async def test_play_gets_the_object_as_it_is_after_the_adoption(
    open_proxy: OpenProxy, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/made"
    headers = {"Content-Type": "application/merge-patch+json"}
    async with open_proxy(adopts=True) as running:
        make(running, namespace)
        async with running.run_for(running.owner_in(namespace)) as run:
            body = '{"data": {"key": "x"}}'
            async with run.request("PATCH", path, data=body, headers=headers) as response:
                reported = await response.json()
            now = running.get(namespace, "made")
            assert reported["metadata"]["resourceVersion"] == now["metadata"]["resourceVersion"]
            assert reported["metadata"]["ownerReferences"] == now["metadata"]["ownerReferences"]
            version = now["metadata"]["resourceVersion"]
            assert (now["metadata"]["uid"], version) in running.notes.own_writes


@pytest.mark.fast
async def test_object_of_another_owner_is_never_taken(
    open_proxy: OpenProxy, namespace: str
) -> None:
    async with open_proxy(adopts=True) as running:
        theirs = reference_to(running.owner_in(namespace, "theirs"))
        make(running, namespace, ownerReferences=[theirs])
        async with running.run_for(running.owner_in(namespace)) as run:
            await write(run, namespace, *WRITES[0])
        assert owners(running, namespace) == [theirs]
        assert running.notes.events == []


async def test_object_that_annotations_give_to_another_is_never_taken(
    open_proxy: OpenProxy, namespace: str
) -> None:
    async with open_proxy(adopts=True) as running:
        make(running, namespace, annotations=marks(namespace, "other"))
        async with running.run_for(running.owner_in(namespace)) as run:
            await write(run, namespace, *WRITES[0])
        assert owners(running, namespace) == []


async def test_object_in_another_namespace_is_adopted_by_annotations(
    open_proxy: OpenProxy, namespace: str
) -> None:
    async with open_proxy(adopts=True) as running:
        manifest = config_map("default", namespace)
        running.cluster.api.create("/api/v1/namespaces/default/configmaps", manifest)
        try:
            async with running.run_for(running.owner_in(namespace)) as run:
                ended = await run.kubectl("apply", "-f", "-", stdin=manifest)
                assert ended.code == 0, ended.stderr
            metadata = running.get("default", namespace)["metadata"]
            assert marks(namespace).items() <= metadata["annotations"].items()
            assert "ownerReferences" not in metadata
        finally:
            running.cluster.api.delete(f"/api/v1/namespaces/default/configmaps/{namespace}")


async def test_object_without_an_owner_is_named_once_by_an_event(
    running_proxy: RunningProxy, cr: Json, namespace: str
) -> None:
    make(running_proxy, namespace)
    for value in ("x", "y"):
        async with running_proxy.run_for(cr) as run:
            await write(run, namespace, *WRITES[0], value=value)
    assert owners(running_proxy, namespace) == []
    (event,) = running_proxy.notes.events
    assert event[:2] == ("owner", "NotOwned")
    assert "ConfigMap made." in event[2]
    assert "--adopt" in event[2]


async def test_object_that_a_role_gives_up_is_not_taken_again(
    open_proxy: OpenProxy, namespace: str
) -> None:
    async with open_proxy(adopts=True) as running:
        async with running.run_for(running.owner_in(namespace)) as run:
            await write(run, namespace, "create", "-f", "-")
            await run.kubectl(
                *("patch", "configmap", "made", "-n", namespace, "--type=merge"),
                *("-p", '{"metadata": {"ownerReferences": null}}'),
            )
        assert owners(running, namespace) == []


async def test_nothing_is_adopted_by_a_cr_that_is_being_deleted(
    open_proxy: OpenProxy, namespace: str
) -> None:
    async with open_proxy(adopts=True) as running:
        make(running, namespace)
        cr = running.owner_in(namespace)
        cr["metadata"]["deletionTimestamp"] = "2026-11-22T22:22:22Z"
        async with running.run_for(cr) as run:
            await write(run, namespace, *WRITES[0])
        assert owners(running, namespace) == []
        assert running.notes.events == []


async def test_two_crs_that_write_one_object_do_not_take_turns(
    open_proxy: OpenProxy, namespace: str
) -> None:
    async with open_proxy(adopts=True) as running:
        make(running, namespace)
        crs = [running.owner_in(namespace, name) for name in ("one", "two")]
        async with running.run_for(crs[0]) as one, running.run_for(crs[1]) as two:
            await asyncio.gather(
                *(write(run, namespace, *WRITES[0], value=str(run)) for run in (one, two))
            )
            first = owners(running, namespace)
            for run in (one, two):
                await write(run, namespace, *WRITES[0], value=str(run))
        assert len(first) == 1
        assert owners(running, namespace) == first
