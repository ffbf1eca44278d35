"""Runs that a person stops: status names the person, and nothing but a new reason begins the next."""

from __future__ import annotations

import pytest

from rolecall.workqueue import Urgency
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import GOOD, watch_of
from tests.unit.reconcile.setting import LongRun, Setting
from tests.unit.reconcile.test_cancelling import started
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_stopped_run_says_who_stopped_it_and_waits_for_its_period(
    shop: Shop, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(), clock)
    await shop.create()
    turn = await started(setting, LongRun())

    setting.reconciler.stop_run(setting.key(), "jane\n")

    outcome = await turn
    assert outcome.ran["outcome"] == "cancelled"
    assert (outcome.error, outcome.is_period) == ("", True)
    assert outcome.after_s == watch_of().reconcile_period_s
    message = "Run 1 was stopped: jane asked for it"
    assert await setting.reported("Running") == ("False", "Cancelled", message)


@pytest.mark.parametrize("urgency", list(Urgency))
async def test_after_a_stop_only_changes_of_dependents_begin_no_run(
    shop: Shop, clock: VirtualClock, urgency: Urgency
) -> None:
    setting = Setting(shop, watch_of(), clock)
    await shop.create()
    turn = await started(setting, LongRun())
    setting.reconciler.stop_run(setting.key(), "jane")
    await turn
    await clock.advance(3600.0)

    outcome = await setting.turn(urgency=urgency)

    assert len(setting.runner.requests) == (1 if urgency is Urgency.DEPENDENT else 2)
    if urgency is Urgency.DEPENDENT:
        assert "stopped by a person" in outcome.why
        await setting.turn(urgency=Urgency.EDIT)
        await setting.turn(urgency=Urgency.DEPENDENT)
        assert len(setting.runner.requests) >= 2


async def test_stop_of_a_key_without_a_run_does_nothing(shop: Shop, clock: VirtualClock) -> None:
    setting = Setting(shop, watch_of(), clock)
    await shop.create()
    setting.reconciler.stop_run(setting.key(), "jane")
    setting.runner.will(GOOD)
    assert (await setting.turn()).ran["outcome"] == "succeeded"
