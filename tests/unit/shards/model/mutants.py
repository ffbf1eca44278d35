"""Each rule of shards, broken: the model must notice every one of them, or it proves nothing.

A mutant replaces one decision of the real code by a wrong one, and names the faults under which that
shows. What it may do wrong is either: two write for a shard, or nobody does in time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from rolecall.clock import Clock
from rolecall.shards import claims, decisions, holdings, lease_shapes, membership, mode_lease
from rolecall.shards import hand as hands
from rolecall.shards import shard_writes, sightings
from rolecall.shards.sightings import Hold
from tests.unit.shards.model.lease_store import LeaseStore
from tests.unit.shards.model.replica import ModelClock

Patch = AbstractContextManager[Any]


@dataclass(frozen=True)
class Mutant:
    rule: str  # what is broken
    breaks: Callable[[], Patch]
    faults: tuple[str, ...]  # of the small world, in any order


def _with(owner: Any, name: str, value: Any) -> Callable[[], Patch]:
    return lambda: patch.object(owner, name, value)


def _wrapping(owner: Any, name: str, wrap: Callable[..., Any]) -> Callable[[], Patch]:
    real = getattr(owner, name)
    return lambda: patch.object(owner, name, lambda *args, **more: wrap(real, *args, **more))


def _unconditional(self: LeaseStore, body: Mapping[str, Any]) -> Any:
    stored = self.get(body["metadata"]["name"])
    metadata = {
        **body["metadata"],
        "resourceVersion": stored["metadata"]["resourceVersion"],
    }
    return _REPLACE(self, {**body, "metadata": metadata})


_REPLACE = LeaseStore.replace


def _ends_without(*proofs: str) -> Callable[[Any, Any], float]:
    """The right to write, with fewer proofs."""

    def ends_at(self: holdings.Holdings, claim: claims.Claim) -> float:
        all_proofs = {"claim": claim.proven_at, "rest": self._proven_at()}
        kept = [moment for name, moment in all_proofs.items() if name not in proofs]
        return min(kept) + self._deadline_s

    return ends_at


def _hold_with(wrong: Mapping[Hold, Hold]) -> Callable[..., Hold]:
    def hold_of(real: Any, self: Any, shard: int) -> Hold:
        hold = real(self, shard)
        return wrong.get(hold, hold)

    return hold_of


async def _give_up_too_late(
    self: shard_writes.ShardWrites, claim: claims.Claim, tenure: str
) -> None:
    """Goes on with a shard whose release was sent and not answered."""
    lease = lease_shapes.released_shard(claim.lease, self._naming, tenure, self._clock.now())
    try:
        await self._calls.replace(lease)
    except Exception:
        claim.leaving_since = claim.ended_at = None
        self._holdings.claims.by_shard[claim.shard] = claim
        raise
    finally:
        self._releasing.pop(claim.shard, None)


async def _never_over(self: membership.Membership, profile: Any) -> None:
    """Makes its Lease anew when it is gone, and goes on as if nothing had been."""
    sent_at = self._clock.boottime()
    try:
        written = await self._write(profile)
    except membership.NotFoundError:
        self._lease = None
        written = await self._write(profile)
    self._renewed(self.tenure, written, sent_at)


def _later_than_it_was_sent(real: Any, self: Any, tenure: str, lease: Any, sent_at: float) -> None:
    """Counts from the answer, to which a call that hung may have taken long."""
    real(self, tenure, lease, sent_at + 8.0)


def _takes_what_names_it(real: Any, view: Any, own: Any, record: Any, now: float) -> float:
    return -1.0 if record.tenure == own.tenure else real(view, own, record, now)


MUTANTS = (
    Mutant(
        "the renew deadline is shorter than the lease",
        _wrapping(
            holdings.Holdings,
            "_ends_at",
            lambda real, self, claim: real(self, claim) + 8.0,
        ),
        ("pause long", "cut long", "run"),
    ),
    Mutant(
        "a renewal counts from when it was sent",
        _wrapping(membership.Membership, "_renewed", _later_than_it_was_sent),
        ("pause long", "cut long", "kill"),
    ),
    Mutant(
        "writing needs proof that the member was renewed",
        _with(holdings.Holdings, "_ends_at", _ends_without("rest")),
        ("cut long", "delete the member", "clear the member"),
    ),
    Mutant(
        "writing needs proof that the shard's Lease is ours",
        _with(holdings.Holdings, "_ends_at", _ends_without("claim")),
        ("slow", "cut long", "delete the shard", "clear the shard"),
    ),
)


__all__ = [
    "MUTANTS",
    "Clock",
    "Mutant",
    "ModelClock",
    "decisions",
    "hands",
    "mode_lease",
    "sightings",
]
