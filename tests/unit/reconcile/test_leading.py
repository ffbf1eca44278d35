"""A replica that may not lead, or no longer, says nothing and judges nothing."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.reconcile import Outcome
from rolecall.runner import RunRequest
from rolecall.workqueue import Urgency
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.stage import Stage


async def test_turn_of_a_replica_that_may_not_lead_is_put_back_as_it_was(
    stage: Stage, fake: FakeCluster
) -> None:
    await stage.shop.create()
    stage.may_run = False

    outcome = await stage.turn(urgency=Urgency.STARTUP)

    assert outcome == Outcome(after_s=1.0, urgency=Urgency.STARTUP)
    assert stage.runner.requests == []
    assert fake.calls == []


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_run_that_outlived_its_leader_is_told_nowhere(stage: Stage, result: Any) -> None:
    await stage.shop.create()

    async def loses_the_lease(_: RunRequest) -> Any:
        stage.may_run = False
        return result

    stage.runner.will(loses_the_lease)
    outcome = await stage.turn()

    assert (outcome.error, outcome.after_s, outcome.urgency) == ("", 1.0, Urgency.EDIT)
    assert stage.events.reasons == []
    assert stage.telemetry.runs == []
    assert (await stage.told("Running"))[:2] == ("True", "Running")
