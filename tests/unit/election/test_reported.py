"""What an election reports: who leads, when that ends, and why it waits."""

from __future__ import annotations

import asyncio
import logging

import pytest

from rolecall.election import Election, LeaseElection
from rolecall.errors import LeadershipLostError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, Target
from tests.unit.election.leases import Connection
from tests.unit.election.replicas import RETRY_S, SETTINGS, Replicas
from tests.unit.election.work import idle_work


async def test_every_replica_knows_who_leads(world: Replicas) -> None:
    first, second = world.start("a"), world.start("b")
    assert first.election.leader == ""
    await world.pass_time(RETRY_S)

    assert first.election.leader == second.election.leader == "a"
    assert world.stored.lease is not None
    assert world.stored.lease["metadata"]["name"] == "app"
    assert world.stored.lease["metadata"]["namespace"] == "ns"


async def test_only_replica_always_leads() -> None:
    election = Election()

    await election.wait_leading()
    assert election.may_write()
    assert election.holds()
    assert election.leads()
    assert election.leader == ""


async def test_leader_that_released_reports_it_once_and_leads_no_more(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.task.cancel()

    await first.election.release()
    released = world.stored.version
    await first.election.release()

    assert first.reported == [True, False]
    assert world.stored.version == released
    waiting = asyncio.ensure_future(first.election.wait_leading())
    await world.clock.rest()
    assert not waiting.done()
    waiting.cancel()


async def test_leader_that_paused_releases_without_reporting_again(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.is_cut = True
    await world.pass_time(SETTINGS.renew_deadline_s + 1)
    first.task.cancel()

    await first.election.release()

    assert first.reported == [True, False]


async def test_who_never_led_has_nothing_to_release(world: Replicas) -> None:
    world.start("a")
    await world.pass_time(1)
    second = world.start("b")
    await world.pass_time(RETRY_S)
    assert world.stored.lease is not None
    second.task.cancel()

    await second.election.release()

    assert second.reported == []
    assert world.stored.holder == "a"


async def test_leader_whose_lease_another_took_leads_no_more_at_once(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    assert world.stored.lease is not None
    world.stored.lease["spec"]["holderIdentity"] = "b"
    world.stored.write(world.stored.lease)

    await world.pass_time(RETRY_S)

    with pytest.raises(LeadershipLostError, match="`b` holds the Lease"):
        await first.task
    assert first.reported == [True, False]
    assert not first.election.may_write()


async def test_conflict_over_a_lease_that_is_still_ours_is_written_over(world: Replicas) -> None:
    world.start("a")
    await world.pass_time(1)
    assert world.stored.lease is not None
    before = world.stored.lease["spec"]["renewTime"]
    world.stored.write(world.stored.lease)
    version = world.stored.version

    await world.pass_time(RETRY_S)

    assert world.stored.version == version + 1
    assert world.stored.lease["spec"]["renewTime"] > before


async def test_lease_is_renewed_every_two_seconds_and_not_more_often(world: Replicas) -> None:
    world.start("a")
    await world.pass_time(1)
    before = world.stored.version
    await world.pass_time(10 * SETTINGS.retry_s)

    assert world.stored.version - before == 10


async def test_replica_beside_shards_says_once_what_it_waits_for(
    world: Replicas, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = world.start("shards/4")
    await world.pass_time(1)
    second = world.start("b")
    with caplog.at_level(logging.WARNING):
        await world.pass_time(3 * RETRY_S)

    [record] = [each for each in caplog.records if "shards" in each.getMessage()]
    assert "--shards=4" in record.__dict__["fields"]["hint"]
    assert record.__dict__["fields"]["lease"] == "ns/app"
    assert second.reported == []
    assert not keeper.task.done()


async def test_replica_beside_a_leader_waits_without_a_word(
    world: Replicas, caplog: pytest.LogCaptureFixture
) -> None:
    world.start("a")
    await world.pass_time(1)
    with caplog.at_level(logging.WARNING):
        world.start("b")
        await world.pass_time(3 * RETRY_S)

    assert caplog.records == []


class _Forbidden(Connection):
    is_allowed = False

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        if self.is_allowed:
            return await super().get(gvk, namespace, name)
        target = Target("get", path="lease")
        raise ForbiddenError("not allowed to get leases", code=403, target=target)


async def test_replica_that_may_not_read_leases_leads_nothing_and_says_so(
    world: Replicas, caplog: pytest.LogCaptureFixture
) -> None:
    reported: list[bool] = []
    connection = _Forbidden(world.stored, world.clock)
    election = LeaseElection(
        connection, SETTINGS, identity="a", clock=world.clock, on_change=reported.append
    )
    task = asyncio.ensure_future(election.run(idle_work(world.clock)))
    await world.clock.advance(2 * RETRY_S)

    assert reported == []
    assert not election.may_write()
    assert not task.done()
    assert "not allowed to lead" in caplog.text
    connection.is_allowed = True
    await world.clock.advance(2 * RETRY_S)
    assert reported == [True]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("is_cut", [False, True])
async def test_lease_is_said_to_be_released_only_where_it_was(
    world: Replicas, caplog: pytest.LogCaptureFixture, is_cut: bool
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.task.cancel()
    first.connection.is_cut = is_cut

    with caplog.at_level(logging.INFO):
        await first.election.release()

    assert ("lease released" in caplog.text) is not is_cut
    assert world.stored.holder == ("a" if is_cut else "")
