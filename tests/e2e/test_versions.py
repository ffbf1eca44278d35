"""A kind with three versions on a real API server, which asks the engine to convert."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ApiError, Client
from rolecall_dev.localcluster import Binaries, Cluster
from tests.apiserver.kubectl import Kubectl
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import EngineProcess
from tests.e2e.fleets import (
    ALPHA,
    BETA,
    ONE,
    SPECS,
    VERSIONS,
    crd,
    delete_kind,
    flags,
    fleet,
    path,
    reported,
)
from tests.fixtures.crds import install
from tests.fixtures.eventually import eventually_async

CONVERTED = "rolecall_converted_objects_total"
EVERY = (ALPHA, BETA, ONE)


@pytest.fixture
async def engine(
    api: Client, start_engine: StartEngine, namespace: str
) -> AsyncIterator[EngineProcess]:
    """One that serves conversions; its own watch is of another namespace."""
    await install(api, crd())
    engine = start_engine(VERSIONS, *flags(namespace), namespaces="default").wait_ready()
    await reported(api, namespace)
    yield engine
    await delete_kind(api)


def as_people_see_it(found: Json) -> Json:
    return {"apiVersion": found["apiVersion"], "spec": found["spec"]}


async def test_what_is_created_at_each_version_is_read_and_watched_at_each(
    api: Client, engine: EngineProcess, namespace: str
) -> None:
    for made in EVERY:
        listed = await api.read_path(path(made, namespace))
        since = listed["metadata"]["resourceVersion"]
        streams = {gvk: seen_on(api, gvk, namespace, since) for gvk in EVERY}
        seen = {gvk: asyncio.create_task(stream) for gvk, stream in streams.items()}
        await api.create(made, fleet(made, namespace, made.version))
        for gvk in EVERY:
            wanted = {"apiVersion": gvk.api_version, "spec": SPECS[gvk]}
            assert as_people_see_it(await api.get(gvk, namespace, made.version)) == wanted
            async with asyncio.timeout(30):
                assert as_people_see_it(await seen[gvk]) == wanted
    success = {"kind": f"Fleet.{ONE.group}", "result": "success"}
    assert engine.metric(CONVERTED, **success) > 0
    assert engine.metric("rolecall_conversion_seconds_count", result="failure") == 0
    assert "[+]webhooks ok\n" in engine.ask("probes", "/readyz?verbose")[1]


async def seen_on(api: Client, gvk: Gvk, namespace: str, since: str) -> Json:
    """The first object that a watch brings."""
    async with aclosing(api.watch(gvk, namespace, resource_version=since)) as events:
        async for event in events:
            if event.type == "ADDED":
                return event.object
    raise AssertionError("the stream ended")


@pytest.mark.nightly
@pytest.mark.usefixtures("engine")
async def test_appliers_at_two_versions_keep_their_fields(
    api: Client, cluster: Cluster, binaries: Binaries, namespace: str
) -> None:
    kubectl = Kubectl(binaries, cluster)

    def apply(body: Json, manager: str) -> None:
        kubectl(
            "apply",
            "--server-side",
            f"--field-manager={manager}",
            "--filename=-",
            stdin=json.dumps(body),
        )

    old, new = fleet(ALPHA, namespace), fleet(ONE, namespace)
    old["spec"], new["spec"] = {"size": 2, "note": "old"}, {"env": [{"name": "A", "value": "1"}]}
    apply(old, "old")
    apply(new, "new")
    old["spec"] = {"size": 4}
    apply(old, "old")
    found = await api.get(ONE, namespace, "x")
    assert found["spec"]["replicas"] == 4
    assert found["spec"]["env"] == [{"name": "A", "value": "1"}]
    assert "description" not in found["spec"], "what its manager applies no more is gone"
    managers = {each["manager"]: each["apiVersion"] for each in found["metadata"]["managedFields"]}
    assert managers == {"old": ALPHA.api_version, "new": ONE.api_version}


@pytest.mark.nightly
@pytest.mark.usefixtures("engine")
async def test_status_and_scale_are_written_at_one_version_and_read_at_another(
    api: Client, cluster: Cluster, binaries: Binaries, namespace: str
) -> None:
    await api.create(ALPHA, fleet(ALPHA, namespace))
    kubectl = Kubectl(binaries, cluster)
    kubectl("scale", f"fleets.v1.{ONE.group}/x", "--replicas=7", f"--namespace={namespace}")
    await api.merge_patch(ONE, namespace, "x", {"status": {"replicas": 6}}, subresource="status")
    found = await api.get(ALPHA, namespace, "x")
    assert (found["spec"]["size"], found["status"]["size"]) == (7, 6)
    scale = await api.read_path(f"{path(ALPHA, namespace, 'x')}/scale")
    assert (scale["spec"]["replicas"], scale["status"]["replicas"]) == (7, 6)


@pytest.mark.nightly
async def test_object_of_a_megabyte_and_a_thousand_objects_are_read_at_another_version(
    api: Client, engine: EngineProcess, namespace: str
) -> None:
    env = {f"NAME_{number}": "x" * 1000 for number in range(1000)}
    await api.create(ALPHA, fleet(ALPHA, namespace, env=env))
    large = await api.get(ONE, namespace, "x")
    assert {each["name"]: each["value"] for each in large["spec"]["env"]} == env

    async def many(first: int) -> None:
        for number in range(first, 1000, 8):
            await api.create(BETA, fleet(BETA, namespace, f"many-{number}"))

    await asyncio.gather(*(many(first) for first in range(8)))
    items = (await api.read_path(path(ALPHA, namespace)))["items"]
    assert len([each for each in items if "size" in each["spec"]]) == 1001
    assert engine.metric(CONVERTED) >= 1001
    assert engine.metric(CONVERTED, result="failure") == 0

    code, text = engine.ask("webhooks", "/convert", body=review(items), scheme="https")
    response = json.loads(text)["response"]
    assert (code, response["result"]) == (200, {"status": "Success"})
    assert {each["spec"]["replicas"] for each in response["convertedObjects"]} == {3}


def review(items: list[Json]) -> bytes:
    """As an API server may send it, though the one of today sends an object at a time."""
    request = {"uid": "x", "desiredAPIVersion": ONE.api_version, "objects": items}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
    return json.dumps({**kind, "request": request}).encode()


@pytest.mark.nightly
async def test_api_server_reports_the_failed_webhook_while_no_engine_runs(
    api: Client, engine: EngineProcess, namespace: str, start_engine: StartEngine
) -> None:
    await api.create(ALPHA, fleet(ALPHA, namespace))
    assert engine.stop() == 0
    assert "spec" in await api.get(BETA, namespace, "x"), (
        "at the stored version no webhook is asked"
    )
    with pytest.raises(ApiError, match=r"conversion webhook for .*Fleet failed.*refused"):
        await api.get(ONE, namespace, "x")
    start_engine(VERSIONS, *flags(namespace), namespaces="default").wait_ready()

    async def is_back() -> Json:
        return await api.get(ONE, namespace, "x")

    await eventually_async(is_back, ignoring=(ApiError,))
