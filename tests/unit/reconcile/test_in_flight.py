"""A run in flight: what status and Events report of it, when, and that this delays no other work."""

from __future__ import annotations

import asyncio

import pytest

from rolecall.errors import NotLeadingError
from rolecall.kube import ForbiddenError, Target, UnavailableError
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.setting import Setting, long_run
from tests.unit.workqueue.virtual_clock import START, VirtualClock

WAITING = (
    "True",
    "Running",
    "Running task `Wait for the database` (roles/web/tasks/main.yml:12) since 09:00:02 UTC",
)
RUNNING = ("True", "Running", "Running reconciliation")
SPEAKS_EVERY_S = 20.0


def status_writes(fake: FakeCluster) -> int:
    return sum(call.endswith("status") for call in fake.calls)


async def test_long_run_names_its_task_in_running_since_when(
    setting: Setting, clock: VirtualClock
) -> None:
    async with long_run(setting):
        await clock.advance(2.0)
        setting.runner.begins("Wait for the database")
        await clock.advance(7.9)
        assert await setting.reported("Running") == RUNNING

        await clock.advance(0.1)

        assert await setting.reported("Running") == WAITING


async def test_long_run_without_a_task_yet_is_running_and_no_more(
    setting: Setting, fake: FakeCluster, clock: VirtualClock
) -> None:
    async with long_run(setting):
        await clock.advance(45.0)

        assert await setting.reported("Running") == RUNNING
        assert status_writes(fake) == 1


async def test_transition_time_of_running_stays_the_start_of_the_run(
    setting: Setting, clock: VirtualClock
) -> None:
    await clock.advance(60.0)
    async with long_run(setting) as (run, turn):
        setting.runner.begins("Wait")
        await clock.advance(45.0)
        running = await setting.condition("Running")
        assert running is not None
        assert running["message"].startswith("Running task `Wait`")
        assert running["lastTransitionTime"] == "2026-11-21T09:01:00Z"
        run.end(GOOD)
        await turn
    running = await setting.condition("Running")
    assert running is not None
    assert running["lastTransitionTime"] == "2026-11-21T09:01:00Z"


async def test_short_run_costs_no_write_more(
    setting: Setting, fake: FakeCluster, clock: VirtualClock
) -> None:
    async with long_run(setting) as (run, turn):
        setting.runner.begins("Quick")
        await clock.advance(9.9)
        run.end(GOOD)
        await turn
        await clock.advance(60.0)

    assert status_writes(fake) == 2  # Running, and the result


async def test_status_is_written_when_the_task_changed_and_not_more_often_than_each_half_minute(
    setting: Setting, fake: FakeCluster, clock: VirtualClock
) -> None:
    async with long_run(setting):
        writes: list[int] = []
        for number in range(30):
            setting.runner.begins(f"Task {number // 10}")
            await clock.advance(2.0)
            writes.append(status_writes(fake))
        assert writes[4] == 2  # after 10 s
        assert writes[18] == 2
        assert writes[20] == 3  # after 40 s, though ten tasks began meanwhile
        await clock.advance(600.0)
        assert status_writes(fake) == 4
        assert "Running task `Task 2`" in (await setting.reported("Running"))[2]


async def test_task_that_goes_on_is_written_once(
    setting: Setting, fake: FakeCluster, clock: VirtualClock
) -> None:
    async with long_run(setting):
        setting.runner.begins("Wait")
        for _ in range(30):
            setting.runner.speaks()
            await clock.advance(SPEAKS_EVERY_S)

        assert status_writes(fake) == 2


@pytest.mark.parametrize("result", [GOOD, BAD], ids=["success", "failure"])
async def test_result_of_a_long_run_is_one_write_without_a_conflict(
    setting: Setting, fake: FakeCluster, clock: VirtualClock, result: object
) -> None:
    async with long_run(setting) as (run, turn):
        setting.runner.begins("Wait")
        await clock.advance(30.0)
        fake.calls.clear()
        run.end(result)  # type: ignore[arg-type]
        await turn

    assert fake.calls == ["patch status"]
    assert "Running task" not in (await setting.reported("Running"))[2]


async def test_run_that_ends_during_such_a_write_waits_for_it_and_has_the_last_word(
    setting: Setting, fake: FakeCluster, clock: VirtualClock
) -> None:
    let_go = asyncio.Event()
    async with long_run(setting) as (run, turn):
        setting.runner.begins("Wait")

        async def slowly(*_: str) -> None:
            fake.intruder = None
            await let_go.wait()

        fake.intruder = slowly
        await clock.advance(10.0)
        run.end(GOOD)
        await clock.rest()
        assert await setting.reported("Running") == RUNNING
        let_go.set()
        await turn
    assert (await setting.reported("Running"))[1] == "Successful"
    assert fake.calls.count("patch status") == 3


async def test_end_of_a_run_does_not_wait_for_an_api_server_that_does_not_answer(
    setting: Setting, fake: FakeCluster, clock: VirtualClock
) -> None:
    async with long_run(setting) as (run, turn):
        setting.runner.begins("Wait")

        async def never(*_: str) -> None:
            fake.intruder = None
            await asyncio.Event().wait()

        fake.intruder = never
        await clock.advance(10.0)
        run.end(GOOD)
        await clock.advance(2.0)
        assert turn.done()
    assert (await setting.reported("Running"))[1] == "Successful"


@pytest.mark.parametrize(
    "error",
    [
        UnavailableError("no answer"),
        ForbiddenError("no", code=403, target=Target("patch")),
        NotLeadingError("write"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_write_that_fails_does_not_fail_the_run(
    setting: Setting, fake: FakeCluster, clock: VirtualClock, error: Exception
) -> None:
    async with long_run(setting) as (run, turn):
        setting.runner.begins("Wait")

        async def refuses(*_: str) -> None:
            raise error

        fake.intruder = refuses
        await clock.advance(10.0)
        fake.intruder = None
        run.end(GOOD)
        assert (await turn).error == ""
    assert (await setting.reported("Successful"))[0] == "True"


async def test_bug_in_reporting_does_not_fail_the_run(
    setting: Setting, fake: FakeCluster, clock: VirtualClock
) -> None:
    async with long_run(setting) as (run, turn):
        setting.runner.begins("Wait")

        async def breaks(*_: str) -> None:
            raise ZeroDivisionError

        fake.intruder = breaks
        await clock.advance(10.0)
        fake.intruder = None
        run.end(GOOD)
        assert (await turn).error == ""


async def test_cr_that_is_gone_is_not_written_and_the_run_goes_on(
    setting: Setting, clock: VirtualClock
) -> None:
    async with long_run(setting) as (_, turn):
        setting.runner.begins("Wait")
        await setting.shop.delete()
        await clock.advance(100.0)

        assert not turn.done()


async def test_condition_that_the_role_wrote_meanwhile_stays(
    setting: Setting, clock: VirtualClock
) -> None:
    async with long_run(setting):
        setting.runner.begins("Wait")
        cr = await setting.shop.get()
        own = {"type": "Healthy", "status": "True"}
        await setting.shop.patch(
            {"status": {"conditions": [*cr["status"]["conditions"], own]}}, subresource="status"
        )
        await clock.advance(10.0)

        assert (await setting.condition("Healthy")) == own
        assert "Running task `Wait`" in (await setting.reported("Running"))[2]


async def test_status_that_is_not_ours_is_not_written(
    shop: Shop, fake: FakeCluster, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(manage_status=False), clock)
    async with long_run(setting):
        setting.runner.begins("Wait")
        await clock.advance(120.0)

        assert status_writes(fake) == 0
        assert setting.events.reasons == ["NoOutput"]


async def test_time_at_start_is_that_of_the_clock(setting: Setting) -> None:
    async with long_run(setting):
        assert setting.reconciler.in_flight()[setting.key()].began == START
