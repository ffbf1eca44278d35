"""What runs cost is kept through restarts, and longer than the artifacts of the runs."""

from __future__ import annotations

import json

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.testing import EngineInProcess, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.memcacheds import PLAYS, resized
from tests.e2e.engine import PROJECT
from tests.e2e.kinds import cr
from tests.e2e.skipping import MEMCACHED
from tests.e2e.wanted_kinds import settled

pytestmark = pytest.mark.usefixtures("memcached")
MOST_ARTIFACTS = "ansible.sdk.operatorframework.io/max-runner-artifacts"


async def usage(engine: EngineInProcess, by: str = "cr") -> Json:
    found: Json = json.loads(await engine.command("usage", "--by", by, "-o", "json"))
    return found


async def test_usage_outlives_restart_and_rotation(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    body = cr(MEMCACHED, namespace, size=1)
    body["metadata"]["annotations"] = {MOST_ARTIFACTS: "1"}
    first = await start_engine(PLAYS, "--dependents-delay=0", project=PROJECT)
    await api.create(MEMCACHED, body)
    await settled(api, MEMCACHED, namespace)
    for size in (2, 3):
        await resized(api, namespace, size)
    runs = await first.runs("Memcached")
    assert runs >= 3
    labels = {"namespace": namespace, "kind": "Memcached"}
    await eventually_async(
        lambda: first.metric("rolecall_used_runs_total", **labels), lambda count: count >= runs
    )
    assert await first.metric("rolecall_run_requests_total", **labels) >= 2 * runs
    assert await first.metric("rolecall_owned_objects", **labels) == 2
    await first.stop()

    (kept,) = (await usage(first))["rows"]
    assert kept["name"] == "x" and kept["namespace"] == namespace
    assert kept["runs"] >= runs
    assert kept["objects"] == 2
    assert len(first.runs_on_disk()) < runs, "rotation removed none"

    second = await start_engine(PLAYS, project=PROJECT, artifacts=first.artifacts)
    await eventually_async(
        lambda: second.runs("Memcached", result="succeeded"), lambda count: count >= 1
    )
    await second.stop()
    (after,) = (await usage(second))["rows"]
    assert after["runs"] == kept["runs"] + second.log.count("run finished")
    assert (await usage(second, by="namespace"))["total"]["runs"] == after["runs"]
