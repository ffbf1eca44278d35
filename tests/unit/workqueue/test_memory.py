"""No more keys are out than memory takes of runs as they would be now, and no dear one starves."""

from __future__ import annotations

import asyncio

from rolecall.settings import STOCK_RUN_BYTES, WARM_RUN_BYTES, QueueSettings
from rolecall.workqueue import Limits, Queue, Urgency
from tests.unit.workqueue.keys import APP, VOLUME, key
from tests.unit.workqueue.virtual_clock import VirtualClock

# Room for three stock runs, or for twenty warm ones.
MEMORY = 3 * STOCK_RUN_BYTES
MOST = 8


class Machine:
    """A queue with eight workers, and what runs of each kind take now."""

    def __init__(self, memory_bytes: int = MEMORY) -> None:
        self.costs = {APP: STOCK_RUN_BYTES, VOLUME: STOCK_RUN_BYTES}
        self.out: list[str] = []
        limits = Limits(MOST, {APP: MOST, VOLUME: MOST}, memory_bytes, self.costs.__getitem__)
        self.queue = Queue(VirtualClock(), limits, QueueSettings())
        self._workers = [asyncio.create_task(self._take()) for _ in range(3 * MOST)]

    async def _take(self) -> None:
        self.out.append((await self.queue.take()).key.name)

    async def end(self) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_eight_stock_runs_are_not_begun_where_memory_takes_three() -> None:
    machine = Machine()
    await settled()
    for number in range(MOST):
        machine.queue.add(key(str(number)), Urgency.STARTUP)
    await settled()
    assert machine.out == ["0", "1", "2"]
    assert machine.queue.snapshot().max_runs == 3
    machine.queue.done(key("0"))
    await settled()
    assert machine.out == ["0", "1", "2", "3"]
    await machine.end()


async def test_more_are_begun_as_soon_as_runs_are_warm_and_fewer_once_they_are_stock_again() -> (
    None
):
    machine = Machine()
    await settled()
    for number in range(20):
        machine.queue.add(key(str(number)), Urgency.STARTUP)
    await settled()
    assert len(machine.out) == 3
    machine.costs[APP] = WARM_RUN_BYTES
    machine.queue.hand_out()
    await settled()
    assert len(machine.out) == MOST
    assert machine.queue.snapshot().max_runs == MOST
    machine.costs[APP] = STOCK_RUN_BYTES  # the host is gone
    for number in range(5):
        machine.queue.done(key(str(number)))
        await settled()
        assert len(machine.out) == MOST
    machine.queue.done(key("5"))
    await settled()
    assert len(machine.out) == MOST + 1
    await machine.end()


async def test_dear_key_is_not_passed_for_ever_by_cheap_ones() -> None:
    machine = Machine()
    machine.costs[VOLUME] = WARM_RUN_BYTES
    await settled()
    for number in range(MOST):
        machine.queue.add(key(f"cheap{number}", VOLUME), Urgency.EDIT)
    await settled()
    machine.queue.done(key("cheap0", VOLUME))
    assert len(machine.out) == MOST
    for number in range(3):
        machine.queue.add(key(f"dear{number}"), Urgency.EDIT)
    machine.queue.add(key("cheap8", VOLUME), Urgency.EDIT)
    await settled()
    # 7 warm runs and one stock run fit; the next dear one is next, so the cheap one waits behind it.
    assert machine.out[MOST:] == ["dear0"]
    for number in range(1, 7):
        machine.queue.done(key(f"cheap{number}", VOLUME))
    await settled()
    assert machine.out[MOST:] == ["dear0", "dear1"]
    machine.queue.done(key("cheap7", VOLUME))
    await settled()
    assert machine.out[MOST:] == ["dear0", "dear1", "dear2"]
    await machine.end()


async def test_one_run_is_begun_however_little_memory_there_is() -> None:
    machine = Machine(memory_bytes=0)
    await settled()
    for number in range(2):
        machine.queue.add(key(str(number)), Urgency.STARTUP)
    await settled()
    assert machine.out == ["0"]
    await machine.end()


async def test_where_runs_take_nothing_memory_lowers_no_limit() -> None:
    limits = Limits(MOST, {APP: MOST}, memory_bytes=MOST, run_bytes=lambda _: 0)

    assert Queue(VirtualClock(), limits, QueueSettings()).snapshot().max_runs == MOST
