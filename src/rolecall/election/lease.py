"""One leader at a time, by a Lease.

Promises: `may_write` is true for at most one process. It closes by this process's own clock, counted
from before the last successful renewal was sent, at the renew deadline (10 s); no other process may
lead before the Lease ran out (15 s), and the seconds between are for ending what is still running. It
does not depend on the loop being on time.

The hard part is a slow API server. The Go operator exits as soon as the renew deadline passed, and so
crash-loops through every hiccup. Here the leader stops writing, keeps asking, and goes on if the Lease
is still its own; only a Lease that another process holds ends it. Rejected: kopf's peering: it
needs its own CRD and lets both sides run while they cannot see each other.

A Lease that a person deletes, or empties, while a standby looks on is taken a whole lease later: its
holder learns of it at its next renewal. Not promised: anything about one that was deleted before this
process looked for the first time, since that is also how an installation begins.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn, Protocol

from rolecall.clock import Clock
from rolecall.election.division import Division
from rolecall.election.record import (
    LEASE,
    duration_of,
    holder_of,
    is_released,
    new_lease,
    released,
    renewed,
    taken,
)
from rolecall.election.slot import Election, EngineWork
from rolecall.errors import ClusterError, LeadershipLostError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ConflictError, ForbiddenError, NotFoundError
from rolecall.log_fields import log_fields
from rolecall.settings import ElectionSettings

_logger = logging.getLogger(__name__)
# Replicas that start together must not ask together for ever.
_JITTER = 0.2

OnChange = Callable[[bool], None]


class LeaseApi(Protocol):
    """The calls that an election makes; `kube.Client` is the real one."""

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json: ...

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json: ...

    async def replace(self, gvk: Gvk, body: Mapping[str, Any]) -> Json:
        """Write it, unless it changed since it was read."""


class LeaseElection(Election):
    """Campaigns for one Lease and holds it."""

    def __init__(
        self,
        lease_api: LeaseApi,
        settings: ElectionSettings,
        *,
        identity: str,
        clock: Clock,
        on_change: OnChange,
    ) -> None:
        self._lease_api = lease_api
        self._settings = settings
        self._identity = identity
        self._clock = clock
        self._on_change = on_change
        self._leading = asyncio.Event()
        self._lease: Json | None = None  # the last version seen
        self._seen_at = 0.0  # when that version was first seen, by our clock
        self._renewed_at: float | None = None  # when our last good renewal was sent; None: not ours
        self._has_reported_division = False
        self._was_leading = False  # what `on_change` got last
        self._work: EngineWork | None = None  # while it runs

    def may_write(self) -> bool:
        return self._remaining_s() > 0

    @property
    def leader(self) -> str:
        return holder_of(self._lease) if self._lease else ""

    async def wait_leading(self) -> None:
        await self._leading.wait()

    async def run(self, work: EngineWork) -> NoReturn:
        self._work = work
        while not await self._tried(self._campaign, self._settings.renew_deadline_s):
            self._report_change()
            await self._clock.sleep(self._pause_s())
        self._report_change()
        try:
            while True:
                await self._hold_once()
        finally:
            self._report_change()

    async def release(self) -> None:
        if self._renewed_at is None or self._lease is None:
            return
        self._renewed_at = None
        if self._was_leading:
            self._was_leading = False
            self._leading.clear()
            self._report(False)
        lease = released(self._lease, self._clock.now())
        if await self._tried(lambda: self._lease_api.replace(LEASE, lease), self._settings.retry_s):
            _logger.info("lease released", extra=log_fields(lease=self._settings.id))

    async def _hold_once(self) -> None:
        """Wait for the next renewal and make it; report at once when the deadline passes meanwhile."""
        left_s = self._remaining_s()
        if left_s <= 0:
            self._report_change()
            left_s = self._settings.renew_deadline_s
        await self._clock.sleep(min(self._settings.retry_s, left_s))
        if (left_s := self._remaining_s()) <= 0:
            self._report_change()
            left_s = self._settings.renew_deadline_s
        await self._tried(self._renew, left_s)
        self._report_change()

    async def _campaign(self) -> None:
        """Take the Lease if it is free; raises where it is not."""
        sent_at = self._clock.monotonic()
        try:
            found = await self._lease_api.get(LEASE, self._settings.namespace, self._settings.id)
        except NotFoundError:
            if self._lease is not None:
                self._see({})
                if not self._is_free({}):
                    raise ClusterError("the Lease was deleted, and its holder may write") from None
            self._keep(await self._lease_api.create(LEASE, self._new()))
        else:
            self._see(found)
            if not self._is_free(found):
                self._report_division(holder_of(found))
                raise ClusterError(f"`{holder_of(found)}` is the leader")
            sent_at = self._clock.monotonic()
            lease = taken(found, self._identity, self._settings.lease_s, self._clock.now())
            self._keep(await self._lease_api.replace(LEASE, lease))
        self._renewed_at = sent_at

    def _report_division(self, holder: str) -> None:
        """Beside replicas that divide the CRs, this one would wait for ever without a word."""
        division = Division.of(holder)
        if division is None or self._has_reported_division:
            return
        self._has_reported_division = True
        _logger.warning(
            f"replicas here divide the CRs into {division.way}, this one does not; it waits until they"
            " are gone",
            extra=log_fields(
                lease=f"{self._settings.namespace}/{self._settings.id}",
                hint=f"start all replicas with `--{division.way}={division.count}`, or none",
            ),
        )

    async def _renew(self) -> None:
        """Renew our Lease; raises `LeadershipLostError` where another process leads."""
        assert self._lease is not None
        sent_at = self._clock.monotonic()
        try:
            lease = renewed(self._lease, self._clock.now())
            self._keep(await self._lease_api.replace(LEASE, lease))
        except NotFoundError:
            self._keep(await self._lease_api.create(LEASE, self._new()))
        except ConflictError:
            await self._renew_after_conflict()
        self._renewed_at = sent_at

    async def _renew_after_conflict(self) -> None:
        """Our own renewal may have arrived although we saw no answer; then the Lease is still ours."""
        found = await self._lease_api.get(LEASE, self._settings.namespace, self._settings.id)
        if holder_of(found) != self._identity:
            self._renewed_at = None
            raise LeadershipLostError(
                f"another replica is the leader now: `{holder_of(found)}` holds the Lease"
                f" `{self._settings.namespace}/{self._settings.id}`"
            )
        self._keep(await self._lease_api.replace(LEASE, renewed(found, self._clock.now())))

    async def _tried(self, call: Callable[[], Awaitable[Any]], limit_s: float) -> bool:
        """Whether a call to the API server came to an end in time and said yes."""
        attempt = asyncio.ensure_future(call())
        limit = asyncio.ensure_future(self._clock.sleep(limit_s))
        try:
            await asyncio.wait({attempt, limit}, return_when=asyncio.FIRST_COMPLETED)
            if not attempt.done():
                _logger.warning(
                    "could not renew the lease in time", extra=log_fields(seconds=limit_s)
                )
                return False
            await attempt
        except ForbiddenError as failure:
            _logger.error(
                "not allowed to lead", extra=log_fields(error=failure.message, hint=failure.hint)
            )
            return False
        except ClusterError as failure:
            _logger.debug(
                "did not become the leader, trying again", extra=log_fields(why=failure.message)
            )
            return False
        except LeadershipLostError:
            raise
        except Exception:  # a Lease with nonsense in it, or a bug: no Lease then
            _logger.exception("internal error: leader election failed")
            return False
        finally:
            await _ended(attempt, limit)
        return True

    def _see(self, lease: Json) -> None:
        if self._lease is None or self._lease.get("spec") != lease.get("spec"):
            self._seen_at = self._clock.monotonic()
        self._lease = lease

    def _keep(self, lease: Json) -> None:
        self._lease = lease

    def _is_free(self, lease: Json) -> bool:
        """It was released, or not renewed for as long as was promised, by our clock."""
        if holder_of(lease) == self._identity or is_released(lease):
            return True
        patience_s = max(duration_of(lease), self._settings.lease_s)
        return self._clock.monotonic() >= self._seen_at + patience_s

    def _new(self) -> Json:
        settings = self._settings
        return new_lease(
            settings.namespace, settings.id, self._identity, settings.lease_s, self._clock.now()
        )

    def _remaining_s(self) -> float:
        """How much longer we may write without a further renewal."""
        if self._renewed_at is None:
            return 0.0
        return self._renewed_at + self._settings.renew_deadline_s - self._clock.monotonic()

    def _pause_s(self) -> float:
        return self._settings.retry_s * (1 + _JITTER * random.random())  # noqa: S311 - no secret

    def _report_change(self) -> None:
        leads = self.may_write()
        if leads == self._was_leading:
            return
        self._was_leading = leads
        if leads:
            self._leading.set()
            _logger.info(
                "leading", extra=log_fields(lease=self._settings.id, identity=self._identity)
            )
        else:
            self._leading.clear()
            _logger.warning("no longer the leader", extra=log_fields(lease=self._settings.id))
        self._report(leads)

    def _report(self, leads: bool) -> None:
        self._on_change(leads)
        if self._work is not None:
            self._work.on_leading_change()
            if not leads:
                self._work.runs.interrupt_runs("this replica is not the leader now")


async def _ended(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
