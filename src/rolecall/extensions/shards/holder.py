"""Divides keys among replicas: each holds a part of the shards by Leases, and writes for no other.

Promise: two replicas never write for one key at the same time. Each file here states its part of it.
Together: a replica takes a shard only if no other replica can write for it, or after its Lease did not
change for a whole lease; and the holder stops by its own clock at the renew deadline, which is shorter.
A replica that loses some or all shards does not end: it continues with the others, or begins anew.

The hard part is an API server that is slow or does not respond. Concurrent loops do not wait for each
other: one keeps the mode, one renews our own Lease, one lists all Leases and decides, one hands expired
and new shards to the engine, one watches changes. None of them ever raises.

Not promised: safety if the process is paused between the check of `holds` and the request, for as long
as lies between deadline and lease; or if another client writes the parts of Leases that only we write.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from rolecall import __version__
from rolecall.clock import Clock
from rolecall.election import current_hand, holder_of
from rolecall.errors import ClusterError
from rolecall.extensions.shards.decisions import Standing, decide
from rolecall.extensions.shards.hand import Hand
from rolecall.extensions.shards.holdings import Holdings
from rolecall.extensions.shards.lease_calls import LeaseCalls, ShardLeaseApi
from rolecall.extensions.shards.lease_shapes import (
    Naming,
    Profile,
    name_of,
    read_leases,
    version_of,
)
from rolecall.extensions.shards.membership import Membership
from rolecall.extensions.shards.mode_lease import ModeLease
from rolecall.extensions.shards.news import News
from rolecall.extensions.shards.ports import ShardPorts
from rolecall.extensions.shards.settings import ShardSettings
from rolecall.extensions.shards.shard_writes import ShardWrites
from rolecall.extensions.shards.sightings import Sightings
from rolecall.extensions.shards.view import ShardsView, view_of
from rolecall.extensions.shards.waits import in_time, wait_woken
from rolecall.kube import WatchEvent
from rolecall.log_fields import log_fields
from rolecall.workqueue import Key, part_of

_logger = logging.getLogger(__name__)
# Replicas that start together must not ask together for ever.
_JITTER = 0.1
# Changes come in groups: many shards change hands at once.
_GROUPING_S = 0.05
_GRANTING_S = 0.02
# How often a shard that is given up is asked whether a run is still there.
_EMPTY_S = 0.1


class ShardHolder:
    """Holds a part of the shards, as others hold the rest."""

    def __init__(  # noqa: PLR0913 - all that comes from outside
        self,
        lease_api: ShardLeaseApi,
        settings: ShardSettings,
        *,
        identity_host: str,
        clock: Clock,
        weight: int,
        ports: ShardPorts,
        watched: str = "",
    ) -> None:
        election = settings.election
        self._settings = settings
        self._host = identity_host
        self._clock = clock
        self._weight = weight
        self._ports = ports
        self._naming = Naming(election.id, election.namespace, settings.count, watched)
        # Half of the deadline: after a call that hung there is time for another.
        calls = LeaseCalls(lease_api, self._naming, clock, election.renew_deadline_s / 2)
        self._calls = calls
        self._mode = ModeLease(calls, self._naming, election, clock, self._on_mode_taken_away)
        self._member = Membership(
            calls, self._naming, election.lease_s, clock, self._on_tenure_ended
        )
        self._holdings = Holdings(settings, clock, ports, self._proven_at)
        self._writes = ShardWrites(calls, self._naming, clock, self._holdings, self._on_written)
        self._sightings = Sightings(settings.count, election.renew_deadline_s, watched)
        self._news = News(self._naming)
        self._looked_at: float | None = None  # when the last list that arrived was asked for
        self._first_look = asyncio.Event()
        self._sees_mode = False
        self._look_now, self._renew_now, self._notify_now = (asyncio.Event() for _ in range(3))
        self._is_leaving = False
        self._is_over = False

    async def run(self) -> None:
        """Take part until cancelled."""
        try:
            async with asyncio.TaskGroup() as loops:
                loops.create_task(self._keep_mode(), name="shards: mode")
                loops.create_task(self._keep_member(), name="shards: member")
                loops.create_task(self._keep_looking(), name="shards: look")
                loops.create_task(self._keep_notifying(), name="shards: report")
                loops.create_task(self._keep_watching(), name="shards: watch")
        finally:
            await self._writes.cut()

    async def wait_leading(self) -> None:
        await self._holdings.leading.wait()

    def may_write(self) -> bool:
        hand = current_hand()
        return hand.holds() if hand is not None else self._holdings.may_act()

    def hand_for(self, key: Key) -> Hand | None:
        return self._holdings.hand_of(part_of(key, self._settings.count), for_new=True)

    def is_ours(self, key: Key) -> bool:
        """Held, or being handed over with keys in hand."""
        return self._holdings.hand_of(part_of(key, self._settings.count)) is not None

    def leads(self) -> bool:
        """Whether the first shard is ours: its holder runs singleton work."""
        return self._holdings.hand_of(0) is not None

    @property
    def leader(self) -> str:
        """Who has the first shard."""
        record = self._sightings.listed.shards.get(0)
        return record.holder if record is not None else ""

    def view(self) -> ShardsView:
        now = self._clock.boottime()
        why_not = self._calls.refusal or self._mode.why_not
        if self._looked_at is not None and not self._saw_all_lately():
            why_not = why_not or "the Leases could not be read for longer than they last"
        return view_of(self._sightings, self._settings.count, self._member.tenure, why_not, now)

    async def leave(self) -> None:
        """Say that we leave, and hand over each shard as it becomes empty; returns when none is left.

        `run` must go on meanwhile.
        """
        self._is_leaving = True
        for woken in (self._renew_now, self._look_now, self._notify_now):
            woken.set()
        self._holdings.give(self._holdings.claims.by_shard)
        election = self._settings.election
        # Patience, the wait after runs that were ended, and a server that hangs: no longer than that.
        limit_s = self._settings.patience_s + election.lease_s + election.renew_deadline_s
        began = self._clock.boottime()
        while self._holdings.claims.by_shard or self._writes.in_flight:
            if self._clock.boottime() >= began + limit_s:
                return
            await self._clock.sleep(_EMPTY_S)

    async def release(self) -> None:
        """End of the process, when nothing is written any more: others may have all at once."""
        if self._is_over:
            return
        self._is_over = True
        had_writes = await self._writes.stop()
        claimed = bool(self._holdings.claims.by_shard)
        self._holdings.close()
        is_named = had_writes or claimed or self._is_named()
        gone = self._member.end(self._host) if is_named else self._member.remove()
        try:
            await in_time(self._clock, gone, self._settings.election.retry_s)
        except ClusterError as failure:
            _logger.debug("the member Lease stays behind", extra=log_fields(why=failure.message))
        else:
            _logger.info("shards released", extra=log_fields(lease=self._naming.id))

    def _is_named(self) -> bool:
        """Whether the Lease of a shard may name us."""
        return any(
            record.tenure == self._member.tenure and self._writes.given.get(shard) != record.version
            for shard, record in self._sightings.listed.shards.items()
        )

    def _proven_at(self) -> float:
        return min(self._mode.proven_at, self._member.renewed_at)

    def _on_mode_taken_away(self, why: str) -> None:
        self._holdings.drop_all(why)
        self._look_now.set()

    def _on_tenure_ended(self, why: str) -> None:
        self._holdings.drop_all(f"this replica counted as gone: {why}")
        self._renew_now.set()
        self._look_now.set()

    def _on_written(self, is_worth_a_look: bool) -> None:
        self._notify_now.set()
        if is_worth_a_look:
            self._look_now.set()

    async def _keep_mode(self) -> None:
        while not self._is_over:
            await self._renewed(self._mode.keep)
            if not self._sees_mode and self._mode.looked_at is not None:
                self._sees_mode = True
                self._renew_now.set()
            await self._clock.sleep(min(self._pause_s(), max(self._mode.silent_in_s, _GROUPING_S)))

    async def _keep_member(self) -> None:
        await self._first_look.wait()
        while not self._is_over:
            # Who cannot see the Leases must not be counted on.
            if self._saw_all_lately():
                await self._renewed(lambda: self._member.renew(self._profile()))
            await wait_woken(self._clock, self._pause_s(), self._renew_now)

    async def _keep_looking(self) -> None:
        while not self._is_over:
            self._next_look_s = self._pause_s()
            await self._tried(self._look)
            if await wait_woken(self._clock, self._next_look_s, self._look_now):
                await self._clock.sleep(_GROUPING_S)
                self._look_now.clear()

    async def _keep_notifying(self) -> None:
        while not self._is_over:
            await self._tried(self._notify_engine)
            left_s = min(max(self._holdings.left_s(), 0.0), self._settings.election.retry_s)
            if self._holdings.is_giving:
                left_s = min(left_s, _EMPTY_S)
            if await wait_woken(self._clock, left_s, self._notify_now):
                await self._clock.sleep(_GRANTING_S)

    async def _keep_watching(self) -> None:
        while not self._is_over:
            await self._tried(self._watch)
            await self._clock.sleep(self._pause_s())

    async def _look(self) -> None:
        """One look at all Leases, and what it asks of us."""
        asked_at = self._clock.boottime()
        listed = read_leases(await self._calls.list_labelled(), self._naming)
        now = self._clock.boottime()
        self._looked_at = asked_at
        self._first_look.set()
        self._member.note(listed.members.get(self._member.tenure), asked_at)
        holdings, tenure = self._holdings, self._member.tenure
        claims, in_flight = holdings.claims, self._writes.in_flight
        stale = {s for s in range(self._settings.count) if claims.is_stale(s, asked_at)}
        self._sightings.see(listed, now, skipped=stale | in_flight)
        holdings.expire()
        lost = claims.check(listed, asked_at, stale | in_flight)
        holdings.drop(lost, "another replica wrote the Lease of the shard")
        self._writes.settle(
            {shard: record.version for shard, record in listed.shards.items()}, tenure
        )
        own = Standing(
            tenure,
            self._settings.election.lease_s,
            self._settings.election.retry_s,
            self._is_leaving,
            may_take=holdings.may_act(),
            claimed=claims.confirmed(),
            in_flight=stale | self._writes.in_flight,
        )
        steps = decide(self._sightings, own, self._settings.count, now)
        holdings.give(steps.give)
        holdings.keep(steps.keep)
        self._writes.do(steps, self._host, tenure, self._settings.election.lease_s)
        self._next_look_s = min(self._next_look_s, max(steps.next_s, _GROUPING_S))
        self._notify_now.set()

    async def _notify_engine(self) -> None:
        """Notify the engine of expired and of new shards, and release the empty ones."""
        holdings = self._holdings
        holdings.expire()
        holdings.end_patience()
        if not self._is_leaving:
            holdings.grant()
        for claim in holdings.empty_ones():
            if claim.shard not in self._writes.in_flight:
                self._writes.release(claim, self._member.tenure)

    async def _watch(self) -> None:
        try:
            async with aclosing(self._calls.watch()) as events:
                async for event in events:
                    self._see_event(event)
        except ClusterError as failure:
            self._calls.note_watch(failure)
            raise

    def _see_event(self, event: WatchEvent) -> None:
        lease = event.object
        if tenure := self._naming.tenure_in(name_of(lease)):
            self._sightings.see_member(tenure, version_of(lease), self._clock.boottime())
        is_shard = self._naming.shard_in(name_of(lease)) is not None
        is_own = is_shard and holder_of(lease).endswith(f"_{self._member.tenure}")
        if self._news.is_news(event) and not is_own:
            self._look_now.set()

    def _profile(self) -> Profile:
        runs_per_min = self._ports.runs_per_minute()
        return Profile(
            self._host,
            self._weight,
            self._settings.count,
            __version__,
            self._is_leaving,
            runs_per_min,
            self._naming.watched,
        )

    def _saw_all_lately(self) -> bool:
        looked_at = (self._looked_at, self._mode.looked_at)
        oldest = self._clock.boottime() - self._settings.election.lease_s
        return all(moment is not None and moment > oldest for moment in looked_at)

    async def _renewed(self, step: Callable[[], Awaitable[None]]) -> None:
        """Renew something on which all hands hang."""
        could_act = self._holdings.may_act()
        await self._tried(step)
        self._notify_now.set()
        if self._holdings.may_act() and not could_act:
            self._look_now.set()

    async def _tried(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except ClusterError as failure:
            _logger.debug("shards: trying again", extra=log_fields(why=failure.message))
        except Exception:  # a Lease that makes no sense, or a bug: what is proven runs out then
            _logger.exception("internal error: shards could not be kept")

    def _pause_s(self) -> float:
        spread = 1 + _JITTER * (2 * random.random() - 1)  # noqa: S311 - no secret
        return self._settings.election.retry_s * spread
