"""Reading Leases into which anybody may have written: nothing fails, and nonsense frees nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rolecall.extensions.shards.lease_shapes import (
    SHARDS_LABEL,
    Naming,
    Profile,
    ended_member,
    lasts_s,
    member_lease,
    read_leases,
    released_shard,
    taken_shard,
    unheld_shard,
)
from rolecall.extensions.shards.sightings import Hold, Sightings
from rolecall.json_object import Json

NOW = datetime(2026, 11, 25, tzinfo=UTC)
NAMING = Naming("app", "ns", 64)
PROFILE = Profile("web-0", 8, 64, "0.1.0")
NONSENSE: list[Any] = [None, "x", 7, [], {}, {"a": []}, True]


def member(tenure: str = "abc") -> Json:
    return member_lease(NAMING, tenure, PROFILE, 15, NOW)


def shard(holder: str = "web-0_abc") -> Json:
    free = unheld_shard(NAMING, 0, 15, NOW)
    record = read_leases([free], NAMING).shards[0]
    return taken_shard(record, NAMING, holder, 15, NOW)


def hold_of(*leases: Json) -> Hold:
    sightings = Sightings(64, 10.0)
    sightings.see(read_leases(leases, NAMING), 0.0)
    return sightings.hold_of(0)


def test_what_is_written_is_read() -> None:
    listed = read_leases([member(), shard()], NAMING)
    read = listed.members["abc"]
    assert (read.host, read.weight, read.count, read.release) == ("web-0", 8, 64, "0.1.0")
    assert (read.is_sound, read.is_ended, read.is_leaving) == (True, False, False)
    assert listed.shards[0].tenure == "abc"
    assert hold_of(member(), shard()) is Hold.HELD


def test_shard_is_free_only_when_its_holder_said_so_or_is_over() -> None:
    released = released_shard(shard(), NAMING, "abc", NOW)
    assert hold_of(member(), released) is Hold.FREE
    assert hold_of(ended_member(member(), NAMING, "other_x", NOW), shard()) is Hold.FREE
    assert hold_of(shard()) is Hold.UNCLEAR
    assert hold_of(member(), shard("")) is Hold.UNCLEAR
    assert hold_of(member()) is Hold.MISSING


def test_release_at_another_number_of_shards_frees_nothing() -> None:
    others = Naming("app", "ns", 32)
    assert hold_of(released_shard(shard(), others, "abc", NOW)) is Hold.UNCLEAR


def test_end_of_a_tenure_needs_its_mark_and_an_empty_holder() -> None:
    cleared = {**member(), "spec": {**member()["spec"], "holderIdentity": ""}}
    assert hold_of(cleared, shard()) is Hold.UNCLEAR
    ended = ended_member(member(), NAMING, "other_x", NOW)
    named_again = {**ended, "spec": {**ended["spec"], "holderIdentity": "web-0_abc"}}
    assert hold_of(named_again, shard()) is Hold.HELD


@pytest.mark.parametrize("nonsense", NONSENSE)
@pytest.mark.parametrize(
    "field", ["spec", "metadata", "holderIdentity", "annotations", "leaseDurationSeconds"]
)
@pytest.mark.parametrize("whose", ["member", "shard"])
def test_nonsense_in_a_lease_never_fails_and_frees_nothing(
    whose: str, field: str, nonsense: object
) -> None:
    leases = {"member": member(), "shard": shard()}
    lease = leases[whose]
    if field in ("holderIdentity", "leaseDurationSeconds"):
        lease = {**lease, "spec": {**lease["spec"], field: nonsense}}
    elif field == "annotations":
        lease = {**lease, "metadata": {**lease["metadata"], field: nonsense}}
    elif field == "metadata":
        lease = {**lease, field: {"name": lease["metadata"]["name"], "labels": nonsense}}
    else:
        lease = {**lease, field: nonsense}
    leases[whose] = lease
    assert hold_of(*leases.values()) in (Hold.UNCLEAR, Hold.HELD)


@pytest.mark.parametrize("key", ["weight", "shards", "runs-per-minute", "leaving", "version"])
@pytest.mark.parametrize("value", ["", "x", "-1", "1e400", "nan", "9" * 50, "²", None, 7])
def test_nonsense_in_what_a_member_says_of_itself_is_read_as_something_small(
    key: str, value: object
) -> None:
    lease = member()
    lease["metadata"]["annotations"][f"rolecall.dev/{key}"] = value
    read = read_leases([lease], NAMING).members["abc"]
    assert 1 <= read.weight <= 1_000_000
    assert 0.0 <= read.runs_per_min < float("inf")


@pytest.mark.parametrize(
    "name",
    [
        *("app-shard-64", "app-shard-7", "app-shard-x", "app-shard--1", "app-shard-007"),
        *("app-shard-²", "app-member-", "app-member-A_b", "app", "other-shard-00", ""),
    ],
)
def test_lease_of_another_name_has_no_holder(name: str) -> None:
    lease = {**shard(), "metadata": {"name": name}}
    listed = read_leases([lease, {}, {"metadata": None}], NAMING)
    assert (listed.members, listed.shards) == ({}, {})


def test_promise_to_be_silent_for_ever_is_not_believed() -> None:
    lease = {"spec": {"leaseDurationSeconds": 10**12}}
    assert lasts_s(lease) == 3600.0
    assert lasts_s({"spec": {"leaseDurationSeconds": -5}}) == 0.0


def test_id_that_is_longer_than_a_label_gets_a_shorter_one() -> None:
    naming = Naming("long." * 40 + "id", "ns", 2)
    lease = unheld_shard(naming, 1, 15, NOW)
    assert len(lease["metadata"]["labels"][SHARDS_LABEL]) <= 63
    assert naming.shard_in(lease["metadata"]["name"]) == 1


def test_what_others_added_to_a_lease_stays() -> None:
    lease = shard()
    lease["metadata"] |= {"ownerReferences": [{"name": "x"}], "managedFields": [1]}
    lease["metadata"]["labels"]["team"] = "web"
    written = released_shard(lease, NAMING, "abc", NOW)
    assert written["metadata"]["ownerReferences"] == [{"name": "x"}]
    assert written["metadata"]["labels"]["team"] == "web"
    assert "managedFields" not in written["metadata"]
