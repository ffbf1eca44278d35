"""The requests of one case, and what shall happen to them: a fault, or a hold after a write.

A case is identified by its namespace. Requests outside of every followed namespace belong to the case
that runs alone, if there is one, and otherwise to no case, because nothing in them identifies a case.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import unquote

from rolecall.json_object import Json, as_map
from rolecall.proxy import RequestInfo

# One request that passed the proxy, and its effect.
# The program that made a write cannot be trusted about its effect: some modules send a patch on every
# run and report `changed: false`, others report `changed` and change nothing. So we compare the
# object's version before and after the write.

WRITING_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class RequestMark:
    """Which request of a run: the n-th of its kind. The namespace is left out, so it fits any case."""

    method: str
    path: str
    occurrence: int = 1

    def __str__(self) -> str:
        again = f" (number {self.occurrence})" if self.occurrence > 1 else ""
        return f"{self.method} {self.path}{again}"


@dataclass(slots=True)
class SeenRequest:
    """Noted when it comes, completed when it is answered."""

    number: int
    at_s: float
    mark: RequestMark
    info: RequestInfo
    query: str
    is_play: bool  # the engine's own requests pass as well
    body: bytes = b""
    code: int = 0  # 0: not answered, or by breaking off
    fault: str = ""  # what was answered instead of the API server's answer
    has_effect: bool | None = None  # of a write; None: not known
    changed: tuple[str, ...] = field(
        default_factory=tuple
    )  # paths, with the values before and after

    @property
    def is_write(self) -> bool:
        return self.info.verb in WRITING_VERBS and "dryRun=" not in self.query

    @property
    def has_created(self) -> bool:
        """Whether an object came to be by it."""
        return self.is_write and self.code == 201

    @property
    def body_name(self) -> str:
        """The name that stands in the body: a create has none in its path."""
        try:
            return str(as_map(as_map(json.loads(self.body)).get("metadata")).get("name") or "")
        except (ValueError, RecursionError):
            return ""

    @property
    def resource_name(self) -> str:
        """`deployments.apps/web`, as kubectl would have it."""
        info = self.info
        resource = f"{info.resource}.{info.group}" if info.group else info.resource
        named = f"{resource}/{info.name}" if info.name else resource
        return f"{named}/{info.subresource}" if info.subresource else named

    def __str__(self) -> str:
        who = "" if self.is_play else "engine: "
        said = f" -> {self.code}" if self.code else " -> no answer"
        effect = " (changed nothing)" if self.is_write and self.has_effect is False else ""
        fault = f" [{self.fault}]" if self.fault else ""
        what = self.resource_name if self.info.is_resource else self.info.path
        return f"{who}{self.info.verb} {what}{said}{effect}{fault}"


# Ways in which one request may fail, as API servers and networks really fail.
class FaultKind(StrEnum):
    """The value stands in replay files."""

    CONFLICT = "409"
    THROTTLED = "429"
    BROKEN = "500"
    DONE_BUT_TIMED_OUT = "timeout"  # the write is done, but the client gets no response
    REFUSED = "refused"  # the connection is closed, and nothing was done


# code, reason and message, in the API server's own words
_ANSWERS = {
    FaultKind.CONFLICT: (
        409,
        "Conflict",
        "Operation cannot be fulfilled: the object has been modified; please apply your changes to"
        " the latest version and try again",
    ),
    FaultKind.THROTTLED: (429, "TooManyRequests", "Too many requests, please try again later."),
    FaultKind.BROKEN: (500, "InternalError", "Internal error occurred: etcdserver: leader changed"),
    FaultKind.DONE_BUT_TIMED_OUT: (
        504,
        "Timeout",
        "Timeout: request did not complete within the allotted timeout",
    ),
}
_USER = "system:serviceaccount:test:operator"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens once, to one request."""

    mark: RequestMark
    kind: FaultKind

    @property
    def reaches_server(self) -> bool:
        return self.kind is FaultKind.DONE_BUT_TIMED_OUT

    def __str__(self) -> str:
        return f"{self.kind} to {self.mark}"


def answer_of(kind: FaultKind) -> tuple[int, Json]:
    """The code and the Status with which an API server says so."""
    return _status(*_ANSWERS[kind])


def refusal_of(info: RequestInfo) -> tuple[int, Json]:
    """The answer to a request whose right was taken away, as RBAC words it."""
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    full = f"{info.resource}.{info.group}" if info.group else info.resource
    named = f' "{info.name}"' if info.name else ""
    where = f'in the namespace "{info.namespace}"' if info.namespace else "at the cluster scope"
    return _status(
        403,
        "Forbidden",
        f"{full}{named} is forbidden:"
        f' User "{_USER}" cannot {info.verb} resource "{resource}" in API group'
        f' "{info.group}" {where}',
    )


def _status(code: int, reason: str, message: str) -> tuple[int, Json]:
    return code, {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


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
        # Which requests are forbidden for all clients, including the engine.
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
        """Called when the engine is about to report that a run succeeded."""
        if self.on_success is not None:
            await self.on_success()

    def release(self) -> None:
        self.hold_after = None
        self._released.set()

    def hold(self, after: int) -> None:
        self._released.clear()
        self.is_held.clear()
        self.hold_after = after


def reports_success(status: Json) -> bool:
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
