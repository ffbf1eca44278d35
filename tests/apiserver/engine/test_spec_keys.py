"""Keys of a spec that the CRD does not declare, as a real API server stores and declares them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.runner import SpecKeys
from rolecall.watches import Play, Watch
from rolecall_dev.testing import ScriptedRun, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.test_adoption import events_of
from tests.e2e.engine import PATIENCE_S
from tests.e2e.kinds import cr
from tests.fixtures.crds import ANYTHING, crd_for, install

MOVER = Gvk("speckeys.rolecall.dev", "v1", "Mover")
CLOSED = Gvk("speckeys.rolecall.dev", "v1", "ClosedMover")


def declaring(gvk: Gvk, **fields: Json) -> Json:
    crd = crd_for(gvk)
    is_open = ANYTHING if gvk is MOVER else {"type": "object"}
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"] = {**is_open, "properties": fields}
    return crd


@pytest.fixture
def project(tmp_path: Path) -> Path:
    role = tmp_path / "roles" / "mover"
    for name, text in (("vars", "_ov_target_ns: apps\n"), ("tasks", "[]\n")):
        (role / name).mkdir(parents=True)
        (role / name / "main.yml").write_text(text)
    entry = {"group": MOVER.group, "version": "v1", "kind": MOVER.kind, "role": "mover"}
    (tmp_path / "watches.yaml").write_text(yaml.safe_dump([entry]))
    return tmp_path


@pytest.fixture(autouse=True)
async def no_threads_left() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


async def nothing(_run: ScriptedRun) -> None:
    """A role that makes nothing."""


async def test_withheld_key_is_reported_by_event_and_log_until_the_crd_declares_it(
    api: Client, namespace: str, start_engine: StartEngine, project: Path
) -> None:
    await install(api, declaring(MOVER, size={"type": "integer"}))
    await eventually_async(
        lambda: api.read_bytes("/openapi/v3/apis/speckeys.rolecall.dev/v1"),
        lambda body: b'"kind":"Mover"' in body,  # it comes a moment after the kind
    )
    engine = await start_engine({MOVER.kind: nothing}, project=project)
    await api.create(MOVER, cr(MOVER, namespace, OvTargetNs="kube-system", size=1))
    (event,) = await eventually_async(
        lambda: events_of(api, namespace, "KeysWithheld"), timeout_s=PATIENCE_S
    )
    assert "`OvTargetNs` (set in mover/vars/main.yml:1)" in event["message"]
    assert "specOverridesRole" in event["message"]
    assert engine.log.count("keys of spec were not passed") == 1


async def test_schema_of_the_api_server_says_what_is_declared(
    api: Client, namespace: str, project: Path
) -> None:
    play = Play(project / "roles" / "mover", is_role=True)
    cases: list[tuple[Gvk, Json, set[str]]] = [
        (MOVER, {"size": {"type": "integer"}}, {"OvTargetNs"}),
        (CLOSED, {"OvTargetNs": {"type": "string"}}, set()),
    ]
    for gvk, fields, wanted in cases:
        await install(api, declaring(gvk, **fields))
        made = await api.create(gvk, cr(gvk, namespace, OvTargetNs="kube-system"))
        await eventually_async(partial(withheld_keys, api, Watch(gvk, play), made), wanted.__eq__)


async def withheld_keys(api: Client, watch: Watch, made: Json) -> set[str]:
    found = await SpecKeys(api, SystemClock()).withheld(watch, made, is_finalizer=False)
    return set(found.keys)
