"""When a shard counts as ours: as long as lists show the very Lease that we wrote."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rolecall.extensions.shards.claims import Claim, Claims
from rolecall.extensions.shards.lease_shapes import (
    Listed,
    Naming,
    ShardRecord,
    read_leases,
    taken_shard,
    unheld_shard,
)
from rolecall.json_object import Json

NOW = datetime(2026, 11, 25, tzinfo=UTC)
NAMING = Naming("app", "ns", 1)
DEADLINE_S = 10.0


class Taken:
    """A shard that was taken at 100."""

    def __init__(self, *, is_answered: bool = True) -> None:
        free = with_version(unheld_shard(NAMING, 0, 15, NOW), "1")
        self.free = read_leases([free], NAMING).shards[0]
        self.wanted = taken_shard(self.free, NAMING, "a_t", 15, NOW)
        self.claims = Claims(1, DEADLINE_S)
        self.claim: Claim = self.claims.attempt(self.free, self.wanted, 100.0)
        self.stored = read_leases([with_version(self.wanted, "2")], NAMING).shards[0]
        if is_answered:
            self.claims.took(self.claim, self.stored.lease)

    def listed(self, record: ShardRecord | None, at: float) -> set[int]:
        return self.claims.check(Listed({}, {0: record} if record else {}), at, ())


def with_version(lease: Json, version: str) -> Json:
    return {**lease, "metadata": {**lease["metadata"], "resourceVersion": version}}


def in_version(record: ShardRecord, version: str, **more: Any) -> ShardRecord:
    return replace(record, lease=with_version(record.lease, version), **more)


def test_list_that_shows_the_same_version_is_proof_however_late() -> None:
    taken = Taken()
    assert taken.listed(taken.stored, 500.0) == set()
    assert taken.claim.proven_at == 500.0


def test_another_version_with_our_mark_is_ours_within_the_deadline_only() -> None:
    taken = Taken()
    assert taken.listed(in_version(taken.stored, "3"), 109.0) == set()
    assert taken.listed(in_version(taken.stored, "4"), 118.0) == set()
    assert taken.listed(in_version(taken.stored, "5"), 128.0) == {0}


@pytest.mark.parametrize("change", [{"count": 3}, {"holder": "b_u"}])
def test_lease_that_others_cannot_recognize_as_ours_is_lost(change: dict[str, Any]) -> None:
    taken = Taken()
    spec = {**taken.stored.lease["spec"], "holderIdentity": change.get("holder", "a_t")}
    changed = replace(taken.stored, lease={**taken.stored.lease, "spec": spec}, **change)
    assert taken.listed(in_version(changed, "3"), 101.0) == {0}


def test_lease_that_is_gone_is_lost() -> None:
    assert Taken().listed(None, 101.0) == {0}


def test_take_that_was_not_answered_is_ours_when_a_list_shows_it() -> None:
    taken = Taken(is_answered=False)
    assert taken.listed(taken.free, 101.0) == set()
    assert not taken.claim.is_confirmed
    assert taken.listed(taken.stored, 103.0) == set()
    assert taken.claim.is_confirmed


def test_take_that_arrives_after_the_deadline_is_not_believed() -> None:
    taken = Taken(is_answered=False)
    assert taken.listed(taken.stored, 110.0) == set()
    assert not taken.claims.by_shard


def test_take_after_a_faster_replica_is_given_up() -> None:
    taken = Taken(is_answered=False)
    other = replace(taken.free, lease=with_version(taken.free.lease, "9"))
    assert taken.listed(other, 101.0) == set()
    assert not taken.claims.by_shard


def test_list_that_was_asked_for_before_our_last_write_is_old() -> None:
    taken = Taken()
    taken.claims.written_at[0] = 100.5
    assert taken.claims.is_stale(0, 100.2)
    assert not taken.claims.is_stale(0, 100.6)
