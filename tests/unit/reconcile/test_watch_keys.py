"""What keys of watches.yaml do to a turn, where no other test of turns asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rolecall.reconcile import RunDefaults
from rolecall.runner import Ending, RunResult
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock

PERIOD = "ansible.sdk.operatorframework.io/reconcile-period"
NOT_STARTED = replace(BAD, ending=Ending.NOT_STARTED)


@pytest.mark.parametrize("result", [GOOD, BAD, NOT_STARTED])
@pytest.mark.parametrize("is_asked_for", [True, False])
async def test_ready_condition_is_written_only_where_the_watch_wants_it(
    shop: Shop, clock: VirtualClock, result: RunResult, is_asked_for: bool
) -> None:
    setting = Setting(shop, watch_of(ready_condition=is_asked_for), clock)
    await shop.create()
    setting.runner.will(result)

    await setting.turn()

    assert (await setting.condition("Ready") is not None) == is_asked_for
    assert await setting.condition("Running") is not None
    reported_generation = "observedGeneration" in (await shop.get())["status"]
    assert reported_generation == is_asked_for


async def test_ready_condition_is_not_written_while_a_run_is_in_flight(
    shop: Shop, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(ready_condition=False), clock)
    await shop.create()

    await setting.turn()

    (request,) = setting.runner.requests
    assert [each["type"] for each in request.cr["status"]["conditions"]] == ["Running"]


async def test_ready_condition_is_not_written_where_a_run_gets_no_access(
    shop: Shop, clock: VirtualClock
) -> None:
    setting = Setting(shop, watch_of(ready_condition=False), clock)
    setting.access.error = OSError("disk full")
    await shop.create()

    await setting.turn()

    assert await setting.condition("Failure") is not None
    assert await setting.condition("Ready") is None


@pytest.mark.parametrize("is_asked_for", [True, False])
async def test_ready_condition_of_a_cr_that_cannot_run_is_written_only_where_wanted(
    shop: Shop, clock: VirtualClock, is_asked_for: bool
) -> None:
    setting = Setting(shop, watch_of(ready_condition=is_asked_for), clock)
    await shop.create()
    await shop.patch({"metadata": {"annotations": {PERIOD: "soon"}}})

    outcome = await setting.turn()

    assert "reconcile period annotation" in outcome.error
    assert await setting.condition("Failure") is not None
    assert (await setting.condition("Ready") is not None) == is_asked_for


@pytest.mark.parametrize(
    ("keys", "limits"),
    [
        ({}, (100.0, 50.0)),
        ({"run_timeout_s": 7.0}, (7.0, 50.0)),
        ({"no_progress_timeout_s": 7.0}, (100.0, 7.0)),
        ({"run_timeout_s": 0.0, "no_progress_timeout_s": 0.0}, (0.0, 0.0)),
    ],
)
async def test_each_time_limit_of_the_watch_wins_over_its_default(
    shop: Shop, clock: VirtualClock, keys: dict[str, Any], limits: tuple[float, float]
) -> None:
    defaults = RunDefaults(timeout_s=100.0, no_progress_timeout_s=50.0)
    setting = Setting(shop, watch_of(**keys), clock, defaults=defaults)
    await shop.create()

    await setting.turn()

    (request,) = setting.runner.requests
    assert (request.timeout_s, request.no_progress_timeout_s) == limits
