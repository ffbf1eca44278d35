"""The collector rests while first lists come, and does not look at what they brought."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from rolecall.clock import SystemClock
from rolecall.lifecycle.first_lists import freeze_first_lists


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


@dataclass
class FastClock(SystemClock):
    """Sleeps for no time; remembers how long, and whether the collector worked meanwhile."""

    slept_s: float = 0.0
    worked: list[bool] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept_s += seconds
        self.worked.append(gc.isenabled())
        await asyncio.sleep(0)


def is_looked_at(kept: object) -> bool:
    return any(each is kept for each in gc.get_objects())


async def run(clock: FastClock, listed_after_s: float) -> None:
    part = asyncio.create_task(freeze_first_lists(clock, lambda: clock.slept_s >= listed_after_s))
    for _ in range(1000):  # turns of the loop, of which the part needs a hundred
        await asyncio.sleep(0)
    assert not part.done()
    part.cancel()
    await asyncio.wait([part])


async def test_what_first_lists_brought_is_not_looked_at_again() -> None:
    gc.freeze()
    clock, kept = FastClock(), [[]]  # type: ignore[var-annotated]
    assert is_looked_at(kept)
    await run(clock, listed_after_s=5.0)
    assert gc.isenabled()
    assert not any(clock.worked)
    assert not is_looked_at(kept)


async def test_lists_that_do_not_come_do_not_stop_the_collector_for_ever() -> None:
    gc.freeze()
    clock = FastClock()
    await run(clock, listed_after_s=float("inf"))
    assert gc.isenabled()
    assert clock.slept_s <= 60.0


async def test_cancelled_part_enables_the_collector() -> None:
    gc.freeze()
    part = asyncio.create_task(freeze_first_lists(SystemClock(), lambda: False))
    await asyncio.sleep(0)
    assert not gc.isenabled()
    part.cancel()
    await asyncio.wait([part])
    assert gc.isenabled()


async def test_process_that_froze_nothing_keeps_its_collector() -> None:
    clock = FastClock()
    await run(clock, listed_after_s=0.0)
    assert clock.worked == []
    assert gc.get_freeze_count() == 0
