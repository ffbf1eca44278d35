"""What an engine says it is at."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.unit.extensions.console.control.engine import NOON, Known, World, asked, key, state

from rolecall.extensions.console.control.state import Wall
from rolecall.history import FailedTask
from rolecall.local_engine import LocalEngine
from rolecall.reconcile import Outcome, PauseNote, Progress
from rolecall.workqueue import Cause, Delayed, Urgency, Waiting


async def test_state_says_of_each_cr_what_it_is_at(world: World) -> None:
    for name in ("busy", "queued", "broken", "fine", "new", "asleep", "halted"):
        world.known[key(name)] = Known(is_paused=name == "asleep")
    world.known[key("unwanted")] = Known(is_selected=False)
    world.in_flight[key("busy")] = Progress(
        "77", "edit of generation 4", NOON, NOON, "build it", "roles/web/tasks/main.yml:3"
    )
    world.in_flight[key("long")] = replace(
        world.in_flight[key("busy")], waits_since=NOON + timedelta(seconds=5)
    )
    ticks = world.clock.monotonic()
    cause = Cause("drift of Deployment web")
    world.waiting.append(Waiting(key("queued"), Urgency.DEPENDENT, cause, ticks - 5, 1))
    world.delayed.append(Delayed(key("broken"), Urgency.RETRY, Cause("retry 3"), ticks + 60, 1))
    world.keep("broken", outcome="failed", reason="no such module", seconds=2.5)
    world.keep("fine", outcome="succeeded")
    world.keep("halted", outcome="cancelled")

    async with world.served() as path:
        crs = await state(path)

    assert {name: cr["state"] for name, cr in crs.items()} == {
        "busy": "running",
        "long": "running",
        "queued": "waiting",
        "broken": "failed",
        "fine": "ready",
        "new": "unknown",
        "asleep": "paused",
        "halted": "stopped",
    }
    assert crs["busy"]["waits_since"] is None
    assert crs["long"]["waits_since"] == "2026-11-22T12:00:05Z"
    busy, queued, broken = crs["busy"], crs["queued"], crs["broken"]
    assert (busy["run"], busy["task"], busy["place"]) == (
        "77",
        "build it",
        "roles/web/tasks/main.yml:3",
    )
    assert (busy["cause"], busy["began"]) == ("edit of generation 4", "2026-11-22T12:00:00Z")
    assert (queued["urgency"], queued["cause"]) == ("dependent", "drift of Deployment web")
    waited = world.clock.now() - datetime.fromisoformat(queued["waiting_since"])
    assert timedelta(seconds=4) < waited < timedelta(seconds=60)
    assert (broken["next_why"], broken["last"]["reason"]) == ("retry 3", "no such module")
    assert datetime.fromisoformat(broken["next_at"]) > world.clock.now() + timedelta(seconds=20)
    assert crs["new"]["last"] is None
    assert "unwanted" not in crs


async def test_state_has_the_pause_the_deletion_and_the_task_that_failed(world: World) -> None:
    note = PauseNote("ann", "2026-11-22T12:00:00Z", "moving")
    world.known[key("asleep")] = Known(is_paused=True, pause_note=note)
    world.known[key("going")] = Known(is_deleted=True)
    failed = FailedTask("clean up", "roles/web/tasks/main.yml:3", "no such file")
    world.keep("going", outcome="failed", failed_task=failed, is_finalizer=True)

    async with world.served() as path:
        crs = await state(path)

    assert crs["asleep"]["pause"] == note._asdict()
    assert (crs["asleep"]["deleted"], crs["going"]["pause"]) == (False, None)
    last = crs["going"]["last"]
    assert crs["going"]["deleted"] is True
    reported = (last["task"], last["place"], last["finalizer"])
    assert reported == ("clean up", "roles/web/tasks/main.yml:3", True)


async def test_engine_says_who_it_is(world: World) -> None:
    async with world.served() as path:
        _, document = await asked(path, "GET", "/v1/state")

    engine = document["engine"]
    assert (engine["version"], engine["pid"], engine["leads"]) == ("1.2.3", 4711, True)
    assert engine["watches"] == [
        {"kind": "Website", "api_version": "demo.example.com/v1", "plural": "websites"}
    ]


async def test_last_run_is_read_again_after_a_turn_and_not_before(world: World) -> None:
    world.known[key("a")] = Known()
    world.keep("a", outcome="succeeded")
    async with world.served() as path:
        assert (await state(path))["a"]["state"] == "ready"
        world.keep("a", outcome="failed", reason="broken")
        assert (await state(path))["a"]["state"] == "ready"

        world.last_runs.turn_over(key("a"), Outcome(error="broken", ran={"run": "1"}))

        assert (await state(path))["a"]["last"]["reason"] == "broken"


@pytest.mark.parametrize("run", ["", "2"])
async def test_turn_that_failed_and_left_nothing_is_reported_by_its_error(
    world: World, run: str
) -> None:
    world.known[key("a")] = Known()
    world.keep("a", outcome="succeeded")
    world.last_runs.turn_over(key("a"), Outcome(error="no connection", ran={"run": run}))

    async with world.served() as path:
        a = (await state(path))["a"]

    assert (a["state"], a["last"]["reason"], a["last"]["run"]) == ("failed", "no connection", "")


async def test_watcher_gets_a_line_for_each_change_and_none_for_none(world: World) -> None:
    world.known[key("a")] = Known()
    async with world.served() as path:
        lines = LocalEngine(path.parent).states()
        first = await asyncio.to_thread(next, lines)
        world.known[key("b")] = Known()
        second = await asyncio.to_thread(next, lines)
        del lines

    assert [cr["name"] for cr in first["crs"]] == ["a"]
    assert [cr["name"] for cr in second["crs"]] == ["a", "b"]


async def test_a_time_is_reported_the_same_each_time(world: World) -> None:
    wall = Wall(world.clock)
    ticks = [world.clock.monotonic() + number / 7 for number in range(1000)]
    reported = [wall.at(each) for each in ticks]

    wall.follow()

    assert [wall.at(each) for each in ticks] == reported
