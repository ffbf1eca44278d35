"""A run that hangs ends when a person says so, and does not come back by itself."""

from __future__ import annotations

import asyncio
import json

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.testing import ScriptedRun, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.e2e.kinds import CONFIG_MAP, condition, cr
from tests.e2e.wanted_kinds import HEAP, edited

pytestmark = pytest.mark.usefixtures("wanted")


async def hangs(run: ScriptedRun) -> None:
    name = f"{run.name}-before"
    async with run.task("make what changes later") as task:
        metadata = {"name": name, "namespace": run.namespace}
        await task.present({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    async with run.task("wait for ever"):
        if run.spec.get("hangs"):
            await asyncio.Event().wait()


async def test_hanging_run_is_stopped_by_a_person_and_the_next_one_is_that_of_an_edit(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine({"Heap": hangs}, "--dependents-delay=0")
    await api.create(HEAP, cr(HEAP, namespace, hangs=True))

    async def state() -> Json:
        said = await engine.command("status", "heap/x", "-n", namespace, "-o", "json")
        found: Json = json.loads(said)["crs"][0]
        return found

    running = await eventually_async(state, lambda found: found["task"] == "wait for ever")
    place = ("heap/x", "-n", namespace)
    refused = await engine.command("stop", *place, "--run", "x", code=1)
    assert f"the current one is {running['run']}" in refused
    said = await engine.command("stop", *place, "--run", running["run"][:6], "-o", "json")
    assert json.loads(said)["run"] == running["run"]

    found = await eventually_async(
        lambda: api.get(HEAP, namespace, "x"),
        lambda found: condition(found, "Running").get("reason") == "Cancelled",
    )
    message = condition(found, "Running")["message"]
    assert message.startswith(f"Run {running['run']} was stopped: ")
    assert message.endswith(" asked for it")
    (run,) = json.loads(await engine.command("runs", *place, "-o", "json"))["runs"]
    assert (run["outcome"], run["reason"]) == ("cancelled", message.partition(": ")[2])
    assert "no run of Heap" in await engine.command("stop", *place, code=1)

    # A change of a dependent begins no run, which would hang again; an edit does.
    await api.merge_patch(CONFIG_MAP, namespace, "x-before", {"data": {"word": "changed"}})
    assert (await state())["state"] != "running"
    await edited(api, HEAP, namespace, hangs=False)
    assert [each["outcome"] for each in engine.runs_on_disk()] == ["cancelled", "succeeded"]
