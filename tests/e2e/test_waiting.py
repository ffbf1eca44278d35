"""A run that waits leaves its slot to others, and takes one again before it goes on."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import CONFIG_MAP, cr, install, is_successful, kind
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually, eventually_async

PROJECT = Path(__file__).parent / "waiting"
WAITER, PLAIN = kind("Waiter"), kind("Plain")
MANY = 20
WAIT_S = 6


@pytest.fixture
async def kinds(api: Client) -> None:
    for gvk in (WAITER, PLAIN):
        await install(api, crd_for(gvk))


@pytest.fixture
def engine(kinds: None, start_engine: StartEngine) -> EngineProcess:
    return start_engine(PROJECT, "--max-runs=2").wait_ready()


async def create(api: Client, namespace: str, count: int, /, **spec: object) -> list[str]:
    names = [f"w{number}" for number in range(count)]
    for name in names:
        await api.create(WAITER, cr(WAITER, namespace, name, **spec))
    return names


async def all_ready(api: Client, namespace: str, names: list[str]) -> None:
    for name in names:
        await eventually_async(
            lambda name=name: api.get(WAITER, namespace, name), is_successful, timeout_s=PATIENCE_S
        )


@pytest.mark.parametrize("waits", ["module", "until", "pause", "wait_for", "command"])
async def test_twenty_roles_that_wait_are_ready_after_about_one_wait_on_two_slots(
    api: Client, namespace: str, engine: EngineProcess, waits: str
) -> None:
    began = time.monotonic()
    names = await create(api, namespace, MANY, waits=waits, seconds=WAIT_S)
    if waits in ("module", "until"):
        eventually(lambda: engine.metric("rolecall_waiting_runs") >= MANY, timeout_s=PATIENCE_S)
        print("all wait", time.monotonic() - began)
        await api.create(CONFIG_MAP, cr(CONFIG_MAP, namespace, "gate"))
    await all_ready(api, namespace, names)
    print(waits, time.monotonic() - began)
    assert time.monotonic() - began < MANY * WAIT_S / 2 / 2
