"""Several things at once, as many as the machine has use for.

An error comes out as it is, the first of them: whoever reads it wants to know what happened, and not
that it happened in a group.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

SIDE_BY_SIDE = 3 * (os.cpu_count() or 2)
_Item = TypeVar("_Item")


async def side_by_side(
    items: Iterable[_Item], work: Callable[[_Item], Awaitable[None]], *, at_most: int = SIDE_BY_SIDE
) -> None:
    """Do the work for each item, begun in their order; all end when one fails."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(at_most):
                workers.create_task(worker())
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
