"""One leader at a time, on a clock that the test moves."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from rolecall.errors import LeadershipLostError
from tests.unit.election.replicas import RETRY_S, SETTINGS, Replicas
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_first_replica_leads_at_once_and_stays(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    assert first.reported == [True]
    await world.pass_time(60)
    assert world.writers() == ["a"]
    assert world.stored.holder == "a"
    assert first.reported == [True]


async def test_second_replica_waits_while_the_first_renews(world: Replicas) -> None:
    world.start("a")
    await world.pass_time(1)
    second = world.start("b")
    await world.pass_time(120)
    assert world.writers() == ["a"]
    assert second.reported == []


async def test_silent_leader_is_followed_after_the_lease_ran_out(world: Replicas) -> None:
    first = world.start("a")
    second = world.start("b")
    await world.pass_time(5)
    first.connection.is_cut = True
    await world.pass_time(12)
    assert world.writers() == []
    await world.pass_time(15 + RETRY_S)
    assert world.writers() == ["b"]
    assert second.reported == [True]


async def test_leader_that_cannot_renew_stops_writing_before_the_lease_runs_out(
    world: Replicas,
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.is_cut = True
    await world.pass_time(SETTINGS.renew_deadline_s)
    assert not first.election.may_write()
    assert first.reported == [True, False]


async def test_fence_closes_by_the_clock_even_while_an_answer_is_awaited(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.delay_s = 1000.0
    await world.pass_time(SETTINGS.renew_deadline_s + 1)
    assert not first.election.may_write()
    assert first.reported == [True, False]


async def test_leader_continues_when_the_api_server_is_back_and_no_replica_took_the_lease(
    world: Replicas,
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.is_cut = True
    await world.pass_time(60)
    first.connection.is_cut = False
    await world.pass_time(SETTINGS.retry_s + 1)
    assert world.writers() == ["a"]
    assert first.reported == [True, False, True]
    assert not first.task.done()


async def test_who_waits_to_lead_waits_again_while_the_leader_pauses(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    await first.election.wait_leading()
    first.connection.is_cut = True
    await world.pass_time(SETTINGS.renew_deadline_s + 1)
    waiting = asyncio.ensure_future(first.election.wait_leading())
    await world.pass_time(10)
    assert not waiting.done()
    first.connection.is_cut = False
    await world.pass_time(SETTINGS.retry_s + 1)
    assert waiting.done()


async def test_slow_api_server_does_not_end_leadership(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.delay_s = 3.5
    await world.pass_time(120)
    assert first.reported == [True]


async def test_leader_whose_lease_was_taken_ends(world: Replicas) -> None:
    first = world.start("a")
    world.start("b")
    await world.pass_time(5)
    first.connection.is_cut = True
    await world.pass_time(30)
    first.connection.is_cut = False
    await world.pass_time(SETTINGS.renew_deadline_s)
    with pytest.raises(LeadershipLostError, match="`b` holds the Lease `ns/app`"):
        await first.task
    assert world.writers() == ["b"]


async def test_renewal_whose_answer_was_lost_is_not_taken_for_a_loss(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.connection.loses_answers = True
    await world.pass_time(4)
    first.connection.loses_answers = False
    await world.pass_time(20)
    assert world.writers() == ["a"]
    assert first.reported == [True]


async def test_released_lease_is_taken_at_the_next_try(world: Replicas) -> None:
    first = world.start("a")
    world.start("b")
    await world.pass_time(5)
    first.task.cancel()
    await first.election.release()
    assert world.writers() == []
    await world.pass_time(RETRY_S)
    assert world.writers() == ["b"]
    assert world.stored.lease is not None
    assert world.stored.lease["spec"]["leaseTransitions"] == 1


@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "emptied"])
async def test_lease_that_a_person_took_from_its_holder_is_not_taken_while_that_one_may_write(
    world: Replicas, is_deleted: bool
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    second = world.start("b")
    await world.pass_time(5)
    first.connection.is_cut = True  # so it does not learn of it
    if is_deleted:
        world.stored.lease = None
    else:
        assert world.stored.lease is not None
        world.stored.lease["spec"]["holderIdentity"] = ""

    await world.pass_time(SETTINGS.lease_s - 1)
    assert second.reported == []
    await world.pass_time(1 + 2 * RETRY_S)
    assert world.writers() == ["b"]


async def test_leader_whose_lease_was_deleted_has_it_again_before_a_standby(
    world: Replicas,
) -> None:
    first = world.start("a")
    await world.pass_time(1)
    world.start("b")
    await world.pass_time(5)
    world.stored.lease = None
    await world.pass_time(30)
    assert world.writers() == ["a"]
    assert first.reported == [True]


async def test_promise_of_the_holder_counts_where_it_is_longer_than_ours(world: Replicas) -> None:
    first = world.start("a")
    await world.pass_time(1)
    first.task.cancel()
    assert world.stored.lease is not None
    world.stored.lease["spec"]["leaseDurationSeconds"] = 60
    second = world.start("b")
    await world.pass_time(50)
    assert not second.election.may_write()
    await world.pass_time(15)
    assert second.election.may_write()


async def test_invalid_lease_ends_no_replica_and_elects_none(
    world: Replicas, caplog: pytest.LogCaptureFixture
) -> None:
    first = world.start("a")
    await world.pass_time(3)
    assert world.writers() == ["a"]
    assert world.stored.lease is not None
    sound = world.stored.lease
    world.stored.lease = {"metadata": sound["metadata"] | {"resourceVersion": "99"}, "spec": "x"}
    second = world.start("b")
    world.stored.lease = {"metadata": {}}
    await world.pass_time(20)
    assert not first.task.done()
    assert not second.task.done()
    assert world.writers() == []
    assert first.reported == [True, False]
    assert "leader election failed" in caplog.text


class SetClock(VirtualClock):
    """A wall clock that jumps by a day at each look, there and back."""

    looks = 0

    def now(self) -> datetime:
        self.looks += 1
        return super().now() + timedelta(days=self.looks % 3 - 1)


async def test_changed_clock_neither_ends_the_leader_nor_elects_another(
    world: Replicas,
) -> None:
    world.clock = SetClock()
    first, second = world.start("a"), world.start("b")
    await world.pass_time(120)
    assert world.writers() == ["a"]
    assert (first.reported, second.reported) == ([True], [])
