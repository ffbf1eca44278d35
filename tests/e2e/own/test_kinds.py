"""Each kind of this repository through its whole life, by the engine as a process.

Prints a row a kind with the seconds that each step took, measured from the request to the state of the
world that a user waits for.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.kube import Client, NotFoundError, UnprocessableError
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, ROOT
from tests.e2e.kinds import install
from tests.e2e.own.cases import CASES, Case
from tests.fixtures.eventually import eventually_async

Json = dict[str, Any]
_NOT_YET = (AssertionError, LookupError, NotFoundError)


class Life:
    """One CR and the time that its steps took."""

    def __init__(self, api: Client, case: Case, namespace: str) -> None:
        self.api, self.case, self.namespace = api, case, namespace
        self.seconds: dict[str, float] = {}

    async def cr(self) -> Json:
        return await self.api.get(self.case.gvk, self.namespace, self.case.name)

    async def dependent(self) -> Json:
        case = self.case
        return await self.api.get(case.dependent, self.namespace, case.dependent_name)

    async def step(self, name: str, done: Callable[[], Awaitable[object]]) -> None:
        began = time.monotonic()
        await eventually_async(done, timeout_s=PATIENCE_S, ignoring=_NOT_YET)
        self.seconds[name] = time.monotonic() - began

    async def is_settled(self) -> bool:
        cr = await self.cr()
        ready = next(one for one in cr["status"]["conditions"] if one["type"] == "Ready")
        is_done = ready["status"] == "True" or ready["reason"] == self.case.reason
        return bool(is_done and cr["status"]["observedGeneration"] == cr["metadata"]["generation"])

    async def is_edited(self) -> bool:
        return await self.is_settled() and self.case.is_edited(
            await self.dependent(), await self.cr()
        )

    async def is_gone(self) -> bool:
        for read in (self.cr, self.dependent):
            try:
                await read()
            except NotFoundError:
                continue
            return False
        return True


async def _kinds(api: Client) -> None:
    for file in sorted((ROOT / "crds").glob("*s.yaml")):
        await install(api, yaml.safe_load(file.read_text()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sample)
async def test_kind_lives_through_create_edit_damage_bad_spec_and_delete(
    api: Client, namespace: str, start_engine: StartEngine, case: Case
) -> None:
    await _kinds(api)
    start_engine(ROOT).wait_ready()
    life = Life(api, case, namespace)

    cr = case.cr
    cr["metadata"]["namespace"] = namespace
    await api.create(case.gvk, cr)
    await life.step("create", life.is_settled)
    await api.merge_patch(case.gvk, namespace, case.name, {"spec": case.edit})
    await life.step("edit", life.is_edited)
    await _mends_damage(life)
    await _mends_loss(life)
    with pytest.raises(UnprocessableError, match=case.refusal):
        await api.merge_patch(case.gvk, namespace, case.name, {"spec": case.wrong})
    await api.delete(case.gvk, namespace, case.name)
    await life.step("delete", life.is_gone)
    cells = ", ".join(f"{step} {seconds:.2f} s" for step, seconds in life.seconds.items())
    print(f"{case.gvk.kind}: {cells}")


async def _mends_damage(life: Life) -> None:
    case = life.case
    damage = case.damage(await life.dependent())
    await life.api.merge_patch(case.dependent, life.namespace, case.dependent_name, damage)

    async def is_mended() -> bool:
        return case.is_whole(await life.dependent()) and await life.is_settled()

    await life.step("dependent edited", is_mended)


async def _mends_loss(life: Life) -> None:
    case = life.case
    lost = (await life.dependent())["metadata"]["uid"]
    await life.api.delete(case.dependent, life.namespace, case.dependent_name)

    async def is_replaced() -> bool:
        found = (await life.dependent())["metadata"]
        return found["uid"] != lost and "deletionTimestamp" not in found and await life.is_settled()

    await life.step("dependent deleted", is_replaced)


OPERATION = Gvk("compute.rolecall.dev", "v1alpha1", "MachineOperation")
MACHINE = Gvk("compute.rolecall.dev", "v1alpha1", "Machine")
POD = Gvk("", "v1", "Pod")
CLAIM = Gvk("", "v1", "PersistentVolumeClaim")


async def test_rebuild_replaces_pod_and_disk_after_the_reboot_before_it_ended(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await _kinds(api)
    start_engine(ROOT).wait_ready()
    spec = {"image": "registry.example.com/machine:1.0"}
    await api.create(MACHINE, _object(MACHINE, namespace, "box", spec))
    before = await eventually_async(
        lambda: _uids(api, namespace), timeout_s=PATIENCE_S, ignoring=_NOT_YET
    )

    for name, kind in (("one", "Reboot"), ("two", "Rebuild")):
        body = _object(OPERATION, namespace, name, {"machine": "box", "type": kind})
        await api.create(OPERATION, body)
    history = await eventually_async(
        lambda: _history(api, namespace), lambda rows: len(rows) == 2, timeout_s=PATIENCE_S * 2
    )
    after = await eventually_async(
        lambda: _uids(api, namespace), timeout_s=PATIENCE_S, ignoring=_NOT_YET
    )

    assert [(row["type"], row["phase"]) for row in history] == [
        ("Rebuild", "Succeeded"),
        ("Reboot", "Succeeded"),
    ]
    assert history[0]["startTime"] >= history[1]["endTime"]
    assert before["pod"] != after["pod"]
    assert before["disk"] != after["disk"]


def _object(gvk: Gvk, namespace: str, name: str, spec: Json) -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, "spec": spec}


async def _uids(api: Client, namespace: str) -> dict[str, str]:
    pod = await api.get(POD, namespace, "box")
    disk = await api.get(CLAIM, namespace, "box-disk")
    assert pod["status"]["phase"] == "Running"
    return {"pod": pod["metadata"]["uid"], "disk": disk["metadata"]["uid"]}


async def _history(api: Client, namespace: str) -> list[Json]:
    machine = await api.get(MACHINE, namespace, "box")
    rows: list[Json] = machine.get("status", {}).get("operations", [])
    return rows
