"""When a turn needs no run, and when it does: each thing that a run depends on, one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rolecall.extensions.skip import SkipUnchanged
from rolecall.workqueue import EDIT, PERIOD, ROLE, SET_BACK, START, Cause
from tests.unit.extensions.skip.conftest import READ, World, cr


async def test_nothing_runs_where_nothing_changed(world: World) -> None:
    await world.run(READ)

    assert await world.why(cause=PERIOD)
    assert await world.why(cause=START)


@pytest.mark.parametrize("cause", [EDIT, ROLE, SET_BACK, Cause("retry 1"), Cause("dependent x")])
async def test_other_causes_are_run(world: World, cause: Cause) -> None:
    await world.run(READ)

    assert not await world.why(cause=cause)


@pytest.mark.parametrize(
    "changes",
    [
        {"spec__size": 2},
        {"metadata__labels": {"tier": "gold"}},
        {"metadata__annotations": {"mine": "x"}},
        {"metadata__uid": "another"},
        {"metadata__finalizers": ["a/b"]},
        {"metadata__generation": 2},
        {"status__phase": "Done"},
        {"status__conditions": [{"type": "Running", "status": "True", "reason": "Running"}]},
        {"status__conditions": [{"type": "Foreign", "status": "True"}]},
    ],
)
async def test_an_object_that_changed_is_run(world: World, changes: dict[str, Any]) -> None:
    await world.run(READ)

    assert not await world.why(cr(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata__resourceVersion": "2"},
        {"metadata__managedFields": [{}]},
        {"metadata__annotations": {"rolecall.dev/mode": "x"}},
        {"status__observedGeneration": 2},
        {
            "status__conditions": [
                {"type": "Running", "status": "True", "reason": "Successful", "message": "later"}
            ]
        },
    ],
)
async def test_what_the_engine_writes_itself_is_no_change(
    world: World, changes: dict[str, Any]
) -> None:
    await world.run(READ)

    assert await world.why(cr(**changes))


async def test_a_read_that_is_answered_otherwise_is_run(world: World) -> None:
    await world.run(READ)
    world.api.version = "8"
    assert not await world.why()
    world.api.version = ""
    assert not await world.why()


async def test_a_changed_file_of_the_project_is_run(world: World) -> None:
    await world.run(READ)
    (world.role / "tasks" / "main.yml").write_text("[x]")
    assert not await world.why()


async def test_a_file_that_came_is_run(world: World) -> None:
    await world.run(READ)
    (world.role / "tasks" / "Debian.yml").write_text("[]")
    assert not await world.why()


async def test_kinds_that_came_are_run(world: World) -> None:
    await world.run(READ)
    world.api.kinds = b"more kinds"
    world.skips.forget_kinds()
    assert not await world.why()


async def test_another_version_of_anything_is_run(world: World) -> None:
    await world.run(READ)
    await world.skips.write()
    world.versions = ("2",)
    world.skips = world.started()
    assert not await world.why()


async def test_a_variable_counts_where_the_role_asked_for_it(world: World) -> None:
    await world.run(READ, variables=frozenset({"TIER"}))
    await world.skips.write()
    world.skips = world.started()
    assert await world.why()
    world.environment = {"TIER": "gold", "OTHER": "x"}
    world.skips = world.started()
    assert await world.why()
    world.environment = {"TIER": "silver"}
    world.skips = world.started()
    assert not await world.why()


async def test_another_word_of_watches_yaml_is_run(world: World) -> None:
    await world.run(READ)
    await world.skips.write()
    world.watch = replace(world.watch, vars={"x": 1})
    world.skips = world.started()
    assert not await world.why()


async def test_ten_periods_later_it_is_run(world: World) -> None:
    await world.run(READ)
    world.clock.passed_s += 9.9 * 3600
    assert await world.why()
    world.clock.passed_s += 0.2 * 3600
    assert not await world.why()


async def test_max_skip_says_how_long(world: World) -> None:
    world.watch = replace(world.watch, of_extensions=(SkipUnchanged(60.0),))
    await world.run(READ)
    assert await world.why()
    world.clock.passed_s += 61.0
    assert not await world.why()


async def test_a_kind_without_spec_is_skipped_though_its_play_sees_an_empty_one(
    world: World,
) -> None:
    bare = cr()
    del bare["spec"]
    await world.run(READ, seen={**bare, "spec": {}})
    assert await world.why(bare)
