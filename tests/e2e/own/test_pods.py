"""What becomes of a PodSet's pods when they are changed by others, and when the template changes."""

from __future__ import annotations

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.own.cases import POD
from tests.e2e.own.world import POD_SET, create, make, pod_spec, wait, wait_settled

pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.nightly]

OWNER = "apps.rolecall.dev/podset"


async def test_pods_that_a_webhook_changed_stay_and_those_of_another_template_are_replaced(
    api: Client, namespace: str
) -> None:
    strategy = {"type": "RollingUpdate", "minReadySeconds": 0}
    spec = {"replicas": 2, "strategy": strategy, "template": {"spec": pod_spec()}}
    crs = [make(POD_SET, namespace, "x", spec)]
    await create(api, crs)
    await wait_settled(api, crs)
    before = await _uids(api, namespace)

    # As a webhook would have it; the label brings a run that could find fault with the image.
    container = (await api.get(POD, namespace, "x-0"))["spec"]["containers"][0]
    mutated = {"containers": [{**container, "image": "mirror.example.com/app:1.0"}]}
    change: Json = {"metadata": {"labels": {OWNER: None}}, "spec": mutated}
    await api.merge_patch(POD, namespace, "x-0", change)

    async def is_marked() -> bool:
        return OWNER in (await api.get(POD, namespace, "x-0"))["metadata"]["labels"]

    await wait(is_marked)
    await wait_settled(api, crs)
    assert await _uids(api, namespace) == before
    image = (await api.get(POD, namespace, "x-0"))["spec"]["containers"][0]["image"]
    assert image == "mirror.example.com/app:1.0"

    image = "registry.example.com/app:2.0"
    template = {"spec": {"template": {"spec": pod_spec(image)}}}
    await api.merge_patch(POD_SET, namespace, "x", template)
    await wait_settled(api, crs)
    status = (await api.get(POD_SET, namespace, "x"))["status"]
    assert (status["replicas"], status["updatedReplicas"]) == (2, 2)
    assert set(before).isdisjoint(await _uids(api, namespace))


async def _uids(api: Client, namespace: str) -> list[str]:
    """Of the pods that the PodSet names."""
    status: Json = (await api.get(POD_SET, namespace, "x"))["status"]
    pods = [await api.get(POD, namespace, name) for name in status["podNames"]]
    return [pod["metadata"]["uid"] for pod in pods]
