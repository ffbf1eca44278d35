"""Whatever way a play creates an object, it gets its owner, once."""

from __future__ import annotations

import pytest

from rolecall.json_object import Json
from tests.apiserver.proxy.conftest import CONFIG_MAP, Run, RunningProxy, config_map, reference_to


def owners(made: Json) -> list[Json]:
    found: list[Json] = made["metadata"].get("ownerReferences", [])
    return found


@pytest.mark.fast
async def test_created_from_a_manifest(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    ended = await run.kubectl("create", "-f", "-", stdin=config_map(namespace))
    assert ended.code == 0, ended.stderr
    assert owners(running_proxy.get(namespace, "made")) == [reference_to(cr)]
    assert (CONFIG_MAP, CONFIG_MAP, False, namespace) in running_proxy.notes.dependents


@pytest.mark.fast
async def test_created_imperatively_in_protobuf(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    ended = await run.kubectl(
        "create", "configmap", "made", "--from-literal=a=b", "-n", namespace, "-v=8"
    )
    assert ended.code == 0, ended.stderr
    made = running_proxy.get(namespace, "made")
    assert owners(made) == [reference_to(cr)]
    assert made["data"] == {"a": "b"}
    assert "application/vnd.kubernetes.protobuf" in ended.stderr


@pytest.mark.parametrize(
    "way", [["apply"], ["apply", "--server-side"], ["create", "--save-config"]]
)
async def test_applied(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str, way: list[str]
) -> None:
    for value in ("1", "2"):
        command = way if value == "1" or way[0] == "apply" else ["replace"]
        ended = await run.kubectl(*command, "-f", "-", stdin=config_map(namespace, value=value))
        assert ended.code == 0, ended.stderr
    made = running_proxy.get(namespace, "made")
    assert owners(made) == [reference_to(cr)]
    assert made["data"] == {"value": "2"}


async def test_applied_as_yaml_keeps_every_text(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    manifest = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made\n"
        "data:\n  when: 2026-11-21\n  ports: 22:22\n  text: |\n    a\n    b\n"
    )
    path = f"/api/v1/namespaces/{namespace}/configmaps/made?fieldManager=play"
    headers = {"Content-Type": "application/apply-patch+yaml"}
    async with run.request("PATCH", path, data=manifest, headers=headers) as response:
        assert response.status == 201, await response.text()
    made = running_proxy.get(namespace, "made")
    assert owners(made) == [reference_to(cr)]
    assert made["data"] == {"when": "2026-11-21", "ports": "22:22", "text": "a\nb\n"}


async def test_put_that_creates(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles/made"
    body = {"metadata": {"name": "made", "namespace": namespace}, "rules": []}
    for code in (201, 200):
        async with run.request("PUT", path, json=body) as response:
            assert response.status == code, await response.text()
            assert owners(await response.json()) == [reference_to(cr)]


async def test_generated_name(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    body = {"metadata": {"generateName": "made-"}}
    async with run.request(
        "POST", f"/api/v1/namespaces/{namespace}/configmaps", json=body
    ) as response:
        made = await response.json()
    assert made["metadata"]["name"].startswith("made-")
    assert owners(made) == [reference_to(cr)]


@pytest.mark.parametrize(
    "path",
    ["/api/v1/namespaces%2F{}%2Fconfigmaps", "/api/v1/namespaces/{}%2Fconfigmaps"],
)
async def test_slashes_may_be_encoded(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str, path: str
) -> None:
    async with run.request("POST", path.format(namespace), json=config_map(namespace)) as response:
        assert response.status == 201
    assert owners(running_proxy.get(namespace, "made")) == [reference_to(cr)]


async def test_owner_that_the_play_wrote_itself_stays_the_only_one(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    mine = {**reference_to(cr), "controller": True}
    body = config_map(namespace)
    body["metadata"]["ownerReferences"] = [mine]
    await run.kubectl("create", "-f", "-", stdin=body)
    assert owners(running_proxy.get(namespace, "made")) == [mine]


async def test_dry_run_reports_no_dependent(
    running_proxy: RunningProxy, run: Run, namespace: str
) -> None:
    ended = await run.kubectl(
        "create", "-f", "-", "--dry-run=server", "-o", "json", stdin=config_map(namespace)
    )
    assert owners(ended.object)
    assert running_proxy.notes.dependents == []
    assert running_proxy.notes.own_writes == []


async def test_access_review_is_left_alone(run: Run) -> None:
    ended = await run.kubectl("auth", "can-i", "create", "pods")
    assert ended.stdout == "yes\n", ended.stderr


async def test_other_namespace_is_tied_by_annotations(
    running_proxy: RunningProxy, run: Run, cr: Json, namespace: str
) -> None:
    made = (
        await run.kubectl("create", "-f", "-", "-o", "json", stdin=config_map("default", namespace))
    ).object
    try:
        assert owners(made) == []
        assert made["metadata"]["annotations"] == {
            "operator-sdk/primary-resource": f"{namespace}/owner",
            "operator-sdk/primary-resource-type": "ConfigMap",
        }
        assert (CONFIG_MAP, CONFIG_MAP, True, "default") in running_proxy.notes.dependents
    finally:
        await run.kubectl("delete", "configmap", namespace, "-n", "default")
