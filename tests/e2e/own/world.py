"""What the tests of this folder do to CRs, and how they look at them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.reconcile import PAUSED_ANNOTATION
from tests.e2e.engine import PATIENCE_S
from tests.e2e.own.cases import CASES, Case
from tests.e2e.own.life import NOT_YET
from tests.fixtures.eventually import eventually_async

IMAGE = "registry.example.com/app:1.0"
PARTS = {"repository": "registry.example.com/app", "tag": "1.0"}  # of the same image
# An Appoperator whose pods count at once; the default of ten seconds is for those that may crash.
APP: Json = {"image": PARTS, "minReadySeconds": 0}
CASE = {case.sample: case for case in CASES}
APPOPERATOR, DEMO_VOLUME = CASE["appoperator"].gvk, CASE["demovolume"].gvk
ETCD, MACHINE = CASE["etcdcluster"].gvk, CASE["machine"].gvk
MAPPING, POD_SET = CASE["mapping"].gvk, CASE["podset"].gvk
OPERATION = Gvk("compute.rolecall.dev", "v1alpha1", "MachineOperation")


def make(gvk: Gvk, namespace: str, name: str, spec: Json) -> Json:
    """An object."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, "spec": spec}


def pod_spec(image: str = IMAGE) -> Json:
    """Of a pod with one container."""
    return {"containers": [{"name": "app", "image": image}]}


async def create(api: Client, crs: Sequence[Json]) -> None:
    """Create them, without waiting for what becomes of them."""
    for cr in crs:
        await api.create(Gvk.parse(cr["apiVersion"], cr["kind"]), cr)


async def create_sample(api: Client, case: Case, namespace: str, name: str = "") -> None:
    """Create a kind's sample and wait until it is settled."""
    cr = case.cr
    cr["metadata"] = {"name": name or case.name, "namespace": namespace}
    if "match" in cr["spec"]:  # two of one prefix report that they collide
        cr["spec"]["match"]["prefix"] = f"/{namespace}/{name or case.name}/"
    await create(api, [cr])
    await wait_settled(api, [cr], case.reason)


async def wait(look: Callable[[], Awaitable[object]]) -> Any:
    """Wait until it is true."""
    return await eventually_async(look, timeout_s=PATIENCE_S, ignoring=NOT_YET)


async def wait_settled(api: Client, crs: Sequence[Json], reason: str = "") -> None:
    """Wait until each is ready, or has this reason not to be."""
    for cr in crs:
        gvk, metadata = Gvk.parse(cr["apiVersion"], cr["kind"]), cr["metadata"]

        async def is_settled(gvk: Gvk = gvk, metadata: Json = metadata) -> bool:
            found = await _ready(api, gvk, metadata["namespace"], metadata["name"])
            return bool(found["status"] == "True" or found["reason"] == reason)

        await wait(is_settled)


async def wait_reason(api: Client, gvk: Gvk, namespace: str, name: str, reason: str) -> Json:
    """Its `Ready`, once that has this reason."""

    async def has_reason() -> Json:
        found = await _ready(api, gvk, namespace, name)
        assert found["reason"] == reason
        return found

    found: Json = await wait(has_reason)
    return found


async def resume(api: Client, gvk: Gvk, namespace: str, name: str) -> None:
    """Take the pause away, without waiting for the run that follows."""
    await api.merge_patch(
        gvk, namespace, name, {"metadata": {"annotations": {PAUSED_ANNOTATION: None}}}
    )


async def _ready(api: Client, gvk: Gvk, namespace: str, name: str) -> Json:
    cr = await api.get(gvk, namespace, name)
    assert cr["status"]["observedGeneration"] == cr["metadata"]["generation"]
    found: Json = next(one for one in cr["status"]["conditions"] if one["type"] == "Ready")
    return found
