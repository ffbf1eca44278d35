"""Others write while we do: nothing of theirs is lost, and the wrong object gets no status."""

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
from tests.unit.reconcile.setting import Setting
from tests.unit.workqueue.virtual_clock import VirtualClock

AGAIN = (0.0, Urgency.EDIT)


def ways_back(outcome: Outcome) -> tuple[float | None, Urgency]:
    return outcome.after_s, outcome.urgency


async def test_status_that_the_role_wrote_during_the_run_survives(setting: Setting) -> None:
    await setting.shop.create()

    async def role_writes(request: RunRequest) -> None:
        conditions = [*request.cr["status"]["conditions"], {"type": "Healthy", "status": "True"}]
        patch = {"status": {"url": "http://x", "conditions": conditions}}
        await setting.shop.patch(patch, subresource="status")

    setting.runner.will(role_writes)
    await setting.turn()

    status = (await setting.shop.get())["status"]
    assert status["url"] == "http://x"
    assert await setting.condition("Healthy") == {"type": "Healthy", "status": "True"}
    assert (await setting.reported("Successful"))[0] == "True"


async def test_ready_that_the_role_wrote_during_the_run_is_its_own(setting: Setting) -> None:
    await setting.shop.create()
    of_role = {"type": "Ready", "status": "False", "reason": "Starting", "message": "1 of 3"}

    async def role_writes(_: RunRequest) -> None:
        await setting.shop.patch({"status": {"conditions": [of_role]}}, subresource="status")

    setting.runner.will(role_writes, GOOD)
    await setting.turn()
    await setting.turn()

    assert await setting.condition("Ready") == of_role


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_edit_during_the_run_is_not_claimed_to_be_done(setting: Setting, result: Any) -> None:
    await setting.shop.create()

    async def user_edits(_: RunRequest) -> Any:
        await setting.shop.patch({"spec": {"size": 2}})
        return result

    setting.runner.will(user_edits)
    await setting.turn()

    status = (await setting.shop.get())["status"]
    assert status["observedGeneration"] == 1
    assert (await setting.reported("Ready"))[:2] == ("Unknown", "RunPending")


async def test_storm_of_conflicts_passes(setting: Setting, fake: FakeCluster) -> None:
    await setting.shop.create()
    left = 6

    async def storm(verb: str, subresource: str) -> None:
        nonlocal left
        left -= 1
        if left > 0:
            raise ConflictError("modified", code=409, target=Target("patch"))

    fake.intruder = storm
    outcome = await in_time(setting, setting.turn())

    assert not outcome.is_error
    assert (await setting.reported("Successful"))[0] == "True"


async def test_endless_conflicts_end_in_an_error_and_no_run(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create()

    async def always(verb: str, subresource: str) -> None:
        raise ConflictError("modified", code=409, target=Target("patch"))

    fake.intruder = always
    outcome = await in_time(setting, setting.turn())

    assert outcome.is_error
    assert setting.runner.requests == []


async def test_object_deleted_during_the_run_is_looked_at_again_and_forgotten(
    setting: Setting,
) -> None:
    await setting.shop.create()

    async def deleted(_: RunRequest) -> None:
        await setting.shop.delete()

    setting.runner.will(deleted)

    assert ways_back(await setting.turn()) == AGAIN
    assert await setting.turn() == Outcome(forget=True)


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_result_is_not_reported_to_an_object_that_took_the_name(
    setting: Setting, result: Any
) -> None:
    await setting.shop.create()

    async def replaced(_: RunRequest) -> Any:
        await setting.shop.delete()
        await setting.shop.create()
        return result

    setting.runner.will(replaced, GOOD)

    assert ways_back(await setting.turn()) == AGAIN
    assert "status" not in await setting.shop.get()
    await setting.turn()
    assert (await setting.reported("Successful"))[0] == "True"


async def test_finalizer_of_an_object_that_took_the_name_stays(holding_setting: Setting) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()

    async def replaced(_: RunRequest) -> None:
        await setting.shop.patch({"metadata": {"finalizers": []}})
        await setting.shop.create(finalizers=[FINALIZER])

    setting.runner.will(replaced)

    assert ways_back(await setting.turn()) == AGAIN
    assert (await setting.shop.get())["metadata"]["finalizers"] == [FINALIZER]


async def test_finalizer_stays_while_its_removal_does_not_get_through(
    holding_setting: Setting, fake: FakeCluster
) -> None:
    setting = holding_setting
    await setting.shop.create(finalizers=[FINALIZER])
    await setting.shop.delete()

    async def always_faster(verb: str, subresource: str) -> None:
        if not subresource:
            raise ConflictError("modified", code=409, target=Target("patch"))

    fake.intruder = always_faster
    assert (await in_time(setting, setting.turn())).is_error
    assert (await setting.shop.get())["metadata"]["finalizers"] == [FINALIZER]

    fake.intruder = None
    await setting.turn()
    with pytest.raises(NotFoundError):
        await setting.shop.get()


async def test_silent_api_server_is_an_error_that_backs_off(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create()

    async def silent(verb: str, subresource: str) -> None:
        raise UnavailableError("no answer")

    fake.intruder = silent

    assert await setting.turn() == Outcome(error="no answer")


async def test_read_after_the_run_is_made_where_status_is_not_managed(
    shop: Shop, clock: VirtualClock, holding_setting: Setting, fake: FakeCluster
) -> None:
    watch = replace(holding_setting.watch, manage_status=False)
    setting = Setting(shop, watch, clock)
    await shop.create(finalizers=[FINALIZER])

    async def deleted(_: RunRequest) -> None:
        await shop.delete()

    setting.runner.will(deleted)

    assert (await setting.turn()).after_s == 5.0
    assert fake.calls == ["get", "get"]


async def in_time(setting: Setting, turn: Any) -> Outcome:
    """Let the pauses between attempts pass."""
    assert isinstance(setting.clock, VirtualClock)
    task: asyncio.Task[Outcome] = asyncio.ensure_future(turn)
    await setting.clock.advance(10.0)
    return await task
