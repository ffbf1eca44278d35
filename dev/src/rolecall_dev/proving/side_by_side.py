"""Several things at once, as many as the machine has use for.

An error comes out as it is, the first of them: its reader wants to know what happened, and not
that it happened in a group.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

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


# What is begun here ends when its time is up, however it hangs.
# A cancelled task may clean up, and that may hang as well: on a cluster that answers nothing, a
# namespace cannot be deleted either. So there is a short grace, and then each wait that is left is
# broken off, one after the other.

_GRACE_S = 2.5
_EACH_WAIT_S = 0.25
_MOST_WAITS = 20


async def ended_within(
    work: Coroutine[Any, Any, None], seconds: float | None, *, grace_s: float = _GRACE_S
) -> bool:
    """Whether it came to its end by itself. What it raises is raised here, too."""
    task = asyncio.create_task(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await _broken_off(task, grace_s)
        raise
    if not done:
        await _broken_off(task, grace_s)
        return False
    task.result()
    return True


async def _broken_off(task: asyncio.Task[None], grace_s: float) -> None:
    wait_s = grace_s
    for _ in range(_MOST_WAITS):
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=wait_s)
        if done:
            # What it says while it is broken off is not asked for; unread, asyncio would tell it.
            if not task.cancelled():
                task.exception()
            return
        wait_s = _EACH_WAIT_S
