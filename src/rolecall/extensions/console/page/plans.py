"""The plans that readers ask for: a few at a time, and the results for as long as they are looked at.

A plan runs the role of a CR where nothing is kept. It takes no worker: keys wait for a worker and not
for a plan, and a run of the CR in flight is not in its way, as the plan has a folder of its own. It
waits for memory in line with runs. So at most two go at once, however many workers there are.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from rolecall.clock import Clock
from rolecall.errors import RolecallError
from rolecall.extensions.console.page.plan_diffs import PlanDiff, diff_of
from rolecall.log_fields import log_fields
from rolecall.plan import PlannedRun
from rolecall.workqueue import Key

AT_ONCE = 2
_MOST_WAITING = 8
_MOST_KEPT = 20
_LONGEST_S = 360.0  # more than a plan may take, for its wait for memory
_logger = logging.getLogger(__name__)

# Plans a run of a CR, in one of `AT_ONCE` places; raises `RolecallError`.
MakePlan = Callable[[Key, int], Awaitable[PlannedRun]]


class TooManyPlansError(Exception):
    """Plans wait already."""


@dataclass(slots=True)
class AskedPlan:
    by: str  # who asked
    asked: datetime
    state: str = "waits"  # waits, running, ended
    diff: PlanDiff | None = None
    problem: str = ""  # why there is none

    @property
    def is_over(self) -> bool:
        return self.state == "ended"


class Plans:
    """Called on the loop."""

    def __init__(self, make: MakePlan, clock: Clock) -> None:
        self._make, self._clock = make, clock
        self._kept: OrderedDict[Key, AskedPlan] = OrderedDict()
        self._tasks: dict[asyncio.Task[None], None] = {}  # in the order of their beginnings
        self._places: asyncio.LifoQueue[int] = asyncio.LifoQueue()
        for place in reversed(range(AT_ONCE)):
            self._places.put_nowait(place)

    def of(self, key: Key) -> AskedPlan | None:
        """The newest one of a CR that is kept."""
        return self._kept.get(key)

    def ask(self, key: Key, by: str) -> None:
        """Begin one, unless one of this CR is under way; raises `TooManyPlansError`."""
        known = self._kept.get(key)
        if known is not None and not known.is_over:
            return
        if len(self._tasks) >= AT_ONCE + _MOST_WAITING:
            raise TooManyPlansError
        plan = self._kept[key] = AskedPlan(by, self._clock.now())
        self._kept.move_to_end(key)
        self._forget_old()
        task = asyncio.create_task(self._go(key, plan), name=f"plan of {key}")
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)

    def forget(self, key: Key) -> None:
        """The CR is gone; another one may get its name."""
        self._kept.pop(key, None)

    def cancel(self) -> None:
        """The engine stops."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        self.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _go(self, key: Key, plan: AskedPlan) -> None:
        try:
            place = await self._places.get()
            try:
                plan.state = "running"
                async with asyncio.timeout(_LONGEST_S):
                    made = await self._make(key, place)
                    plan.diff = await asyncio.to_thread(diff_of, made)
            finally:
                self._places.put_nowait(place)
        except TimeoutError:
            plan.problem = f"The plan timed out after {_LONGEST_S:g} s."
        except (RolecallError, OSError) as failure:
            plan.problem = str(failure)[:1_000]
        except asyncio.CancelledError:
            plan.problem = "The plan was stopped, because the operator shuts down."
            raise
        except RecursionError:
            plan.problem = "What it found is nested too deeply to be shown."
        except Exception:
            _logger.exception("internal error: a plan failed", extra=log_fields(key=str(key)))
            plan.problem = "Internal error; see the operator's log."
        finally:
            plan.state = "ended"

    def _forget_old(self) -> None:
        over = [key for key, plan in self._kept.items() if plan.is_over]
        for key in over[: max(0, len(self._kept) - _MOST_KEPT)]:
            del self._kept[key]
