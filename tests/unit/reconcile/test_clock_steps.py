"""A wall clock that is set while runs, backoffs and delays are in flight changes none of them."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from rolecall.gvk import Gvk
from rolecall.runner import RunRequest
from rolecall.workqueue import Urgency
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.setting import Setting, working
from tests.unit.workqueue.keys import APP
from tests.unit.workqueue.virtual_clock import VirtualClock

DAY = timedelta(days=1)
PERIOD = {"ansible.sdk.operatorframework.io/reconcile-period": "10s"}


class SetClock(VirtualClock):
    """Its wall time jumps at each look, as far as the test says; the others go on."""

    def __init__(self, steps: list[timedelta]) -> None:
        super().__init__()
        self._steps = steps
        self._looks = 0

    def now(self) -> datetime:
        step = self._steps[self._looks % len(self._steps)]
        self._looks += 1
        return super().now() + step


STILL = [timedelta()]
STEPS = {
    "an hour forth": [timedelta(), timedelta(hours=1)],
    "a day back": [timedelta(), -DAY],
    "back and forth by ten years": [timedelta(), -3650 * DAY, 3650 * DAY],
    "a second at a time": [timedelta(seconds=-each) for each in range(50)],
}


async def times_of_runs(clock: SetClock) -> list[tuple[str, float]]:
    """When runs began, of a CR that fails three times, of one with a period, of one that takes long."""
    random.seed(7)  # of the jitter
    shop = Shop(FakeCluster(), Gvk(APP.group, APP.version, APP.kind), "default")
    setting = Setting(shop, watch_of(APP), clock)
    times: list[tuple[str, float]] = []

    async def run(request: RunRequest):  # type: ignore[no-untyped-def]
        name = request.cr["metadata"]["name"]
        times.append((name, clock.monotonic()))
        if name == "long":
            await clock.sleep(7.0)
        fails = name == "fails" and sum(each == "fails" for each, _ in times) <= 3
        return BAD if fails else GOOD

    setting.runner.will(run)
    await shop.create("fails")
    await shop.create("periodic", annotations=PERIOD)
    await shop.create("long", annotations=PERIOD)
    async with working(setting, max_runs=3) as (queue, _):
        for name in ("fails", "periodic", "long"):
            queue.add(setting.key(name), Urgency.EDIT)
        await clock.advance(60.0)
        assert not setting.runner.doubled
        status = {
            name: await setting.reported("Successful", name) for name in ("fails", "periodic")
        }
        assert all(reported[0] == "True" for reported in status.values())
    return times


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
async def test_clock_that_is_set_moves_no_run_no_backoff_and_no_period(
    steps: list[timedelta],
) -> None:
    still, stepped = await times_of_runs(SetClock(STILL)), await times_of_runs(SetClock(steps))
    assert len(still) > 12
    assert stepped == still
