"""Which runs prove what the next one would do, and what is kept of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rolecall.record import RecordedRequest, RunRecord
from rolecall.runner import Ending
from rolecall.workqueue import EDIT, START, Turn, Urgency
from tests.unit.extensions.skip.conftest import KEY, READ, RUN, World, cr


@pytest.mark.parametrize(
    "changes",
    [
        {"impure": "`tasks/main.yml:1`: action `command` runs a program"},
        {"ending": Ending.TIMED_OUT},
        {"requeue_after_s": 5.0},
        {"changed_tasks": ("x",)},
    ],
)
async def test_a_run_that_proves_nothing_is_made_again(
    world: World, changes: dict[str, Any]
) -> None:
    await world.run(READ, **changes)
    assert not await world.why()


@pytest.mark.parametrize(
    "request_of_run",
    [
        replace(READ, code=403),
        replace(READ, code=503),
        replace(READ, unread="its answer has more than 1024 KB"),
        replace(READ, verb="watch", name=""),
        replace(READ, verb="list", name="", query="limit=5", items_digest="x"),
        replace(READ, subresource="log", resource="pods"),
        replace(READ, verb="patch", object_version="8"),
        replace(READ, verb="create", code=409),
        replace(READ, verb="patch", query="dryRun=All"),
    ],
)
async def test_a_request_that_leaves_open_what_was_seen_is_made_again(
    world: World, request_of_run: RecordedRequest
) -> None:
    await world.run(request_of_run)
    assert not await world.why()


async def test_a_file_that_changed_while_the_run_was_in_flight_proves_nothing(
    world: World,
) -> None:
    await world.why(cause=EDIT)
    (world.role / "tasks" / "main.yml").write_text("[x]")
    record = RunRecord("1", world.clock.now(), 0.0, (), (READ,))
    world.clock.passed_s += 1.0
    await world.skips.ran(KEY, world.watch, (cr(), cr()), RUN, record)
    assert not await world.why()


async def test_a_restart_forgets_nothing(world: World) -> None:
    await world.run(READ)
    await world.skips.write()
    world.skips = world.started()
    assert await world.why(cause=START)


async def test_what_is_garbled_is_as_if_it_were_not_there(world: World) -> None:
    await world.run(READ)
    await world.skips.write()
    world.store.parts = dict.fromkeys(world.store.parts, b'[["a"]]')
    world.skips = world.started()
    assert not await world.why(cause=START)
    world.store.parts = dict.fromkeys(world.store.parts, b"\xff")
    world.skips = world.started()
    assert not await world.why(cause=START)


async def test_an_object_that_is_gone_is_forgotten(world: World) -> None:
    await world.run(READ)
    world.skips.forget(KEY)
    assert not await world.why()


async def test_a_skip_writes_nothing(world: World) -> None:
    await world.run(READ)
    await world.skips.write()
    world.store.parts.clear()
    assert await world.why()
    await world.skips.write()
    assert world.store.parts == {}


async def test_keys_that_wait_in_line_share_a_list(world: World) -> None:
    await world.run(READ)
    world.api.asked.clear()
    world.clock.passed_s += 10.0
    for _ in range(3):
        turn = Turn(KEY, Urgency.STARTUP, 5.0, START)
        assert await world.skips.why_no_run(turn, world.watch, cr(), 3600.0)
    assert [path for path in world.api.asked if "secrets" in path] == ["/api/v1/secrets?limit=500"]
