"""The requests of one case, and what shall happen to them: a fault, or a hold after a write.

A case is known by its namespace. Requests outside of every followed namespace belong to the case that
runs alone, if one does; to nobody else, since nothing in them says whose they are.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from rolecall.json_object import Json
from rolecall.proxy import RequestInfo
from rolecall_dev.staging.faults import Fault
from rolecall_dev.staging.seen_request import RequestMark, SeenRequest

NAMESPACE_MARK = "<namespace>"
CASE_PREFIX = "case-"  # of the namespaces of cases
TakesRight = Callable[[RequestInfo], bool]
OnSuccess = Callable[[], Awaitable[None]]


class Traffic:
    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.requests: list[SeenRequest] = []
        self.fault: Fault | None = None
        self.fault_came_at: int | None = None  # number of the request that met it
        # Which requests nobody has the right to, those of the engine among them.
        self.takes_right: TakesRight | None = None
        self.refused: list[SeenRequest] = []
        self.hold_after: int | None = None  # so many writes of plays with an effect
        self.is_held = asyncio.Event()
        self._released = asyncio.Event()
        # Called before the engine's word that a run succeeded is passed on.
        self.on_success: OnSuccess | None = None
        self._counts: Counter[tuple[str, str]] = Counter()
        self._writes = 0

    @property
    def of_plays(self) -> list[SeenRequest]:
        return [each for each in self.requests if each.is_play]

    @property
    def effects(self) -> list[SeenRequest]:
        """Writes of plays that changed something."""
        return [each for each in self.of_plays if each.is_write and each.has_effect]

    def note(
        self, method: str, info: RequestInfo, query: str, *, is_play: bool, at_s: float
    ) -> SeenRequest:
        path = unquote(info.path)
        if self.namespace:
            path = path.replace(self.namespace, NAMESPACE_MARK)
        mark = RequestMark(method, path)
        if is_play:
            self._counts[method, path] += 1
            mark = RequestMark(method, path, self._counts[method, path])
        seen = SeenRequest(len(self.requests), at_s, mark, info, query, is_play)
        self.requests.append(seen)
        return seen

    def forget(self) -> None:
        """Begin anew: what came so far was for something else."""
        self.requests.clear()
        self.refused.clear()
        self._counts.clear()
        self._writes = 0

    def fault_for(self, seen: SeenRequest) -> Fault | None:
        """What shall happen to this request; each fault comes once."""
        fault = self.fault
        if fault is None or not seen.is_play or seen.mark != fault.mark:
            return None
        self.fault, self.fault_came_at = None, seen.number
        seen.fault = str(fault.kind)
        return fault

    def refuses(self, seen: SeenRequest) -> bool:
        """Whether the right to this request was taken away."""
        if self.takes_right is None or not self.takes_right(seen.info):
            return False
        seen.fault = "right taken away"
        self.refused.append(seen)
        return True

    async def pass_write(self, seen: SeenRequest) -> None:
        """Called when a write was done and not yet answered: here it may be held."""
        if not seen.is_play or not seen.has_effect:
            return
        self._writes += 1
        if self.hold_after is not None and self._writes >= self.hold_after:
            self.is_held.set()
            await self._released.wait()

    async def before(self, seen: SeenRequest) -> None:
        """Called when a request came: where the first one is to be held, nothing was written yet."""
        if seen.is_play and self.hold_after == 0:
            self.is_held.set()
            await self._released.wait()

    async def pass_success(self) -> None:
        """Called when the engine is about to tell that a run succeeded."""
        if self.on_success is not None:
            await self.on_success()

    def release(self) -> None:
        self.hold_after = None
        self._released.set()

    def hold(self, after: int) -> None:
        self._released.clear()
        self.is_held.clear()
        self.hold_after = after


def tells_success(status: Json) -> bool:
    """Whether what the engine writes into a status says that the last run succeeded."""
    return _has(status, "Successful", "Successful")


def run_begins(status: Json) -> bool:
    """Whether what the engine writes into a status says that a run begins."""
    return _has(status, "Running", "Running")


def _has(status: Json, type_: str, reason: str) -> bool:
    conditions = status.get("conditions")
    return any(
        (each.get("type"), each.get("status"), each.get("reason")) == (type_, "True", reason)
        for each in (conditions if isinstance(conditions, list) else ())
        if isinstance(each, dict)
    )
