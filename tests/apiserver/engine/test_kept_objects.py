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
# Events that were posted are remembered for ten minutes, to count those that repeat.
FORGOTTEN_LATER = {"_Posted"}


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

    async def kept_after(first: int) -> Counter[str]:
        for number in range(first, first + CRS, 10):
            await asyncio.gather(*map(comes_and_goes, range(number, number + 10)))
        await eventually_async(lambda: is_gone(first + CRS - 1))
        engine.plays.runs.clear()
        gc.collect()
        count = Counter(type(each).__name__ for each in gc.get_objects())
        count["dict"] -= count.pop("LogRecord")  # pytest keeps them for its report
        return count

    await kept_after(0)
    before, after = await kept_after(CRS), await kept_after(2 * CRS)

    grown = {kind for kind in after if after[kind] - before[kind] >= CRS}
    assert grown <= FORGOTTEN_LATER, {kind: after[kind] - before[kind] for kind in grown}
