"""Typed calls on a real API server: each verb once, each error by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import (
    AlreadyExistsError,
    Client,
    ConflictError,
    Credentials,
    ForbiddenError,
    NoSuchKindError,
    NotFoundError,
    UnprocessableError,
)
from rolecall_dev.localcluster import Cluster
from tests.fixtures.cluster import ServiceAccountKubeconfig

CONFIG_MAP = Gvk("", "v1", "ConfigMap")
DEPLOYMENT = Gvk("apps", "v1", "Deployment")
CLUSTER_ROLE = Gvk("rbac.authorization.k8s.io", "v1", "ClusterRole")


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    async with Client(Credentials.load({"KUBECONFIG": str(cluster.kubeconfig)})) as client:
        yield client


def config_map(namespace: str, name: str = "a", **data: str) -> dict[str, object]:
    metadata = {"namespace": namespace, "name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@pytest.mark.fast
async def test_object_lives_its_life(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAP, config_map(namespace, k="1"))
    assert await client.get(CONFIG_MAP, namespace, "a") == made
    made["data"] = {"k": "2"}
    replaced = await client.replace(CONFIG_MAP, made)
    patched = await client.merge_patch(CONFIG_MAP, namespace, "a", {"data": {"l": "3"}})
    assert patched["data"] == {"k": "2", "l": "3"}
    with pytest.raises(ConflictError):
        await client.replace(CONFIG_MAP, replaced)
    with pytest.raises(AlreadyExistsError):
        await client.create(CONFIG_MAP, config_map(namespace))
    with pytest.raises(ConflictError):
        await client.delete(CONFIG_MAP, namespace, "a", uid="another")
    await client.delete(CONFIG_MAP, namespace, "a", uid=made["metadata"]["uid"])
    with pytest.raises(NotFoundError):
        await client.get(CONFIG_MAP, namespace, "a")


async def test_rejection_by_the_schema_is_reported_in_its_words(
    client: Client, namespace: str
) -> None:
    broken = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": namespace, "name": "d"},
        "spec": {},
    }
    with pytest.raises(UnprocessableError, match=r"spec\.template"):
        await client.create(DEPLOYMENT, broken)


async def test_missing_kind_is_not_a_missing_object(client: Client, namespace: str) -> None:
    with pytest.raises(NoSuchKindError, match="not serve kind `Nothing`"):
        await client.get(Gvk("nowhere.example.com", "v1", "Nothing"), namespace, "a")
    with pytest.raises(NoSuchKindError):
        await client.get(Gvk("apps", "v1", "Nothing"), namespace, "a")


async def test_long_list_comes_in_pages_with_kinds_filled_in(
    client: Client, namespace: str
) -> None:
    await asyncio.gather(
        *(client.create(CONFIG_MAP, config_map(namespace, f"a-{n}")) for n in range(510))
    )
    pages = [page async for page in client.pages(CONFIG_MAP, namespace)]
    assert [len(page.items) for page in pages] == [500, 11]  # with the CA's own
    assert {item["kind"] for page in pages for item in page.items} == {"ConfigMap"}
    async for page in client.pages(CONFIG_MAP, namespace, metadata_only=True):
        assert all("data" not in item for item in page.items)
    assert len(await client.list_all(CONFIG_MAP, namespace)) == 511


async def test_empty_list_of_metadata_is_empty(client: Client, namespace: str) -> None:
    pages = client.pages(DEPLOYMENT, namespace, metadata_only=True)
    assert [page.items async for page in pages] == [[]]


@pytest.mark.fast
async def test_watch_reports_events_from_a_version_on(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAP, config_map(namespace, text="x" * 300_000))
    version = made["metadata"]["resourceVersion"]
    await client.merge_patch(CONFIG_MAP, namespace, "a", {"data": {"k": "2"}})
    await client.delete(CONFIG_MAP, namespace, "a")
    for metadata_only in (False, True):
        watch = client.watch(
            CONFIG_MAP, namespace, resource_version=version, metadata_only=metadata_only
        )
        seen = []
        async with aclosing(watch) as events:
            async for event in events:
                if event.object["metadata"]["name"] != "a":
                    continue  # the CA's own may come as late as this
                seen.append(event)
                if event.type == "DELETED":
                    break
        assert [event.type for event in seen] == ["MODIFIED", "DELETED"]
        assert ("data" in seen[0].object) is not metadata_only


async def test_names_with_colons_reach_their_object(client: Client) -> None:
    role = await client.get(CLUSTER_ROLE, "", "system:node")
    assert role["metadata"]["name"] == "system:node"


async def test_service_account_is_refused_with_the_rule(
    namespace: str, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}
    path = service_account_kubeconfig(rules=[rule])
    async with Client(Credentials.load({"KUBECONFIG": str(path)})) as client:
        assert client.credentials.namespace == namespace
        with pytest.raises(ForbiddenError) as caught:
            await client.merge_patch(CONFIG_MAP, namespace, "a", {}, subresource="status")
        assert caught.value.rule == (
            '{apiGroups: [""], resources: [configmaps/status], verbs: [patch]}'
        )


async def test_raw_exchange_passes_codes_and_bodies_as_they_are(
    client: Client, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    async with client.request_raw("GET", f"{path}/missing?pretty=true") as answer:
        assert answer.status == 404
        assert b'"kind": "Status"' in await answer.read()
    body = b'{"metadata":{"name":"raw"}}'
    headers = {"Content-Type": "application/json"}
    async with client.request_raw("POST", path, headers=headers, body=body) as answer:
        assert answer.status == 201
