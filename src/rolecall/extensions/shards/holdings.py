"""For which shards this member may write now, until when, and the notifications of the engine.

Promise: `Hand.holds` computes its result from our own clock at each call: none of the three proofs
(that replicas work by shards, that our member Lease was renewed, that the shard's Lease is ours) may be
older than the renew deadline. It does not depend on the punctuality of the event loop; the
notifications do.

A shard that is for another member is given up in steps: no new turn begins, runs may end within the
patience, then they are ended; what a run sent last may arrive for as long as a lease lasts beyond the
deadline, so a shard whose runs had to be ended is kept for so long. Nothing here talks to a server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable

from rolecall.clock import Clock
from rolecall.extensions.shards.claims import Claim, Claims
from rolecall.extensions.shards.hand import Hand
from rolecall.extensions.shards.ports import ShardPorts
from rolecall.extensions.shards.settings import ShardSettings


class Holdings:
    """The claims of the current tenure, and their hands."""

    def __init__(
        self,
        settings: ShardSettings,
        clock: Clock,
        ports: ShardPorts,
        proven_at: Callable[[], float],
    ) -> None:
        election = settings.election
        self._settings = settings
        self._deadline_s = election.renew_deadline_s
        # What others wait longer than we write: for writes that are under way, and processes that end.
        self._margin_s = max(election.lease_s - election.renew_deadline_s, 0.0)
        self._clock = clock
        self._ports = ports
        self._proven_at = proven_at
        self.claims = self._no_claims()
        self.leading = asyncio.Event()

    def may_act(self) -> bool:
        """Whether this member is one, and replicas work by shards."""
        return self._clock.boottime() < self._proven_at() + self._deadline_s

    def hand_of(self, shard: int, *, for_new: bool = False) -> Hand | None:
        """The hand of a shard; for a new turn only while it is not being given up."""
        claim = self.claims.by_shard.get(shard)
        if claim is None or claim.hand is None or not claim.hand.holds():
            return None
        return None if for_new and claim.leaving_since is not None else claim.hand

    def expire(self) -> None:
        """Notify the engine of shards whose proofs expired."""
        now = self._clock.boottime()
        out = {claim for claim in self._handed() if not self._is_in_hand(claim)}
        for claim in out:
            self._void(claim, now)
        self._notify_lost(out, "the Leases could not be renewed in time")

    def grant(self) -> None:
        """Give hands for what is proven to be ours."""
        gained = set()
        for claim in self.claims.by_shard.values():
            if claim.hand is None and claim.is_confirmed and claim.leaving_since is None:
                if self._clock.boottime() >= self._ends_at(claim):
                    continue
                claim.hand, claim.ended_at = Hand(claim.shard, self._is_valid), None
                gained.add(claim.shard)
        if gained:
            self.leading.set()
            self._ports.on_gained(frozenset(gained))

    def drop(self, shards: Collection[int], why: str) -> None:
        """They are not ours any more."""
        claims = [self.claims.by_shard.pop(shard) for shard in shards]
        now = self._clock.boottime()
        had_hand = {claim for claim in claims if claim.hand is not None}
        for claim in had_hand:
            self._void(claim, now)
        self._notify_lost(had_hand, why)

    def drop_all(self, why: str) -> None:
        """This tenure is over, or replicas work in another way."""
        self.drop(list(self.claims.by_shard), why)
        self.claims = self._no_claims()

    def give(self, shards: Iterable[int]) -> None:
        """They are for others: begin no turn for them."""
        now, newly = self._clock.boottime(), set()
        for shard in shards:
            claim = self.claims.by_shard[shard]
            if claim.leaving_since is None:
                claim.leaving_since = now
                newly.add(shard)
        if newly:
            self._ports.on_leaving(frozenset(newly))

    def keep(self, shards: Iterable[int]) -> None:
        """They are for us: where they were being given up, go on."""
        again = set()
        for shard in shards:
            claim = self.claims.by_shard[shard]
            if claim.leaving_since is not None:
                claim.leaving_since = None
                if claim.hand is not None:
                    again.add(shard)
        if again:
            self._ports.on_gained(frozenset(again))

    def end_patience(self) -> None:
        """End the runs of shards that were given up long enough ago."""
        now = self._clock.boottime()
        out = {
            claim
            for claim in self._handed()
            if claim.leaving_since is not None
            and now >= claim.leaving_since + self._settings.patience_s
            and self._ports.busy(claim.shard)
        }
        for claim in out:
            self._void(claim, now)
        self._notify_lost(out, "the shard is for another replica, and the runs took too long")

    def empty_ones(self) -> list[Claim]:
        """What is given up, and may be released now."""
        return [claim for claim in self.claims.by_shard.values() if self._may_be_released(claim)]

    @property
    def is_giving(self) -> bool:
        return any(claim.leaving_since is not None for claim in self.claims.by_shard.values())

    def give_up(self, claim: Claim) -> None:
        """Nothing may be written for it any more: it is about to be released."""
        if self.claims.by_shard.pop(claim.shard, None) is not None and claim.hand is not None:
            self._void(claim, self._clock.boottime())
            self._note_leading()

    def close(self) -> None:
        """Give up all claims at the end of the process, without writes and notifications."""
        for claim in list(self.claims.by_shard.values()):
            self.give_up(claim)

    def left_s(self) -> float:
        """Until the first hand runs out."""
        ends = [self._ends_at(claim) for claim in self._handed()]
        return min(ends, default=float("inf")) - self._clock.boottime()

    def _no_claims(self) -> Claims:
        return Claims(self._settings.count, self._deadline_s)

    def _handed(self) -> list[Claim]:
        return [claim for claim in self.claims.by_shard.values() if claim.hand is not None]

    def _ends_at(self, claim: Claim) -> float:
        return min(claim.proven_at, self._proven_at()) + self._deadline_s

    def _is_valid(self, hand: Hand) -> bool:
        claim = self.claims.by_shard.get(hand.shard)
        if claim is None or claim.hand is not hand:
            return False
        return self._clock.boottime() < self._ends_at(claim)

    def _is_in_hand(self, claim: Claim) -> bool:
        return claim.hand is not None and claim.hand.holds()

    def _void(self, claim: Claim, now: float) -> None:
        if claim.hand is not None:
            claim.hand.void()
        claim.hand, claim.ended_at = None, now

    def _may_be_released(self, claim: Claim) -> bool:
        if claim.leaving_since is None or not claim.is_confirmed:
            return False
        is_busy = self._ports.busy(claim.shard)
        if claim.ended_at is None:
            return not is_busy
        waited_s = self._clock.boottime() - claim.ended_at
        return waited_s >= self._margin_s and (not is_busy or waited_s >= self._deadline_s)

    def _notify_lost(self, claims: Collection[Claim], why: str) -> None:
        if claims:
            self._note_leading()
            self._ports.on_lost(frozenset(claim.shard for claim in claims), why)

    def _note_leading(self) -> None:
        if not self._handed():
            self.leading.clear()
