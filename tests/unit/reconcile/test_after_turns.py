"""What is reported of a turn that is over."""

from __future__ import annotations

from rolecall.gvk import Gvk
from rolecall.reconcile import Outcome
from rolecall.runner import RunRequest, RunResult
from rolecall.workqueue import Turn, Urgency
from tests.unit.reconcile.cluster_contract import Shop
from tests.unit.reconcile.scripted import GOOD, RecordedTelemetry, watch_of
from tests.unit.reconcile.setting import Setting, working
from tests.unit.workqueue.virtual_clock import VirtualClock


async def test_each_turn_is_reported_with_its_outcome(
    setting: Setting, clock: VirtualClock
) -> None:
    await setting.shop.create()
    reported: list[tuple[Turn, Outcome]] = []

    def report(turn: Turn, outcome: Outcome) -> None:
        reported.append((turn, outcome))

    async with working(setting, on_turn=report) as (queue, _):
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(1.0)

    [(turn, outcome)] = reported
    assert (turn.key, turn.urgency) == (setting.key(), Urgency.EDIT)
    assert outcome.is_period


class _Measuring(RecordedTelemetry):
    def __init__(self) -> None:
        super().__init__()
        self.measured: list[float] = []

    def reconcile_finished(self, gvk: Gvk, result: str, seconds: float) -> None:
        self.measured.append(seconds)


async def test_turn_is_measured_from_its_begin_to_its_end(shop: Shop, clock: VirtualClock) -> None:
    telemetry = _Measuring()
    setting = Setting(shop, watch_of(), clock, telemetry=telemetry)
    await shop.create()

    async def run_of_seven_seconds(request: RunRequest) -> RunResult:
        await clock.sleep(7.0)
        return GOOD

    setting.runner.will(run_of_seven_seconds)
    async with working(setting) as (queue, _):
        await clock.advance(3.0)
        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(8.0)

    assert telemetry.measured == [7.0]
