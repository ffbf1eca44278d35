"""Others write while we do: nothing of theirs is lost, and the wrong object is told nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from rolecall.kube import ConflictError, NotFoundError, Target, UnavailableError
from rolecall.reconcile import Outcome
from rolecall.runner import RunRequest
from rolecall.workqueue import Urgency
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.stage import Stage
from tests.unit.workqueue.virtual_clock import VirtualClock

AGAIN = (0.0, Urgency.EDIT)


def ways_back(outcome: Outcome) -> tuple[float | None, Urgency]:
    return outcome.after_s, outcome.urgency


async def test_status_that_the_role_wrote_during_the_run_survives(stage: Stage) -> None:
    await stage.shop.create()

    async def role_writes(request: RunRequest) -> None:
        conditions = [*request.cr["status"]["conditions"], {"type": "Healthy", "status": "True"}]
        patch = {"status": {"url": "http://x", "conditions": conditions}}
        await stage.shop.patch(patch, subresource="status")

    stage.runner.will(role_writes)
    await stage.turn()

    status = (await stage.shop.get())["status"]
    assert status["url"] == "http://x"
    assert await stage.condition("Healthy") == {"type": "Healthy", "status": "True"}
    assert (await stage.told("Successful"))[0] == "True"


async def test_ready_that_the_role_wrote_during_the_run_is_its_own(stage: Stage) -> None:
    await stage.shop.create()
    of_role = {"type": "Ready", "status": "False", "reason": "Starting", "message": "1 of 3"}

    async def role_writes(_: RunRequest) -> None:
        await stage.shop.patch({"status": {"conditions": [of_role]}}, subresource="status")

    stage.runner.will(role_writes, GOOD)
    await stage.turn()
    await stage.turn()

    assert await stage.condition("Ready") == of_role


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_edit_during_the_run_is_not_claimed_to_be_done(stage: Stage, result: Any) -> None:
    await stage.shop.create()

    async def user_edits(_: RunRequest) -> Any:
        await stage.shop.patch({"spec": {"size": 2}})
        return result

    stage.runner.will(user_edits)
    await stage.turn()

    status = (await stage.shop.get())["status"]
    assert status["observedGeneration"] == 1
    assert (await stage.told("Ready"))[:2] == ("Unknown", "RunPending")


async def test_storm_of_conflicts_passes(stage: Stage, fake: FakeCluster) -> None:
    await stage.shop.create()
    left = 6

    async def storm(verb: str, subresource: str) -> None:
        nonlocal left
        left -= 1
        if left > 0:
            raise ConflictError("modified", code=409, target=Target("patch"))

    fake.intruder = storm
    outcome = await in_time(stage, stage.turn())

    assert not outcome.is_error
    assert (await stage.told("Successful"))[0] == "True"


async def test_endless_conflicts_end_in_an_error_and_no_run(
    stage: Stage, fake: FakeCluster
) -> None:
    await stage.shop.create()

    async def always(verb: str, subresource: str) -> None:
        raise ConflictError("modified", code=409, target=Target("patch"))

    fake.intruder = always
    outcome = await in_time(stage, stage.turn())

    assert outcome.is_error
    assert stage.runner.requests == []


async def test_object_deleted_during_the_run_is_looked_at_again_and_forgotten(
    stage: Stage,
) -> None:
    await stage.shop.create()

    async def deleted(_: RunRequest) -> None:
        await stage.shop.delete()

    stage.runner.will(deleted)

    assert ways_back(await stage.turn()) == AGAIN
    assert await stage.turn() == Outcome(forget=True)


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_result_is_not_told_to_an_object_that_took_the_name(
    stage: Stage, result: Any
) -> None:
    await stage.shop.create()

    async def replaced(_: RunRequest) -> Any:
        await stage.shop.delete()
        await stage.shop.create()
        return result

    stage.runner.will(replaced, GOOD)

    assert ways_back(await stage.turn()) == AGAIN
    assert "status" not in await stage.shop.get()
    await stage.turn()
    assert (await stage.told("Successful"))[0] == "True"


async def test_finalizer_of_an_object_that_took_the_name_stays(holding_stage: Stage) -> None:
    stage = holding_stage
    await stage.shop.create(finalizers=[FINALIZER])
    await stage.shop.delete()

    async def replaced(_: RunRequest) -> None:
        await stage.shop.patch({"metadata": {"finalizers": []}})
        await stage.shop.create(finalizers=[FINALIZER])

    stage.runner.will(replaced)

    assert ways_back(await stage.turn()) == AGAIN
    assert (await stage.shop.get())["metadata"]["finalizers"] == [FINALIZER]


async def test_finalizer_stays_while_its_removal_does_not_get_through(
    holding_stage: Stage, fake: FakeCluster
) -> None:
    stage = holding_stage
    await stage.shop.create(finalizers=[FINALIZER])
    await stage.shop.delete()

    async def always_faster(verb: str, subresource: str) -> None:
        if not subresource:
            raise ConflictError("modified", code=409, target=Target("patch"))

    fake.intruder = always_faster
    assert (await in_time(stage, stage.turn())).is_error
    assert (await stage.shop.get())["metadata"]["finalizers"] == [FINALIZER]

    fake.intruder = None
    await stage.turn()
    with pytest.raises(NotFoundError):
        await stage.shop.get()


async def test_silent_api_server_is_an_error_that_backs_off(
    stage: Stage, fake: FakeCluster
) -> None:
    await stage.shop.create()

    async def silent(verb: str, subresource: str) -> None:
        raise UnavailableError("no answer")

    fake.intruder = silent

    assert await stage.turn() == Outcome(error="no answer")


async def test_read_after_the_run_is_made_where_status_is_not_managed(
    shop: Shop, clock: VirtualClock, holding_stage: Stage, fake: FakeCluster
) -> None:
    watch = replace(holding_stage.watch, manage_status=False)
    stage = Stage(shop, watch, clock)
    await shop.create(finalizers=[FINALIZER])

    async def deleted(_: RunRequest) -> None:
        await shop.delete()

    stage.runner.will(deleted)

    assert (await stage.turn()).after_s == 5.0
    assert fake.calls == ["get", "get"]


async def in_time(stage: Stage, turn: Any) -> Outcome:
    """Let the pauses between attempts pass."""
    assert isinstance(stage.clock, VirtualClock)
    task: asyncio.Task[Outcome] = asyncio.ensure_future(turn)
    await stage.clock.advance(10.0)
    return await task
