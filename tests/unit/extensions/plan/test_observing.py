"""An observed CR: a plan instead of a run, and nothing is written but what the plan found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pytest

from rolecall.extensions.plan import MODE_ANNOTATION, PlanKeys
from rolecall.extensions.plan.conditions import DriftApplied
from rolecall.extensions.plan.drift import Drift, DriftFinder
from rolecall.extensions.plan.observing import Observing
from rolecall.json_object import Json
from rolecall.reconcile import EndedRun, Outcome, TakenTurn, TurnView
from rolecall.runner import RunHandle
from rolecall.watches import Watch
from rolecall.workqueue import Key
from tests.unit.reconcile.cluster_contract import FINALIZER
from tests.unit.reconcile.scripted import RecordedEvents, watch_of
from tests.unit.reconcile.setting import Setting

OBSERVED = {MODE_ANNOTATION: "observe"}
SOMETHING = Drift(2, ("Deployment shop/web.spec.replicas", "ConfigMap shop/x (create)"))


@dataclass
class ScriptedDrift:
    """A `DriftFinder` that finds what the test gave it."""

    drift: Drift = field(default_factory=Drift)
    asked: list[str] = field(default_factory=list)

    async def find(
        self,
        run_id: str,
        cr: Json,
        watch: Watch,
        on_start: Callable[[RunHandle], None],
    ) -> Drift:
        self.asked.append(run_id)
        return self.drift


class ObservingHooks:
    """`TurnHooks` of the extension alone."""

    def __init__(self, finder: DriftFinder, events: RecordedEvents) -> None:
        self.drift: dict[Key, int] = {}
        ids = (f"plan-{number}" for number in count(1))
        self._observing = Observing(finder, events, self.drift.__setitem__, lambda: next(ids))

    async def instead_of_run(self, turn: TurnView, taken: TakenTurn) -> Outcome | None:
        return await self._observing.turn(turn, taken)

    async def why_no_run(self, _turn: TurnView) -> str:
        return ""

    async def run_ended(self, _run: EndedRun) -> None:
        """Nothing follows."""

    def condition_edits(self, run: EndedRun) -> Sequence[DriftApplied]:
        edit = self._observing.edit_after(run)
        return [edit] if edit is not None else []

    def run_again(self, _key: Key) -> None:
        """Every run is made."""


def setting_with(finder: DriftFinder, setting: Setting, *, is_observed: bool) -> Setting:
    watch = replace(setting.watch, of_extensions=(PlanKeys(),) if is_observed else ())
    events = RecordedEvents()
    hooks = ObservingHooks(finder, events)
    return Setting(setting.shop, watch, setting.clock, events=events, ports={"hooks": hooks})


def observing(setting: Setting, drift: Drift) -> tuple[Setting, ScriptedDrift]:
    finder = ScriptedDrift(drift)
    return setting_with(finder, setting, is_observed=True), finder


def drift_of(setting: Setting) -> dict[Key, int]:
    hooks = setting.ports["hooks"]
    assert isinstance(hooks, ObservingHooks)
    return hooks.drift


async def test_observed_cr_is_planned_and_reported_and_nothing_else_is_written(
    holding_setting: Setting,
) -> None:
    setting, _ = observing(holding_setting, SOMETHING)
    await setting.shop.create()
    before = await setting.shop.get("a")
    outcome = await setting.turn()
    after = await setting.shop.get("a")
    assert setting.runner.requests == []
    assert (outcome.after_s, outcome.is_period) == (setting.watch.reconcile_period_s, True)
    assert await setting.reported("Drifted") == (
        "True",
        "RunWouldChange",
        "A run would change 2 objects: Deployment shop/web.spec.replicas,"
        " ConfigMap shop/x (create)",
    )
    assert [each["type"] for each in after["status"]["conditions"]] == ["Drifted"]
    assert after["metadata"].get("finalizers") == before["metadata"].get("finalizers")
    assert drift_of(setting)[setting.key()] == 2


async def test_three_paths_of_a_drift_are_shown_and_the_others_counted(setting: Setting) -> None:
    observed, finder = observing(setting, Drift(4, ("one", "two", "three")))
    await observed.shop.create()
    await observed.turn()
    assert (await observed.reported("Drifted"))[2].endswith("4 objects: one, two, three")

    finder.drift = Drift(5, ("one", "two", "three", "four", "five"))
    await observed.turn()
    assert (await observed.reported("Drifted"))[2].endswith("5 objects: one, two, three and 2 more")


@pytest.mark.parametrize("manages_status", [True, False])
async def test_each_change_of_what_is_observed_has_one_event(
    setting: Setting, manages_status: bool
) -> None:
    """Also where no condition says what was observed before."""
    setting.watch = watch_of(manage_status=manages_status)
    observed, finder = observing(setting, SOMETHING)
    await observed.shop.create()
    unknown = Drift(unknown="`sh` (main.yml:3) was not run")
    drifts = (SOMETHING, Drift(), unknown, Drift(1, ("x",), unknown="a task failed"), SOMETHING)
    for drift in drifts:
        finder.drift = drift
        for _ in range(2):  # periods
            await observed.turn()
    reasons = ["Drifted", "NotDrifted", "DriftUnknown", "Drifted"]
    assert observed.events.reasons == reasons


@pytest.mark.parametrize("manages_status", [True, False])
async def test_first_answer_that_is_unknown_has_an_event_with_the_reason(
    setting: Setting, manages_status: bool
) -> None:
    setting.watch = watch_of(manage_status=manages_status)
    observed, _ = observing(setting, Drift(unknown="`sh` (main.yml:3) was not run"))
    await observed.shop.create()
    for _ in range(3):
        await observed.turn()
    ((kind, reason, message),) = observed.events.reported
    assert (kind, reason) == ("Warning", "DriftUnknown")
    assert message == "What a run would change is not known: `sh` (main.yml:3) was not run"


async def test_condition_says_why_it_is_unknown(setting: Setting) -> None:
    observed, finder = observing(setting, SOMETHING)
    await observed.shop.create()
    await observed.turn()
    finder.drift = Drift(unknown="a task failed")
    await observed.turn()
    status, _, message = await observed.reported("Drifted")
    assert (status, message) == (
        "Unknown",
        "What a run would change is not known: a task failed",
    )


async def test_annotation_observes_one_cr_and_no_annotation_takes_a_watchs_word_back(
    setting: Setting,
) -> None:
    finder, shop = ScriptedDrift(), setting.shop
    setting = setting_with(finder, setting, is_observed=False)
    await shop.create(annotations=OBSERVED)
    await setting.turn()
    assert (len(finder.asked), setting.runner.requests) == (1, [])
    strict, other = observing(setting, Drift())
    await shop.patch({"metadata": {"annotations": {MODE_ANNOTATION: "reconcile"}}})
    await strict.turn()
    assert (len(other.asked), strict.runner.requests) == (1, [])
    await setting.turn()
    assert len(setting.runner.requests) == 1


async def test_observed_cr_that_is_deleted_keeps_all_that_its_finalizer_would_destroy(
    holding_setting: Setting,
) -> None:
    setting, finder = observing(holding_setting, SOMETHING)
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()
    outcome = await setting.turn()
    assert (finder.asked, setting.runner.requests, outcome.after_s) == ([], [], None)
    assert drift_of(setting) == {setting.key(): 0}
    assert FINALIZER in (await setting.shop.get("a"))["metadata"]["finalizers"]
    assert setting.events.reasons == ["DeletionWaits"]


async def test_run_that_applied_everything_ends_what_was_observed(setting: Setting) -> None:
    observed, _ = observing(setting, SOMETHING)
    setting = setting_with(ScriptedDrift(), setting, is_observed=False)
    await setting.shop.create()
    await observed.turn()
    await setting.turn()
    assert (await setting.reported("Drifted"))[:2] == ("False", "RunSucceeded")


async def test_engine_that_operates_leaves_the_word_of_one_that_observes_alone(
    setting: Setting,
) -> None:
    """They took turns over `Drifted`: each good run set it to False."""
    observed, _ = observing(setting, SOMETHING)
    setting = setting_with(ScriptedDrift(), setting, is_observed=False)
    await setting.shop.create()
    await setting.turn()
    await observed.turn()
    await setting.turn()
    assert (await setting.reported("Drifted"))[0] == "True"


async def test_cr_that_this_engine_observed_reports_its_next_run(
    setting: Setting,
) -> None:
    finder, shop = ScriptedDrift(SOMETHING), setting.shop
    setting = setting_with(finder, setting, is_observed=False)
    await shop.create()
    await setting.turn()
    for mode, status in (("observe", "True"), ("reconcile", "False")) * 2:
        await shop.patch({"metadata": {"annotations": {MODE_ANNOTATION: mode}}})
        await setting.turn()
        assert (await setting.reported("Drifted"))[0] == status


@dataclass
class Planning(ScriptedDrift):
    """Plans until it is ended; a `RunHandle` of its own."""

    began: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    reasons: list[str] = field(default_factory=list)

    async def find(
        self, run_id: str, cr: Json, watch: Watch, on_start: Callable[[Any], None]
    ) -> Drift:
        on_start(self)
        self.began.set()
        await self.ended.wait()
        return SOMETHING

    def cancel(self, reason: str) -> None:
        self.reasons.append(reason)
        self.ended.set()


async def test_plan_in_flight_is_ended_with_the_engine_and_reports_nothing(
    setting: Setting,
) -> None:
    finder = Planning()
    observed = setting_with(finder, setting, is_observed=True)
    await observed.shop.create()
    turn = asyncio.create_task(observed.turn())
    await finder.began.wait()

    observed.reconciler.cancel_runs("the engine stops")

    outcome = await turn
    assert finder.reasons == ["the engine stops"]
    assert (outcome.is_put_off, outcome.after_s, outcome.why) == (True, 0.0, "the engine stops")
    assert await observed.condition("Drifted") is None
