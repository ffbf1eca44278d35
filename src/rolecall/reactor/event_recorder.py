"""Posts Kubernetes Events on CRs, where `kubectl describe` shows them.

Promise: `record` returns at once and never raises. The same word about the same CR is one Event
whose count grows; many different words for one reason are combined after the tenth, as client-go
does. At most some Events a second leave, and what waits is bounded, so a storm of failures costs
the API server little. What is too old to be counted on is forgotten, so that an engine of thousands of
failures holds those of the last minutes. An Event is posted by the right under which it was recorded.

The core API is used, not `events.k8s.io`, as that is what operators' roles grant.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rolecall.acting import RightToAct, acting_for, current_hand
from rolecall.clock import Clock, SystemClock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ForbiddenError, NotFoundError
from rolecall.log_fields import log_fields

_EVENT = Gvk("", "v1", "Event")
_logger = logging.getLogger(__name__)

_WINDOW_S = 600.0  # as client-go: what comes back after it is a new Event
_MOST_VARIANTS = 10
_MOST_WAITING = 1000
_MOST_REMEMBERED = 2000
_PAUSE_S = 0.2  # between two posts, once the first few went at once
_BURST = 25
_MESSAGE_LIMIT = 1024  # the API server's own
_COMBINED = "(combined from similar events): "


@dataclass(frozen=True, slots=True)
class _Subject:
    """What makes two Events the same."""

    uid: str
    kind: str
    reason: str
    message: str  # empty: several messages, combined

    @property
    def mark(self) -> int:
        """Stands for it where thousands are remembered."""
        return hash(self)

    @property
    def place(self) -> int:
        """The same of all messages of this reason."""
        return hash((self.uid, self.kind, self.reason))


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Something to be said, and how often it happened meanwhile."""

    involved: Json
    message: str
    times: int
    hand: RightToAct | None  # of the last repetition


@dataclass(frozen=True, slots=True)
class _Posted:
    """An Event that exists."""

    name: str
    count: int
    at_s: float


class ApiEventRecorder:
    """Posts the Events of one engine, whose name they bear."""

    def __init__(self, client: Client, *, instance: str, clock: Clock | None = None) -> None:
        self._client = client
        self._instance = instance
        self._clock = clock or SystemClock()
        self._waiting: OrderedDict[_Subject, _Waiting] = OrderedDict()
        self._posted: OrderedDict[int, _Posted] = OrderedDict()  # by mark
        # By place: since when, and the marks that were seen there.
        self._variants: OrderedDict[int, tuple[float, tuple[int, ...]]] = OrderedDict()
        self._news = asyncio.Event()
        self._was_refused = False
        # The right by which an Event is being posted just now.
        self.posting_for: RightToAct | None = None

    def record(self, cr: Json, *, kind: str, reason: str, message: str) -> None:
        """Post one Event; `kind` is `Normal` or `Warning`."""
        metadata = cr["metadata"]
        involved = {
            "apiVersion": cr.get("apiVersion", ""),
            "kind": cr.get("kind", ""),
            "name": metadata["name"],
            "namespace": metadata.get("namespace", ""),
            "uid": metadata.get("uid", ""),
        }
        message = message[:_MESSAGE_LIMIT]
        subject = _Subject(involved["uid"], kind, reason, message)
        if self._is_one_too_many(subject):
            subject = replace(subject, message="")
            message = (_COMBINED + message)[:_MESSAGE_LIMIT]
        before = self._waiting.get(subject)
        times = before.times + 1 if before else 1
        self._waiting[subject] = _Waiting(involved, message, times, current_hand())
        _bound(self._waiting, _MOST_WAITING)
        self._news.set()

    async def run(self) -> None:
        """Post until cancelled."""
        burst = _BURST
        while True:
            if not self._waiting:
                self._news.clear()
                await self._news.wait()
                burst = _BURST
            subject, waiting = self._waiting.popitem(last=False)
            self.posting_for = waiting.hand
            try:
                with acting_for(waiting.hand):
                    await self._post(subject, waiting)
            except ForbiddenError as failure:
                self._say_refused(failure)
            except ClusterError as failure:
                # A lost Event does no harm; the status says the same.
                _logger.debug("could not post an Event", extra=log_fields(why=failure.message))
            finally:
                self.posting_for = None
            burst -= 1
            if burst < 0:
                await self._clock.sleep(_PAUSE_S)

    async def _post(self, subject: _Subject, waiting: _Waiting) -> None:
        now, now_s = self._clock.now(), self._clock.monotonic()
        _forget_first(self._posted, lambda posted: now_s - posted.at_s >= _WINDOW_S)
        posted = self._posted.get(subject.mark)
        if posted is not None:
            try:
                count = posted.count + waiting.times
                await self._count(posted, waiting, count, now)
                self._remember(subject, posted.name, count)
                return
            except NotFoundError:
                pass  # it grew too old and was removed
        name = f"{waiting.involved['name'][:200]}.{secrets.token_hex(8)}"
        await self._client.create(_EVENT, self._event(subject, waiting, name, now))
        self._remember(subject, name, waiting.times)

    async def _count(self, posted: _Posted, waiting: _Waiting, count: int, now: datetime) -> None:
        patch = {"count": count, "lastTimestamp": _text(now), "message": waiting.message}
        namespace = _namespace_of(waiting)
        await self._client.merge_patch(_EVENT, namespace, posted.name, patch)

    def _event(self, subject: _Subject, waiting: _Waiting, name: str, now: datetime) -> Json:
        return {
            "apiVersion": _EVENT.api_version,
            "kind": _EVENT.kind,
            "metadata": {"name": name, "namespace": _namespace_of(waiting)},
            "involvedObject": waiting.involved,
            "type": subject.kind,
            "reason": subject.reason,
            "message": waiting.message,
            "count": waiting.times,
            "firstTimestamp": _text(now),
            "lastTimestamp": _text(now),
            "source": {"component": "rolecall"},
            "reportingComponent": "rolecall",
            "reportingInstance": self._instance,
        }

    def _remember(self, subject: _Subject, name: str, count: int) -> None:
        mark = subject.mark
        self._posted[mark] = _Posted(name, count, self._clock.monotonic())
        self._posted.move_to_end(mark)
        _bound(self._posted, _MOST_REMEMBERED)

    def _is_one_too_many(self, subject: _Subject) -> bool:
        now_s = self._clock.monotonic()
        place, mark = subject.place, subject.mark
        _forget_first(self._variants, lambda variants: now_s - variants[0] >= _WINDOW_S)
        since_s, seen = self._variants.get(place, (now_s, ()))
        if mark not in seen:
            if len(seen) >= _MOST_VARIANTS:
                return True
            seen = (*seen, mark)
        self._variants[place] = (since_s, seen)
        _bound(self._variants, _MOST_REMEMBERED)
        return False

    def _say_refused(self, failure: ForbiddenError) -> None:
        # A namespace on its way out refuses new objects: no lack of rights.
        if not self._was_refused and "being terminated" not in failure.message:
            self._was_refused = True
            _logger.warning(
                "not allowed to post Events",
                extra=log_fields(why=failure.message, rule=failure.rule),
            )


def _namespace_of(waiting: _Waiting) -> str:
    """Events on cluster-scoped objects live in `default`."""
    return waiting.involved["namespace"] or "default"


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _bound(ordered: OrderedDict[Any, Any], most: int) -> None:
    while len(ordered) > most:
        ordered.popitem(last=False)


def _forget_first(ordered: OrderedDict[int, Any], is_old: Callable[[Any], bool]) -> None:
    """Those that came first, as long as they are old."""
    while ordered and is_old(next(iter(ordered.values()))):
        ordered.popitem(last=False)
