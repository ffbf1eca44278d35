"""Each rule of shards, broken: the model must notice every one of them, or it proves nothing.

A mutant replaces one decision of the real code by a wrong one, and names the story of the small
world under which that shows: two write for a shard, or none does in time, or the wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from rolecall.election import holder_of
from rolecall.extensions.shards import (
    claims,
    decisions,
    holder,
    holdings,
    lease_calls,
    lease_shapes,
    membership,
    mode_lease,
    shard_writes,
    sightings,
)
from rolecall.extensions.shards.sightings import Hold
from tests.unit.extensions.shards.model.lease_store import LeaseStore
from tests.unit.extensions.shards.model.model_world import HELD_WITHIN_S
from tests.unit.extensions.shards.model.replica import ModelClock

Patch = AbstractContextManager[Any]
Faults = tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Mutant:
    rule: str  # what is broken
    breaks: Callable[[], Patch]
    story: Faults  # under which it shows
    within_s: float = HELD_WITHIN_S

    def __str__(self) -> str:
        return self.rule


def _with(owner: Any, name: str, value: Any) -> Callable[[], Patch]:
    return lambda: patch.object(owner, name, value)


def _wrapped(owner: Any, name: str, wrap: Callable[..., Any]) -> Callable[[], Patch]:
    real = getattr(owner, name)

    def wrong(*args: Any, **more: Any) -> Any:
        return wrap(real, *args, **more)

    return lambda: patch.object(owner, name, wrong)


def _all(*patches: Callable[[], Patch]) -> Callable[[], Patch]:
    @contextmanager
    def entered() -> Any:
        with ExitStack() as stack:
            for begin in patches:
                stack.enter_context(begin())
            yield

    return entered


def _ends_without(proof: str) -> Callable[[], Patch]:
    """The right to write, with one proof less."""

    def ends_at(self: Any, claim: Any) -> float:
        proofs = {
            "claim": claim.proven_at,
            "rest": self._proven_at(),
        }
        kept = [moment for name, moment in proofs.items() if name != proof]
        return float(min(kept) + self._deadline_s)

    return _with(holdings.Holdings, "_ends_at", ends_at)


def _free_where(is_free: Callable[[Any, Any], bool]) -> Callable[[], Patch]:
    def hold_of(real: Any, self: Any, shard: int) -> Hold:
        record = self.listed.shards.get(shard)
        return Hold.FREE if record is not None and is_free(self, record) else real(self, shard)

    return _wrapped(sightings.Sightings, "hold_of", hold_of)


def _unconditional(real: Any, self: Any, body: Mapping[str, Any]) -> Any:
    stored = self.get(body["metadata"]["name"])
    version = {"resourceVersion": stored["metadata"]["resourceVersion"]}
    return real(self, {**body, "metadata": {**body["metadata"], **version}})


async def _goes_on_after_a_release(real: Any, self: Any, claim: Any, tenure: str) -> None:
    try:
        await real(self, claim, tenure)
    except Exception:
        self._releasing.pop(claim.shard, None)
        claim.leaving_since = claim.ended_at = None
        self._holdings.claims.by_shard[claim.shard] = claim
        raise


def _is_only_itself(real: Any, view: Any, own: Any) -> dict[str, int]:
    return {tenure: weight for tenure, weight in real(view, own).items() if tenure == own.tenure}


def _by_turns(count: int, weights: Mapping[str, int]) -> dict[int, str]:
    names = sorted(weights)
    return {shard: names[-1 - shard % len(names)] if names else "" for shard in range(count)}


def _earlier(real: Any, steps: Any, view: Any, own: Any, now: float) -> None:
    with patch.object(lease_shapes.MemberRecord, "lasts_s", 4.0):
        real(steps, view, replace(own, lease_s=4.0), now)


def _without(field: str) -> Callable[..., Any]:
    def decide(real: Any, *args: Any) -> Any:
        steps = real(*args)
        getattr(steps, field).clear()
        return steps

    return decide


def _state_with_holder(self: Any, shard: int, record: Any) -> object:
    if record is None:
        return None
    holder = self.listed.members.get(record.tenure)
    return (self.hold_of(shard), record.version, holder.version if holder else "")


def _keeps_the_mark(real: Any, record: Any, *of: Any) -> Any:
    lease = real(record, *of)
    annotations = {
        **lease["metadata"]["annotations"],
        lease_shapes.RELEASED_BY: "another",
    }
    return {**lease, "metadata": {**lease["metadata"], "annotations": annotations}}


def _counted_from_answers() -> Callable[[], Patch]:
    """A proof counts from when it arrives, which nothing bounds."""

    def renewed(real: Any, self: Any, tenure: str, lease: Any, sent_at: float) -> None:
        real(self, tenure, lease, self._clock.boottime())

    def checked(real: Any, self: Any, listed: Any, listed_at: float, skipped: Any) -> Any:
        return real(self, listed, listed_at + 25.0, skipped)

    def proven(real: Any, self: Any, moment: float) -> None:
        real(self, self._clock.boottime())

    def patient(real: Any, self: Any, api: Any, naming: Any, clock: Any, limit_s: float) -> None:
        real(self, api, naming, clock, 1000.0)

    return _all(
        _wrapped(membership.Membership, "_renewed", renewed),
        _wrapped(claims.Claims, "check", checked),
        _wrapped(mode_lease.ModeLease, "_prove", proven),
        _wrapped(lease_calls.LeaseCalls, "__init__", patient),
    )


# The holder knows that the shard is for another, and waits for a run.
_GIVING: Faults = ((0.0, "run"), (0.3, "join"))

MUTANTS = (
    Mutant(
        "the right to write ends before others may take",
        _wrapped(holdings.Holdings, "_ends_at", lambda real, *of: real(*of) + 8.0),
        ((0.0, "cut long"),),
    ),
    Mutant(
        "a proof counts from when it was asked for",
        _counted_from_answers(),
        ((0.0, "stall"), (6.0, "stall")),
    ),
    Mutant(
        "writing needs proof that the member was renewed",
        _with(holder.ShardHolder, "_proven_at", lambda self: self._mode.proven_at),
        ((0.0, "refuse writes"), (0.3, "refuse watches")),
    ),
    Mutant(
        "writing needs proof that the shard's Lease is ours",
        _ends_without("claim"),
        ((0.0, "refuse lists"), (0.3, "name the other")),
    ),
    Mutant(
        "writing needs proof that replicas work by shards",
        _with(holder.ShardHolder, "_proven_at", lambda self: self._member.renewed_at),
        ((0.0, "kill the other"), (0.3, "refuse the mode"), (0.3, "a leader")),
    ),
    Mutant(
        "a shard of unknown holder is taken after a whole lease",
        _with(decisions, "_wait_left", lambda *_: -1000.0),
        (*_GIVING, (0.3, "pause"), (0.3, "clear the shard")),
    ),
    Mutant(
        "a missing Lease is made without a holder",
        _wrapped(
            shard_writes,
            "unheld_shard",
            lambda real, naming, *of: lease_shapes.released_shard(
                real(naming, *of), naming, "none", of[-1]
            ),
        ),
        (*_GIVING, (0.3, "pause"), (0.3, "delete the shard")),
    ),
    Mutant(
        "a member whose Lease is missing may live",
        _free_where(lambda seen, record: record.tenure not in seen.listed.members),
        ((0.0, "pause"), (0.3, "delete the member")),
    ),
    Mutant(
        "a member whose Lease is strange may live",
        _free_where(
            lambda seen, record: bool(
                (member := seen.listed.members.get(record.tenure)) and not member.is_sound
            )
        ),
        ((0.0, "pause"), (0.3, "clear the member")),
    ),
    Mutant(
        "a member is buried after a whole lease",
        _wrapped(decisions, "_bury", _earlier),
        ((0.0, "cut"),),
    ),
    Mutant(
        "a write replaces the version that was decided on",
        _wrapped(LeaseStore, "replace", _unconditional),
        ((0.0, "the other is late"), (6.0, "cut")),
    ),
    Mutant(
        "a replica whose tenure was ended begins a new one",
        _with(membership.Membership, "_why_over", lambda *_: ""),
        ((0.0, "refuse longer"), (20.0, "kill the other")),
    ),
    Mutant(
        "what is released is not ours from before it is sent",
        _with(holdings.Holdings, "give_up", lambda *_: None),
        ((0.0, "join"),),
    ),
    Mutant(
        "a release that was not answered is not taken back",
        _wrapped(shard_writes.ShardWrites, "_release", _goes_on_after_a_release),
        (*_GIVING, (5.0, "lose answers")),
    ),
    Mutant(
        "a Lease of another count is not ours",
        _wrapped(
            claims.Claims,
            "_is_ours",
            lambda real, self, claim, record, at: real(
                self, claim, replace(record, count=self._count), at
            ),
        ),
        ((0.0, "another count"), (13.0, "slow"), (2.5, "join")),
    ),
    Mutant(
        "what names us, and we did not take, waits for a whole lease",
        _wrapped(
            decisions,
            "_wait_left",
            lambda real, view, own, record, now: (
                0.0 if record.tenure == own.tenure else real(view, own, record, now)
            ),
        ),
        ((0.0, "pause"), (0.3, "name the other")),
    ),
    Mutant(
        "a shard that is taken is not marked as released any more",
        _wrapped(shard_writes, "taken_shard", _keeps_the_mark),
        (*_GIVING, (0.3, "pause"), (0.3, "clear the shard")),
    ),
    Mutant(
        "the clock of a machine that sleeps goes on",
        _with(ModelClock, "boottime", ModelClock.monotonic),
        ((0.0, "suspend"),),
    ),
    Mutant(
        "a leader is waited for",
        _wrapped(
            mode_lease.ModeLease,
            "_silent_in_s",
            lambda real, self, found: 0.0 if holder_of(found) == "leader" else real(self, found),
        ),
        ((0.0, "kill the other"), (0.3, "cut long"), (0.3, "a leader")),
    ),
    Mutant(
        "replicas with another number of shards are waited for",
        _with(lease_shapes.Naming, "mode_text", "shards/any"),
        ((0.0, "another number of shards"),),
    ),
    Mutant(
        "only whom a shard is for takes it",
        _wrapped(decisions, "_weights", _is_only_itself),
        ((0.0, "join"),),
    ),
    Mutant(
        "a Lease that is missing is made by any replica that sees it, if its winner does not",
        _wrapped(
            decisions,
            "_decide_unclaimed",
            lambda real, steps, view, own, *of: real(
                steps, view, replace(own, retry_s=1000.0), *of
            ),
        ),
        ((0.0, "kill"), (0.3, "delete the shard")),
    ),
    Mutant(
        "who waited for a shard declares it free for newcomers",
        _wrapped(holder, "decide", _without("free")),
        ((0.0, "kill"), (0.3, "delete the shard"), (16.5, "join")),
        within_s=6.0,
    ),
    Mutant(
        "a holder that renews does not stop the wait for a strange shard",
        _with(sightings.Sightings, "_state_of", _state_with_holder),
        ((0.0, "another count"),),
    ),
    Mutant(
        "a member that was silent for a whole lease is buried",
        _wrapped(holder, "decide", _without("bury")),
        ((0.0, "kill"),),
    ),
)
