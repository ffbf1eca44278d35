"""The very moments at which a leader ends and a replica asks again, on a clock that the test moves."""

from __future__ import annotations

import pytest

from rolecall.election import Election
from rolecall.election.division import Division
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.workqueue import Key
from tests.unit.election.replicas import RETRY_S, SETTINGS, Replicas


async def test_leader_may_write_up_to_its_deadline_and_reports_its_end_at_once(
    world: Replicas,
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.is_cut, first.connection.delay_s = True, 1.1
    await world.pass_time(SETTINGS.renew_deadline_s - 1.25)
    assert first.election.may_write()
    assert first.reported == [True]

    await world.pass_time(0.5)

    assert not first.election.may_write()
    assert first.reported == [True, False]


async def test_end_is_reported_before_the_renewal_that_follows_it_is_answered(
    world: Replicas,
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.is_cut = True
    await world.pass_time(SETTINGS.renew_deadline_s - 2)
    first.connection.delay_s = 1000.0

    await world.pass_time(1.5)

    assert first.reported == [True, False]


async def test_lease_that_is_deleted_long_after_its_last_renewal_is_waited_for_as_long(
    world: Replicas,
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    second = world.start("b")
    await world.pass_time(5)
    first.connection.is_cut = True
    await world.pass_time(10)
    world.stored.lease = None

    await world.pass_time(SETTINGS.lease_s - 1)
    assert second.reported == []
    await world.pass_time(1 + 2 * RETRY_S)
    assert second.reported == [True]


async def test_replica_whose_first_tries_were_not_answered_leads_once_they_are(
    world: Replicas,
) -> None:
    first = world.start("a")
    first.connection.delay_s = 1000.0
    await world.pass_time(SETTINGS.renew_deadline_s + 1)
    assert world.stored.lease is None
    first.connection.delay_s = 0.0

    await world.pass_time(2 * RETRY_S)

    assert first.reported == [True]


async def test_replica_that_found_a_lease_without_sense_leads_once_it_is_gone(
    world: Replicas,
) -> None:
    world.stored.lease = {"metadata": {}}
    first = world.start("a")
    await world.pass_time(SETTINGS.lease_s + 2 * RETRY_S)
    assert first.reported == []
    world.stored.lease = None

    await world.pass_time(SETTINGS.lease_s + 2 * RETRY_S)

    assert first.reported == [True]


async def test_standby_asks_no_more_often_than_every_two_seconds(
    world: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start("a")
    await world.pass_time(1)
    second = world.start("b")
    asked, get = [], second.connection.get

    async def counted(gvk: Gvk, namespace: str, name: str) -> Json:
        asked.append(name)
        return await get(gvk, namespace, name)

    monkeypatch.setattr(second.connection, "get", counted)
    await world.pass_time(100 * SETTINGS.retry_s)

    assert 80 <= len(asked) <= 101


@pytest.mark.parametrize(
    ("holder", "division"),
    [
        ("shards/3", Division("shards", "3")),
        ("shards/3/4af1", Division("shards", "3", "4af1")),
        ("operator-7d9f-x2x", None),
        ("", None),
    ],
)
def test_lease_says_how_replicas_divide_the_crs(holder: str, division: Division | None) -> None:
    assert Division.of(holder) == division
    assert division is None or str(division) == holder


def test_only_replica_acts_for_each_cr() -> None:
    election, a_cr = Election(), Key(Gvk("g", "v1", "Kind"), "ns", "name")
    hand = election.hand_for(a_cr)
    assert hand is not None and hand.holds()
