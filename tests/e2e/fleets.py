"""A kind with three versions, of which the middle one is stored: its CRD, its objects, its engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.fixtures.crds import CRD
from tests.fixtures.eventually import eventually_async

VERSIONS = Path(__file__).parent / "versions"
GROUP = "versions.rolecall.dev"
ALPHA, BETA, ONE = (Gvk(GROUP, version, "Fleet") for version in ("v1alpha1", "v1beta1", "v1"))
NAME = f"fleets.{GROUP}"
FLAGS = ("--webhook-bind-address=127.0.0.1:0", "--webhook-period=1s")
SPECS: dict[Gvk, Json] = {
    ALPHA: {"size": 3, "image": "registry:5000/app:1.0", "env": {"A": "1"}, "note": "mine"},
    BETA: {
        "replicas": 3,
        "image": {"repository": "registry:5000/app", "tag": "1.0"},
        "env": [{"name": "A", "value": "1"}],
        "note": "mine",
    },
    ONE: {
        "replicas": 3,
        "image": {"repository": "registry:5000/app", "tag": "1.0"},
        "env": [{"name": "A", "value": "1"}],
        "description": "mine",
        "strategy": "RollingUpdate",
    },
}


def crd() -> Json:
    definition: Json = yaml.safe_load((VERSIONS / "crd.yaml").read_text())
    return definition


def fleet(gvk: Gvk, namespace: str, name: str = "x", /, **more: Any) -> Json:
    """The same one at any version."""
    metadata = {"name": name, "namespace": namespace}
    spec = {**SPECS[gvk], **more}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, "spec": spec}


def flags(namespace: str) -> list[str]:
    """Of an engine that keeps its certificate in the test's namespace."""
    return [*FLAGS, f"--leader-election-namespace={namespace}"]


async def reported(api: Client, namespace: str) -> Json:
    """What the CRD says, once an engine has registered itself there, and the API server goes by it."""

    async def conversion() -> Json:
        found: Json = (await api.get(CRD, "", NAME))["spec"]["conversion"]
        return found

    found = await eventually_async(conversion, lambda found: found["strategy"] == "Webhook")
    for gvk in (ALPHA, BETA, ONE):
        cached = f"{path(gvk, namespace)}?resourceVersion=0&watch=true&timeoutSeconds=1"

        async def is_watchable(cached: str = cached) -> bool:
            async with api.request_raw("GET", cached) as answer:
                return answer.status == 200

        await eventually_async(is_watchable)
    return found


async def delete_kind(api: Client) -> None:
    """While an engine still answers: else the API server could not delete the objects."""
    await api.delete(CRD, "", NAME)

    async def is_gone() -> bool:
        return all(each["metadata"]["name"] != NAME for each in await api.list_all(CRD))

    await eventually_async(is_gone)


def path(gvk: Gvk, namespace: str, name: str = "") -> str:
    return f"/apis/{gvk.api_version}/namespaces/{namespace}/fleets/{name}".rstrip("/")
