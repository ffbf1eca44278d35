"""What exists already is used as it is: never adopted, never un-owned."""

from __future__ import annotations

import json

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client, Credentials
from tests.apiserver.proxy.conftest import Run, RunningProxy, config_map, reference_to

APPLY = ("apply", "--server-side", "--force-conflicts", "-f", "-")


def owners(running_proxy: RunningProxy, namespace: str) -> list[Json]:
    found: list[Json] = running_proxy.get(namespace, "made")["metadata"].get("ownerReferences", [])
    return found


@pytest.mark.parametrize("command", [APPLY, ("replace", "-f", "-"), ("apply", "-f", "-")])
async def test_object_of_another_client_gets_no_owner(
    running_proxy: RunningProxy, run: Run, namespace: str, command: tuple[str, ...]
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    running_proxy.cluster.api.create(path, config_map(namespace))
    ended = await run.kubectl(*command, stdin=config_map(namespace, key="value"))
    assert ended.code == 0, ended.stderr
    assert running_proxy.get(namespace, "made")["data"] == {"key": "value"}
    assert owners(running_proxy, namespace) == []
    assert running_proxy.notes.dependents == []


async def test_object_shared_by_two_crs_stays_with_the_first(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    second = running_proxy.owner_in(namespace, "second")
    async with running_proxy.run_for(second) as other:
        for play in (run, other, run, other):
            ended = await play.kubectl(*APPLY, stdin=config_map(namespace))
            assert ended.code == 0, ended.stderr
            assert owners(running_proxy, namespace) == [reference_to(cr)]


@pytest.mark.parametrize("is_applied", [True, False])
async def test_annotated_object_stays_annotated(
    running_proxy: RunningProxy, run: Run, namespace: str, is_applied: bool
) -> None:
    manifest = config_map("default", namespace)
    manifest["metadata"]["annotations"] = {"theirs": "stays"}
    commands = [APPLY, APPLY] if is_applied else [("create", "-f", "-"), ("replace", "-f", "-")]
    try:
        for command in commands:
            ended = await run.kubectl(*command, stdin=manifest)
            assert ended.code == 0, ended.stderr
        assert running_proxy.get("default", namespace)["metadata"]["annotations"] == {
            "operator-sdk/primary-resource": f"{namespace}/owner",
            "operator-sdk/primary-resource-type": "ConfigMap",
            "theirs": "stays",
        }
    finally:
        running_proxy.cluster.api.delete(f"/api/v1/namespaces/default/configmaps/{namespace}")


async def test_replace_that_speaks_of_owners_means_it(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
    assert owners(running_proxy, namespace) == [reference_to(cr)]
    body = config_map(namespace)
    body["metadata"]["ownerReferences"] = []
    path = f"/api/v1/namespaces/{namespace}/configmaps/made"
    async with run.request("PUT", path, json=body) as response:
        assert response.status == 200
    assert owners(running_proxy, namespace) == []


async def test_refusals_of_the_api_server_come_unchanged(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    direct = await _refusals(running_proxy, run, namespace, is_direct=True)
    assert await _refusals(running_proxy, run, namespace, is_direct=False) == direct
    assert [code for code, _ in direct] == [400, 404, 409, 422]


async def _refusals(
    running_proxy: RunningProxy, run: Run, namespace: str, *, is_direct: bool
) -> list[tuple[int, Json]]:
    """A body that is no JSON, a kind and a name that are not there, two that are wrong."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    if is_direct:
        running_proxy.cluster.api.create(path, config_map(namespace))
    asked = [
        (path, "{"),
        (
            f"/api/v1/namespaces/{namespace}-gone/configmaps",
            json.dumps(config_map(f"{namespace}-gone")),
        ),
        (path, json.dumps(config_map(namespace))),
        (path, json.dumps(config_map(namespace, "Not A Name"))),
    ]
    answers = []
    for url, body in asked:
        if is_direct:
            answers.append(await _admin_post(running_proxy, url, body))
            continue
        headers = {"Content-Type": "application/json"}
        async with run.request("POST", url, data=body, headers=headers) as response:
            answers.append((response.status, await response.json()))
    return answers


async def _admin_post(running_proxy: RunningProxy, path: str, body: str) -> tuple[int, Json]:
    """The same without a proxy between."""
    credentials = Credentials.load({"KUBECONFIG": str(running_proxy.cluster.kubeconfig)})
    headers = {"Content-Type": "application/json"}
    async with (
        Client(credentials) as client,
        client.request_raw("POST", path, headers=headers, body=body.encode()) as response,
    ):
        return response.status, await response.json()
