"""What a turn asks of others around its run: slots, notes, what skips runs, and what follows one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.reconcile import EndedRun, FollowedRun, RunAccess, TurnView
from rolecall.reconcile.ports import NoHooks
from rolecall.runner import RunEvent, RunRequest, RunResult
from rolecall.watches import Watch
from rolecall.workqueue import Key
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.scripted import BAD, GOOD, ScriptedAccess, watch_of
from tests.unit.reconcile.setting import Setting, long_run
from tests.unit.workqueue.virtual_clock import VirtualClock


@dataclass
class RecordedSlots:
    """A `KeySlots`: gives a slot when the test says so."""

    left: list[Key] = field(default_factory=list)
    wanted: list[Callable[[], None]] = field(default_factory=list)

    def leave_slot(self, key: Key) -> None:
        self.left.append(key)

    def want_slot(self, key: Key, on_given: Callable[[], None]) -> None:
        self.wanted.append(on_given)


@dataclass
class RecordedHooks(NoHooks):
    """`TurnHooks` that record their calls, and skip where the test wants it."""

    why: str = ""
    asked: list[TurnView] = field(default_factory=list)
    ended: list[EndedRun] = field(default_factory=list)
    run_agains: list[Key] = field(default_factory=list)

    async def why_no_run(self, turn: TurnView) -> str:
        self.asked.append(turn)
        return self.why

    async def run_ended(self, run: EndedRun) -> None:
        self.ended.append(run)

    def run_again(self, key: Key) -> None:
        self.run_agains.append(key)


async def test_run_that_waits_leaves_its_slot_and_goes_on_when_it_is_given_one(
    setting: Setting, clock: VirtualClock
) -> None:
    slots = RecordedSlots()
    setting = Setting(setting.shop, setting.watch, clock, ports={"slots": slots})
    went_on: list[bool] = []
    async with long_run(setting):
        slot = setting.runner.requests[0].slot
        assert slot is not None
        slot.leave()
        assert slots.left == [setting.key()]
        assert setting.reconciler.in_flight()[setting.key()].waits_since == clock.now()

        slot.want(lambda: went_on.append(True))
        assert went_on == []
        slots.wanted[0]()
        assert went_on == [True]
        assert setting.reconciler.in_flight()[setting.key()].waits_since is None

    slot.leave()
    slot.want(lambda: went_on.append(True))
    assert (len(slots.left), len(slots.wanted)) == (1, 1)  # its turn is over
    assert setting.reconciler.in_flight() == {}


class _Events(list[str], FollowedRun):
    """Follows a run, and publishes the names of its events."""

    def event(self, event: RunEvent) -> None:
        self.append(event.name)

    def finding(self, kind: type[Any]) -> Any:
        return self if kind is _Events else None


class _Following(ScriptedAccess):
    """Access of runs that are followed."""

    def __init__(self, followed: FollowedRun) -> None:
        super().__init__()
        self._followed = followed

    @asynccontextmanager
    async def issue_access(self, run_id: str, cr: Json, watch: Watch) -> AsyncIterator[RunAccess]:
        yield RunAccess(Path("/kubeconfig"), followed=self._followed)


async def test_findings_of_a_run_can_be_asked_for_in_flight_and_at_its_end(
    setting: Setting, clock: VirtualClock
) -> None:
    followed = _Events()
    hooks = RecordedHooks()
    access = _Following(followed)
    setting = Setting(setting.shop, setting.watch, clock, access=access, ports={"hooks": hooks})
    async with long_run(setting):
        assert setting.reconciler.findings_in_flight(_Events) == {setting.key(): followed}
        assert setting.reconciler.findings_in_flight(int) == {}
        setting.runner.on_event["a"](RunEvent("playbook_on_task_start", 2, "", "", {}, "a.yml:1"))

    assert setting.reconciler.findings_in_flight(_Events) == {}
    [run] = hooks.ended
    assert (run.key, run.result.succeeded, run.is_finalizer) == (setting.key(), True, False)
    assert run.findings.of(_Events) == ["playbook_on_start", "playbook_on_task_start"]
    assert run.findings.of(int) is None


async def test_run_that_would_do_the_same_is_not_made_and_the_period_goes_on(
    shop: Shop, clock: VirtualClock
) -> None:
    hooks = RecordedHooks("nothing changed")
    setting = Setting(shop, watch_of(), clock, ports={"hooks": hooks})
    await shop.create()

    outcome = await setting.turn()

    assert setting.runner.requests == []
    assert (outcome.after_s, outcome.is_period, outcome.why) == (36000.0, True, "nothing changed")
    [asked] = hooks.asked
    assert (asked.turn.key, asked.period_s) == (setting.key(), 36000.0)


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_run_that_was_made_is_reported_with_what_it_saw(
    shop: Shop, clock: VirtualClock, result: RunResult
) -> None:
    hooks = RecordedHooks()
    setting = Setting(shop, watch_of(), clock, ports={"hooks": hooks})
    await shop.create()
    setting.runner.will(result)

    await setting.turn()

    [ended] = hooks.ended
    assert (ended.key, ended.result) == (setting.key(), replace(result, run_id="1"))
    assert "status" not in ended.before
    assert ended.cr == setting.runner.requests[0].cr


async def test_finalizer_run_is_made_whatever_is_known_of_the_last_run(
    shop: Shop, clock: VirtualClock
) -> None:
    hooks = RecordedHooks("nothing changed")
    setting = Setting(shop, watch_of(with_finalizer=True), clock, ports={"hooks": hooks})
    await shop.create(finalizers=[FINALIZER])
    await shop.delete()

    await setting.turn()

    assert setting.runner.requests[0].is_finalizer
    assert hooks.asked == []
    assert [run.is_finalizer for run in hooks.ended] == [True]


async def test_replica_that_led_until_its_run_had_access_starts_none(setting: Setting) -> None:
    await setting.shop.create()

    class Slow(ScriptedAccess):
        @asynccontextmanager
        async def issue_access(
            self, run_id: str, cr: Json, watch: Watch
        ) -> AsyncIterator[RunAccess]:
            setting.may_run = False
            yield RunAccess(Path("/kubeconfig"))

    setting.access = Slow()
    setting.__post_init__()
    outcome = await setting.turn()

    assert setting.runner.requests == []
    assert outcome.result is None


async def test_trail_of_a_turn_has_its_times_in_order(
    setting: Setting, clock: VirtualClock
) -> None:
    cr = await setting.shop.create()

    async def run_of_seven_seconds(request: RunRequest) -> RunResult:
        await clock.advance(7.0)
        return GOOD

    await clock.advance(3.0)
    setting.runner.will(run_of_seven_seconds)
    trail = (await setting.turn()).trail

    assert trail is not None
    assert (trail.began_s, trail.run_began_s, trail.run_ended_s) == (3.0, 3.0, 10.0)
    assert (trail.uid, trail.result.succeeded) == (cr["metadata"]["uid"], True)


async def test_spec_that_a_run_had_is_kept_beside_its_artifacts(
    setting: Setting, tmp_path: Path
) -> None:
    await setting.shop.create()
    await setting.turn()

    leave_beside = setting.runner.requests[0].leave_beside
    assert leave_beside is not None
    leave_beside(tmp_path)

    assert specs_in(tmp_path) == [{"size": 1}]


def specs_in(folder: Path) -> list[Json]:
    return [json.loads(each.read_text()) for each in folder.iterdir()]


async def test_object_that_is_made_anew_succeeds_for_the_first_time_again(
    shop: Shop, clock: VirtualClock
) -> None:
    """Where status is the role's, only the engine knows how the last run ended."""
    setting = Setting(shop, watch_of(manage_status=False), clock)
    for _ in range(2):
        await shop.create()
        await setting.turn()
        await shop.delete()
        assert (await setting.turn()).forget

    assert setting.events.reasons == ["Succeeded", "Succeeded"]
