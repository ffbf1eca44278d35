"""What a run set in motion brings its CR back once, after a moment; nothing else waits for that."""

from __future__ import annotations

import pytest

from rolecall.reconcile import RunDefaults
from rolecall.reconcile.recent_runs import RecentRuns
from rolecall.watches import Watch
from rolecall.workqueue import Cause, Key, Urgency
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import BAD, watch_of
from tests.unit.reconcile.setting import Setting, working
from tests.unit.workqueue.keys import APP
from tests.unit.workqueue.virtual_clock import VirtualClock

DRIFT = Cause("drift of Deployment web")
DEPENDENT = Urgency.DEPENDENT


@pytest.fixture
def setting(shop: Shop, clock: VirtualClock) -> Setting:
    return Setting(shop, watch_of(), clock, defaults=RunDefaults(dependents_delay_s=1.0))


async def test_changes_after_a_run_bring_one_run_when_the_delay_is_over(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    async with working(setting) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(0.0)
        for _ in range(9):
            queue.add(setting.key(), DEPENDENT, DRIFT)
            await clock.advance(0.1)
        assert len(setting.runner.requests) == 1
        await clock.advance(0.2)
        assert [request.cause for request in setting.runner.requests] == ["", DRIFT.text]
        await clock.advance(60.0)
        assert len(setting.runner.requests) == 2


async def test_change_long_after_a_run_does_not_wait(setting: Setting, clock: VirtualClock) -> None:
    await setting.shop.create()
    await setting.turn()
    await clock.advance(1.0)

    await setting.turn(urgency=DEPENDENT)

    assert len(setting.runner.requests) == 2


@pytest.mark.parametrize("urgency", [each for each in Urgency if each is not DEPENDENT])
async def test_other_urgencies_do_not_wait(setting: Setting, urgency: Urgency) -> None:
    await setting.shop.create()
    await setting.turn()

    await setting.turn(urgency=urgency)

    assert len(setting.runner.requests) == 2


async def test_turn_that_waits_costs_no_call_and_keeps_its_cause(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    setting.runner.will(BAD)  # a run that failed made things, too
    await setting.turn()
    await clock.advance(0.25)

    outcome = await setting.turn(urgency=DEPENDENT, cause=DRIFT)

    assert outcome.is_put_off
    assert outcome.after_s == pytest.approx(0.75)
    assert (outcome.urgency, outcome.cause) == (DEPENDENT, DRIFT)


@pytest.mark.parametrize(("asked_s", "waits_s"), [(None, 1.0), (0.0, 0.0), (5.0, 5.0)])
async def test_watch_says_how_long_before_the_flag_does(
    shop: Shop, clock: VirtualClock, asked_s: float | None, waits_s: float
) -> None:
    watch: Watch = watch_of(dependents_delay_s=asked_s)
    setting = Setting(shop, watch, clock, defaults=RunDefaults(dependents_delay_s=1.0))
    await shop.create()
    await setting.turn()

    outcome = await setting.turn(urgency=DEPENDENT)

    assert (outcome.after_s if outcome.is_put_off else 0.0) == waits_s


async def test_ends_of_runs_are_kept_no_longer_than_they_matter(clock: VirtualClock) -> None:
    recent = RecentRuns(clock)
    for number in range(100):
        recent.ended(Key(APP, "shop", str(number)), 1.0)
        await clock.advance(0.1)
    assert len(recent) <= 11


async def test_end_of_a_run_is_forgotten_though_a_key_that_ran_before_it_runs_again(
    clock: VirtualClock,
) -> None:
    recent = RecentRuns(clock)
    for name, delay_s in (("a", 1.0), ("b", 1.0), ("a", 10.0)):
        recent.ended(Key(APP, "shop", name), delay_s)
    await clock.advance(2.0)
    recent.ended(Key(APP, "shop", "c"), 1.0)
    assert len(recent) == 2
