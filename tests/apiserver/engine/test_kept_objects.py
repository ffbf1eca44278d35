"""An engine keeps nothing in memory of runs that are over, nor of CRs that are gone."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter

import pytest

from rolecall.kube import Client, NotFoundError
from rolecall_dev.testing import eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.test_scripted_runs import books
from tests.e2e.wanted_kinds import HEAP, made

CRS = 60
ROUNDS = 2
# Keys that wait by time stay in a heap after they were dropped, until there are more than 64 of them.
MOST = 90
KEY = "rolecall.workqueue.key.Key"
# Events that were posted are remembered for ten minutes, each with its CR, to count those that repeat.
POSTED = "rolecall.reactor.event_recorder._Posted"


@pytest.mark.nightly
@pytest.mark.usefixtures("wanted")
async def test_objects_of_crs_that_came_and_went_are_let_go(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine({"Heap": books})

    async def comes_and_goes(number: int) -> None:
        name = f"x{number}"
        await made(api, HEAP, namespace, name, books=["a"])
        await api.delete(HEAP, namespace, name)

    async def is_gone(number: int) -> bool:
        try:
            await api.get(HEAP, namespace, f"x{number}")
        except NotFoundError:
            return True
        return False

    async def is_idle() -> bool:
        waiting = await engine.metric("rolecall_queue_depth")
        return waiting + await engine.metric("controller_runtime_active_workers") == 0

    async def kept_after(first: int) -> Counter[str]:
        for number in range(first, first + CRS, 10):
            await asyncio.gather(*map(comes_and_goes, range(number, number + 10)))
        await eventually_async(lambda: is_gone(first + CRS - 1))
        await eventually_async(is_idle)
        engine.plays.runs.clear()
        gc.collect()
        kinds = map(type, gc.get_objects())
        found = Counter(f"{each.__module__}.{each.__qualname__}" for each in kinds)
        found[KEY] -= found.pop(POSTED)
        return found

    await kept_after(0)
    before = await kept_after(CRS)
    for number in range(2, 2 + ROUNDS):
        after = await kept_after(number * CRS)

    grown = {kind: after[kind] - before[kind] for kind in after if _is_ours(kind)}
    assert not {kind: more for kind, more in grown.items() if more > MOST}


def _is_ours(kind: str) -> bool:
    """Not of containers, which others have as well, nor of log records, which pytest keeps."""
    return kind.partition(".")[0] not in ("builtins", "logging")
