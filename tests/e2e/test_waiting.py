"""A run that waits leaves its slot to others, and takes one again before it goes on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

pytestmark = pytest.mark.nightly

PROJECT = Path(__file__).parent / "waiting"
WAITER, PLAIN = kind("Waiter"), kind("Plain")
MANY, SLOTS = 20, 2
WAIT_S = 6


@pytest.fixture(autouse=True)
async def kinds(api: Client) -> None:
    for gvk in (WAITER, PLAIN):
        await install(api, crd_for(gvk))


@pytest.fixture
def engine(kinds: None, start_engine: StartEngine) -> EngineProcess:
    return start_engine(PROJECT, f"--max-runs={SLOTS}").wait_ready()


async def create(api: Client, namespace: str, count: int, /, **spec: object) -> list[str]:
    names = [f"w{number}" for number in range(count)]
    for name in names:
        await api.create(WAITER, cr(WAITER, namespace, name, **spec))
    return names


def wait_for_waiting(engine: EngineProcess, count: int) -> None:
    eventually(lambda: engine.metric("rolecall_waiting_runs") == count, timeout_s=PATIENCE_S)


async def open_gate(api: Client, namespace: str) -> None:
    """What the runs of `module` and `until` wait for."""
    await api.create(CONFIG_MAP, cr(CONFIG_MAP, namespace, "gate"))


async def successful(api: Client, gvk: Gvk, namespace: str, name: str) -> None:
    await eventually_async(
        lambda: api.get(gvk, namespace, name), is_successful, timeout_s=PATIENCE_S
    )


async def all_ready(api: Client, namespace: str, names: list[str]) -> None:
    for name in names:
        await successful(api, WAITER, namespace, name)


@pytest.mark.parametrize("waits", ["pause", "wait_for", "command"])
async def test_twenty_roles_that_wait_are_ready_after_about_one_wait_on_two_slots(
    api: Client, namespace: str, engine: EngineProcess, waits: str
) -> None:
    began = time.monotonic()
    await all_ready(api, namespace, await create(api, namespace, MANY, waits=waits, seconds=WAIT_S))
    # Beside the wait there is time to create and to play twenty runs, on a machine that is busy.
    assert time.monotonic() - began < MANY / SLOTS * WAIT_S / 2


@pytest.mark.parametrize("waits", ["module", "until"])
async def test_edit_is_served_at_once_while_twenty_runs_wait_on_two_slots(
    api: Client, namespace: str, engine: EngineProcess, waits: str
) -> None:
    names = await create(api, namespace, MANY, waits=waits)
    wait_for_waiting(engine, MANY)
    await api.create(PLAIN, cr(PLAIN, namespace))
    await successful(api, PLAIN, namespace, "x")
    assert engine.runs("Waiter") == 0, "all of them wait still, so nothing stood in its way"
    await open_gate(api, namespace)
    await all_ready(api, namespace, names)
    wait_for_waiting(engine, 0)


async def test_above_max_waiting_runs_keep_their_slots(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(PROJECT, "--max-runs=1", "--max-waiting=1").wait_ready()
    names = await create(api, namespace, 3, waits="module")
    wait_for_waiting(engine, 1)
    eventually(
        lambda: engine.metric("controller_runtime_active_workers") == 2, timeout_s=PATIENCE_S
    )
    assert engine.metric("rolecall_queue_depth", urgency="edit") == 1
    assert engine.metric("rolecall_max_waiting") == 1
    await open_gate(api, namespace)
    await all_ready(api, namespace, names)


async def test_limit_of_a_kind_that_was_set_counts_runs_that_wait(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    environment = {"MAX_CONCURRENT_RECONCILES_WAITER_E2E_ROLECALL_DEV": "1"}
    engine = start_engine(PROJECT, environment=environment).wait_ready()
    names = await create(api, namespace, 2, waits="module")
    wait_for_waiting(engine, 1)
    await api.create(PLAIN, cr(PLAIN, namespace))
    await successful(api, PLAIN, namespace, "x")
    assert engine.metric("rolecall_queue_depth", urgency="edit") == 1
    await open_gate(api, namespace)
    await all_ready(api, namespace, names)


async def test_engine_that_is_terminated_ends_waiting_runs(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(
        PROJECT, f"--max-runs={SLOTS}", "--graceful-shutdown-timeout=1s"
    ).wait_ready()
    await create(api, namespace, 4, waits="module")
    wait_for_waiting(engine, 4)
    assert engine.stop() == 0
    assert "did not end" not in engine.log
