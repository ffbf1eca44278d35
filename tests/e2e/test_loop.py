"""The event loop is nobody's to hold: every CR waits while somebody does."""

from __future__ import annotations

import json

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S
from tests.e2e.kinds import cr, install, kind
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually_async

PLAIN = kind("Plain")
LIMIT_MS = 20
CRS = 20


async def test_nothing_works_on_the_loop_for_longer_than_twenty_milliseconds(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await install(api, crd_for(PLAIN))
    flags = (f"--loop-limit={LIMIT_MS}ms", "--log-format=json")
    engine = start_engine(BEHAVIOURS, *flags).wait_ready()
    for number in range(CRS):
        await api.create(PLAIN, cr(PLAIN, namespace, f"x{number}"))
    await eventually_async(
        lambda: engine.runs("Plain"), lambda runs: runs >= CRS, timeout_s=2 * PATIENCE_S
    )
    engine.stop()
    held = [
        line
        for line in map(json.loads, engine.log.splitlines())
        # A loop that only waited for the interpreter or for a CPU did not work: the machine is busy.
        if line["msg"] == "the loop was held" and line["cpu_ms"] > LIMIT_MS
    ]
    assert held == []
