"""Writes shard Leases, and ends the Leases of members that are gone, as a look decided.

Each write replaces the exact version on which the decision is based. If the response is lost, the next
list shows the outcome. Only a few writes are in flight at a time, so that a hundred shards do not delay
the renewals on which all of them depend; and no look waits for them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.extensions.shards.claims import Claim, Claims
from rolecall.extensions.shards.decisions import Steps
from rolecall.extensions.shards.holdings import Holdings
from rolecall.extensions.shards.lease_calls import LeaseCalls
from rolecall.extensions.shards.lease_shapes import (
    MemberRecord,
    Naming,
    ShardRecord,
    ended_member,
    holder_text,
    released_shard,
    taken_shard,
    unheld_shard,
)
from rolecall.kube import ConflictError, NotFoundError
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_AT_A_TIME = 8


class ShardWrites:
    """The writes of one tenure; one at a time for each shard."""

    def __init__(
        self,
        calls: LeaseCalls,
        naming: Naming,
        clock: Clock,
        holdings: Holdings,
        on_done: Callable[[bool], None],
    ) -> None:
        self._calls = calls
        self._naming = naming
        self._clock = clock
        self._holdings = holdings
        self._on_done = on_done  # and whether a look is worth it
        self._turns = asyncio.Semaphore(_AT_A_TIME)
        self._tasks: dict[object, asyncio.Task[None]] = {}
        self._releasing: dict[int, Claim] = {}  # until a list shows that it is released
        # The version of each shard that was ours and that we released: a list may show it still.
        self.given: dict[int, str] = {}
        self._is_over = False
        self._was_cut = False  # whether we cancelled writes with an unknown outcome

    @property
    def in_flight(self) -> set[int]:
        """Shards for which a write is under way, or its outcome is not known."""
        return {key for key in self._tasks if isinstance(key, int)} | set(self._releasing)

    def do(self, steps: Steps, host: str, tenure: str, lease_s: float) -> None:
        """Begin what a look decided."""
        holder = holder_text(host, tenure)
        for shard in steps.create:
            self._begin(shard, self._create(shard, lease_s))
        for record in steps.take:
            self._begin(record.shard, self._take(self._holdings.claims, record, holder, lease_s))
        for record in steps.free:
            self._begin(record.shard, self._free(record, tenure))
        for member in steps.bury:
            self._begin(member.tenure, self._bury(member, holder))
        for member in steps.sweep:
            self._begin(member.tenure, self._sweep(member))

    def release(self, claim: Claim, tenure: str) -> None:
        """Give a shard away. From now on it is not ours, whatever becomes of the write."""
        self._holdings.give_up(claim)
        self._releasing[claim.shard] = claim
        self._begin(claim.shard, self._release(claim, tenure))

    def settle(self, versions: dict[int, str], tenure: str) -> None:
        """A list arrived: try releases again that did not arrive yet, forget those that did."""
        for shard, claim in list(self._releasing.items()):
            if shard in self._tasks:
                continue
            if versions.get(shard) == claim.version:
                self._begin(shard, self._release(claim, tenure))
            else:
                del self._releasing[shard]

    async def stop(self) -> bool:
        """Begin no more writes; returns whether one may have an unknown outcome."""
        self._is_over = True
        await self.cut()
        self._was_cut = self._was_cut or bool(self._releasing)
        return self._was_cut

    async def cut(self) -> None:
        """Wait for no write that is under way."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._was_cut = self._was_cut or bool(tasks)

    def _begin(self, key: object, write: Coroutine[Any, Any, None]) -> None:
        if self._is_over or key in self._tasks:
            write.close()
            return
        self._tasks[key] = asyncio.ensure_future(self._made(key, write))

    async def _made(self, key: object, write: Coroutine[Any, Any, None]) -> None:
        claims, is_worth_a_look = self._holdings.claims, True
        try:
            async with self._turns:
                await write
        except (ConflictError, NotFoundError):
            pass  # modified concurrently, perhaps by ourselves: the next list shows it
        except ClusterError as failure:
            is_worth_a_look = False  # the next one comes by itself
            _logger.debug("a Lease was not written", extra=log_fields(why=failure.message))
        except Exception:
            _logger.exception("internal error: a write to a Lease of shards failed")
        finally:
            write.close()
            del self._tasks[key]
            if isinstance(key, int):
                claims.written_at[key] = self._clock.boottime()
            self._on_done(is_worth_a_look)

    async def _create(self, shard: int, lease_s: float) -> None:
        await self._calls.create(unheld_shard(self._naming, shard, lease_s, self._clock.now()))

    async def _take(self, claims: Claims, record: ShardRecord, holder: str, lease_s: float) -> None:
        if claims is not self._holdings.claims:
            return  # the tenure that decided it is over
        tried = claims.by_shard.get(record.shard)
        if tried is not None and tried.based_on == record.version:
            wanted = tried.wanted  # the very same, so that it does not matter which one arrives
        else:
            wanted = taken_shard(record, self._naming, holder, lease_s, self._clock.now())
        claim = claims.attempt(record, wanted, self._clock.boottime())
        claims.took(claim, await self._calls.replace(wanted))

    async def _free(self, record: ShardRecord, tenure: str) -> None:
        now = self._clock.now()
        await self._calls.replace(released_shard(record.lease, self._naming, tenure, now))

    async def _release(self, claim: Claim, tenure: str) -> None:
        lease = released_shard(claim.lease, self._naming, tenure, self._clock.now())
        try:
            await self._calls.replace(lease)
        except (ConflictError, NotFoundError):
            self._releasing.pop(claim.shard, None)
            raise
        self._releasing.pop(claim.shard, None)
        self.given[claim.shard] = claim.version

    async def _bury(self, member: MemberRecord, by: str) -> None:
        lease = ended_member(member.lease, self._naming, by, self._clock.now())
        await self._calls.replace(lease)
        fields = log_fields(host=member.host, lease=self._naming.member(member.tenure))
        _logger.warning("a replica was silent for a whole lease; its shards are free", extra=fields)

    async def _sweep(self, member: MemberRecord) -> None:
        await self._calls.delete(self._naming.member(member.tenure), member.version)
