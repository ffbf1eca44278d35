"""When a CR is reconciled, and what that leaves in its status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import condition, cr, is_reported, is_successful, kind
from tests.e2e.shared import SharedEngine
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually, eventually_async

AGAIN, PLAIN = kind("Again"), kind("Plain")
SERVICE = Gvk("", "v1", "Service")
SELECTED, UNMANAGED = kind("Selected"), kind("Unmanaged")
PERIOD = "ansible.sdk.operatorframework.io/reconcile-period"
SHARED_ENGINE = (BEHAVIOURS,)
KINDS = [crd_for(gvk) for gvk in (AGAIN, PLAIN, SELECTED, UNMANAGED)]


@pytest.fixture
def engine(shared_engine: SharedEngine) -> SharedEngine:
    return shared_engine


async def came_to(
    api: Client, gvk: Gvk, namespace: str, is_right: Callable[[Json], Any], name: str = "x"
) -> Json:
    return await eventually_async(
        lambda: api.get(gvk, namespace, name), is_right, timeout_s=PATIENCE_S
    )


def ran(engine: EngineProcess, gvk: Gvk, times: int) -> None:
    eventually(lambda: engine.runs(gvk.kind) >= times, timeout_s=PATIENCE_S)


async def test_requeue_after_lets_the_play_end_and_runs_again(
    api: Client, namespace: str, engine: SharedEngine
) -> None:
    await api.create(AGAIN, cr(AGAIN, namespace, after="1s"))
    ran(engine, AGAIN, times=3)
    await api.merge_patch(AGAIN, namespace, "x", {"spec": {"after": None}})
    done = await came_to(api, AGAIN, namespace, lambda cr: is_successful(cr) and is_newest(cr, 2))
    assert condition(done, "Running")["ansibleResult"]["ok"] == 1
    assert "next_in_s=1" in engine.log


def is_newest(cr: Json, generation: int) -> bool:
    return bool(cr["metadata"]["generation"] == generation) and is_reported(cr)


async def test_period_annotation_of_a_cr_goes_before_everything(
    api: Client, namespace: str, engine: SharedEngine
) -> None:
    periodic = cr(PLAIN, namespace)
    periodic["metadata"]["annotations"] = {PERIOD: "1s"}
    await api.create(PLAIN, periodic)
    ran(engine, PLAIN, times=3)


async def test_invalid_period_annotation_is_reported_in_status(
    api: Client, namespace: str, engine: SharedEngine
) -> None:
    wrong = cr(PLAIN, namespace)
    wrong["metadata"]["annotations"] = {PERIOD: "soon"}
    await api.create(PLAIN, wrong)
    reported = await came_to(
        api, PLAIN, namespace, lambda cr: condition(cr, "Failure").get("status") == "True"
    )
    message = condition(reported, "Failure")["message"]
    assert message.startswith("Unable to parse reconcile period annotation: ")


async def test_status_is_left_alone_where_it_is_not_managed(
    api: Client, namespace: str, engine: SharedEngine
) -> None:
    await api.create(UNMANAGED, cr(UNMANAGED, namespace))
    ran(engine, UNMANAGED, times=1)
    assert "status" not in await api.get(UNMANAGED, namespace, "x")
    succeeded = {"GVK": f"{UNMANAGED.api_version}, Kind=Unmanaged", "result": "succeeded"}
    assert engine.metric("ansible_operator_reconcile_result", **succeeded) == 1


async def test_only_selected_objects_are_reconciled(
    api: Client, namespace: str, engine: SharedEngine
) -> None:
    await api.create(SELECTED, cr(SELECTED, namespace, "other"))
    chosen = cr(SELECTED, namespace, "chosen")
    chosen["metadata"]["labels"] = {"team": "blue"}
    await api.create(SELECTED, chosen)
    await came_to(api, SELECTED, namespace, is_successful, "chosen")
    assert "status" not in await api.get(SELECTED, namespace, "other")

    await api.merge_patch(
        SELECTED, namespace, "other", {"metadata": {"labels": {"team": "blue"}}, "spec": {"a": 1}}
    )
    await came_to(api, SELECTED, namespace, is_successful, "other")


@pytest.mark.nightly
async def test_kind_without_generation_is_not_run_for_ever_by_its_own_status(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    role = BEHAVIOURS / "roles" / "plain"
    (tmp_path / "watches.yaml").write_text(f"- {{version: v1, kind: Service, role: {role}}}\n")
    engine = start_engine(tmp_path).wait_ready()
    spec = {"ports": [{"port": 80}]}
    await api.create(SERVICE, cr(SERVICE, namespace, **spec))
    await came_to(api, SERVICE, namespace, is_successful)
    await api.merge_patch(SERVICE, namespace, "x", {"metadata": {"labels": {"a": "b"}}})
    ran(engine, SERVICE, times=2)
    await api.create(SERVICE, cr(SERVICE, namespace, "last", **spec))
    await came_to(api, SERVICE, namespace, is_successful, "last")
    assert engine.runs("Service") == 3


async def test_own_status_writes_and_label_edits_run_nothing(
    api: Client, namespace: str, engine: SharedEngine
) -> None:
    await api.create(PLAIN, cr(PLAIN, namespace))
    await came_to(api, PLAIN, namespace, is_successful)
    await api.merge_patch(PLAIN, namespace, "x", {"metadata": {"labels": {"a": "b"}}})
    await api.merge_patch(PLAIN, namespace, "x", {"spec": {"word": "hello"}})
    await came_to(api, PLAIN, namespace, lambda cr: is_successful(cr) and is_newest(cr, 2))
    assert engine.started_runs("Plain") == 2
