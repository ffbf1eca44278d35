"""A project as `operator-sdk init --plugins=ansible` lays it out, run unchanged."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, NotFoundError
from tests.e2e.conftest import MEMCACHED_CRD, StartEngine
from tests.e2e.engine import PATIENCE_S, PROJECT
from tests.e2e.kinds import CONFIG_MAP, condition, cr, is_gone, is_successful
from tests.e2e.shared import SharedEngine
from tests.e2e.wanted_kinds import settled
from tests.fixtures.eventually import eventually_async

MEMCACHED = Gvk("cache.example.com", "v1alpha1", "Memcached")
DEPLOYMENT = Gvk("apps", "v1", "Deployment")
SETTINGS = "x-settings"
SHARED_ENGINE = (PROJECT,)
KINDS = [MEMCACHED_CRD]

pytestmark = pytest.mark.usefixtures("memcached")


async def first_success(api: Client, created: Json) -> Json:
    """The CR as its first success left it.

    The Deployment's controller writes its revision there, which brings a second run; read later, the
    status may report that one.
    """
    metadata = created["metadata"]
    version = metadata["resourceVersion"]
    async with asyncio.timeout(PATIENCE_S):
        events = api.watch(MEMCACHED, metadata["namespace"], resource_version=version)
        async with aclosing(events):
            async for event in events:
                if event.type == "MODIFIED" and is_successful(event.object):
                    return event.object
    raise AssertionError("the watch ended before the CR succeeded")


async def eventually_get(api: Client, gvk: Gvk, namespace: str, name: str, is_right: Any) -> Json:
    return await eventually_async(
        lambda: api.get(gvk, namespace, name),
        is_right,
        timeout_s=PATIENCE_S,
        ignoring=(NotFoundError, LookupError),
    )


@pytest.mark.parametrize("way", ["stock", "warm"])
async def test_new_cr_gets_its_objects_and_exactly_the_known_conditions(
    api: Client, namespace: str, start_engine: StartEngine, way: str
) -> None:
    engine = start_engine(PROJECT, f"--runner={way}").wait_ready()
    created = await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=2))
    done = await first_success(api, created)

    known = [one for one in done["status"]["conditions"] if one["type"] != "Ready"]
    for one in known:
        assert one.pop("lastTransitionTime").endswith("Z")
    completion = known[0]["ansibleResult"].pop("completion")
    assert completion.endswith("+00:00")
    assert known == [
        {
            "type": "Running",
            "status": "True",
            "reason": "Successful",
            "message": "Awaiting next reconciliation",
            "ansibleResult": {"ok": 2, "changed": 2, "skipped": 1, "failures": 0},
        },
        {
            "type": "Successful",
            "status": "True",
            "reason": "Successful",
            "message": "Last reconciliation succeeded",
        },
        {"type": "Failure", "status": "False", "reason": "", "message": ""},
    ]
    owner = {
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "name": "x",
        "uid": done["metadata"]["uid"],
    }
    for gvk, name in ((DEPLOYMENT, "x-memcached"), (CONFIG_MAP, SETTINGS)):
        made = await api.get(gvk, namespace, name)
        assert made["metadata"]["ownerReferences"] == [owner]
    assert done["metadata"]["finalizers"] == ["cache.example.com/finalizer"]
    assert set(done["metadata"].get("annotations", {})) == set()
    assert engine.runs() == engine.runs(way=way) >= 1
    assert "Ansible-runner exited successfully" in engine.log
    assert "failed=0" in engine.play_output


@pytest.mark.nightly
@pytest.mark.fast
@pytest.mark.usefixtures("shared_engine")
async def test_drift_of_a_dependent_is_repaired(api: Client, namespace: str) -> None:
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await settled(api, MEMCACHED, namespace)

    await api.delete(CONFIG_MAP, namespace, SETTINGS)
    await eventually_get(api, CONFIG_MAP, namespace, SETTINGS, bool)

    await api.merge_patch(CONFIG_MAP, namespace, SETTINGS, {"data": {"size": "wrong"}})
    await eventually_get(
        api, CONFIG_MAP, namespace, SETTINGS, lambda made: made["data"]["size"] == "1"
    )


@pytest.mark.fast
@pytest.mark.usefixtures("shared_engine")
async def test_edit_of_the_spec_is_carried_out(api: Client, namespace: str) -> None:
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await settled(api, MEMCACHED, namespace)
    await api.merge_patch(MEMCACHED, namespace, "x", {"spec": {"size": 3}})
    await settled(api, MEMCACHED, namespace)
    made = await api.get(DEPLOYMENT, namespace, "x-memcached")
    assert made["spec"]["replicas"] == 3


@pytest.mark.fast
async def test_finalizer_play_runs_before_the_cr_goes(
    api: Client, namespace: str, shared_engine: SharedEngine
) -> None:
    # Not made by the play, so it does not go with its owner.
    await api.create(CONFIG_MAP, {"metadata": {"name": "farewell", "namespace": namespace}})
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await settled(api, MEMCACHED, namespace)
    folder = (
        shared_engine.artifacts / "cache.example.com" / "v1alpha1" / "Memcached" / namespace / "x"
    )
    assert folder.is_dir()

    await api.delete(MEMCACHED, namespace, "x")

    await eventually_async(lambda: is_gone(api, MEMCACHED, namespace, "x"), timeout_s=PATIENCE_S)
    farewell = await api.get(CONFIG_MAP, namespace, "farewell")
    assert farewell["data"] == {"name": "x", "size": "1"}
    await eventually_async(lambda: not folder.exists())


@pytest.mark.usefixtures("shared_engine")
async def test_failure_names_task_and_place_and_recovery_clears_it(
    api: Client, namespace: str
) -> None:
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size="many"))
    failed = await eventually_async(
        lambda: api.get(MEMCACHED, namespace, "x"),
        lambda cr: condition(cr, "Failure").get("status") == "True",
        timeout_s=PATIENCE_S,
    )
    failure = condition(failed, "Failure")
    assert failure["reason"] == "Failed"
    assert "task `start memcached`, roles/memcached/tasks/main.yml:3" in failure["message"]
    assert condition(failed, "Successful")["status"] == "False"

    await api.merge_patch(MEMCACHED, namespace, "x", {"spec": {"size": 1}})
    recovered = await settled(api, MEMCACHED, namespace)
    assert condition(recovered, "Failure")["status"] == "False"
