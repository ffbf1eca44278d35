"""Reads pass through live; discovery comes from memory and is never missing what a play installed."""

from __future__ import annotations

import asyncio
import io
import json

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from tests.apiserver.proxy.conftest import Run, RunningProxy, config_map, reference_to
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually_async


async def test_watch_brings_events_as_they_happen(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    async with run.request("GET", path, params={"watch": "1"}) as response:
        first = json.loads(await response.content.readline())
        running_proxy.cluster.api.create(path, config_map(namespace))
        seen = first
        while seen["object"]["metadata"]["name"] != "made":
            seen = json.loads(await asyncio.wait_for(response.content.readline(), 30))
    assert seen["type"] == "ADDED"


async def test_kubectl_reads_waits_and_deletes(run: Run, namespace: str) -> None:
    await run.kubectl("create", "-f", "-", stdin=config_map(namespace, key="value"))
    read = await run.kubectl("get", "configmap", "made", "-n", namespace, "-o", "json")
    assert read.object["data"] == {"key": "value"}
    ended = await run.kubectl("delete", "configmap", "made", "-n", namespace, "--wait")
    assert ended.code == 0, ended.stderr
    gone = await run.kubectl("get", "configmap", "made", "-n", namespace)
    assert "NotFound" in gone.stderr


@pytest.mark.fast
async def test_what_was_just_written_is_read(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    async with run.request("POST", path, json=config_map(namespace)) as response:
        version = (await response.json())["metadata"]["resourceVersion"]
    async with run.request("GET", f"{path}/made") as response:
        assert (await response.json())["metadata"]["resourceVersion"] == version


@pytest.mark.parametrize("path", ["/version", "/apis", "/api/v1", "/readyz", "/openapi/v3"])
async def test_other_documents_are_the_api_servers(
    run: Run, running_proxy: RunningProxy, path: str
) -> None:
    async with run.request("GET", path) as response:
        assert response.status == 200
        body = await response.read()
    for _ in range(2):
        async with run.request("GET", path) as response:
            assert await response.read() == body


async def test_large_answer_passes_whole(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for number in range(3):
        body = config_map(namespace, f"large-{number}", text="x" * 900_000)
        async with run.request("POST", path, json=body) as response:
            assert response.status == 201
    async with run.request("GET", path) as response:
        found = await response.json()
    texts = [(item.get("data") or {}).get("text", "") for item in found["items"]]
    assert sum(map(len, texts)) == 2_700_000


async def test_body_above_the_api_servers_limit_is_refused(run: Run, namespace: str) -> None:
    body = io.BytesIO(json.dumps(config_map(namespace, text="x" * 3 * 1024**2)).encode())
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    async with run.request("POST", path, data=body) as response:
        assert response.status == 413
        assert (await response.json())["reason"] == "RequestEntityTooLarge"


async def test_kind_that_a_play_installs_is_seen_by_its_next_task(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    word = f"boat{namespace[-6:]}s"
    definition = crd_for(Gvk(f"{word}.example.com", "v1", "Boat"))
    try:
        assert (await run.kubectl("get", "configmaps")).code == 0
        made = await run.kubectl("apply", "--server-side", "-f", "-", stdin=definition)
        assert made.code == 0, made.stderr
        boat = {
            "apiVersion": f"{word}.example.com/v1",
            "kind": "Boat",
            "metadata": {"name": "made", "namespace": namespace},
        }
        await eventually_async(
            lambda: run.kubectl("create", "-f", "-", stdin=boat), lambda ended: ended.code == 0
        )
        path = f"/apis/{word}.example.com/v1/namespaces/{namespace}/boats/made"
        found = running_proxy.cluster.api.get(path)
        assert found["metadata"]["ownerReferences"] == [reference_to(cr)]
        assert any(note[1].kind == "Boat" for note in running_proxy.notes.dependents)
    finally:
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        running_proxy.cluster.api.delete(f"{definitions}/boats.{word}.example.com")
