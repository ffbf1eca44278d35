"""The monitor names the code that blocks the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

import pytest

from rolecall.clock import SystemClock
from rolecall.metrics import LoopMonitor
from tests.fixtures.eventually import eventually_async


async def test_code_that_blocks_the_loop_is_named(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "rolecall")
    held: list[float] = []
    beating = asyncio.ensure_future(LoopMonitor(0.05, SystemClock(), held.append).run())

    def a_slow_step() -> None:
        time.sleep(0.4)

    try:
        await asyncio.sleep(0)
        a_slow_step()
        await eventually_async(lambda: held)
        assert max(held) > 0.2
        assert "a_slow_step" in vars(caplog.records[0])["fields"]["at"]
    finally:
        beating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beating
        await asyncio.get_running_loop().shutdown_default_executor()
