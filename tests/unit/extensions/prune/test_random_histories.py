"""Random histories of CRs: nothing is deleted that may be wanted, and nothing unwanted is left.

`make test` lives through a few dozen; nightly runs live through a thousand.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.unit.extensions.prune.histories.history import History, reported

_STEPS = 30
FEW, ALL, BATCH = 40, 1000, 100


@pytest.fixture(autouse=True)
async def _no_threads() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()  # it looks at files


async def live(seed: int) -> int:
    """Live through one, and return how many objects were pruned in it."""
    history = History(seed)
    try:
        await history.live(_STEPS)
        left = await history.rest()
    except AssertionError as wrong:
        pytest.fail(reported(history, f"seed {seed}: {wrong}"))
    assert not left, reported(history, f"seed {seed}: left are {left}")
    return history.pruned


@pytest.mark.slow
async def test_no_history_deletes_what_is_wanted_or_leaves_what_is_not() -> None:
    pruned = [await live(seed) for seed in range(FEW)]
    assert sum(pruned) > FEW // 2, "too little is deleted to see a mistake"


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(FEW, ALL, BATCH))
async def test_no_long_row_of_histories_deletes_what_is_wanted(first: int) -> None:
    for seed in range(first, min(first + BATCH, ALL)):
        await live(seed)
