"""A replica that may not lead, or no longer, says nothing and judges nothing."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.errors import NotLeadingError
from rolecall.reconcile import Outcome
from rolecall.runner import RunRequest
from rolecall.workqueue import START, Urgency
from tests.unit.reconcile.fake_cluster import FakeCluster
from tests.unit.reconcile.scripted import BAD, GOOD
from tests.unit.reconcile.setting import Setting


async def test_turn_of_a_replica_that_may_not_lead_is_put_back_as_it_was(
    setting: Setting, fake: FakeCluster
) -> None:
    await setting.shop.create()
    setting.may_run = False

    outcome = await setting.turn(urgency=Urgency.STARTUP)

    assert outcome == Outcome(after_s=1.0, urgency=Urgency.STARTUP, cause=START, is_put_off=True)
    assert setting.runner.requests == []
    assert fake.calls == []


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_run_that_outlived_its_leader_is_reported_nowhere(
    setting: Setting, result: Any
) -> None:
    await setting.shop.create()

    async def loses_the_lease(_: RunRequest) -> Any:
        setting.may_run = False
        return result

    setting.runner.will(loses_the_lease)
    outcome = await setting.turn()

    assert (outcome.error, outcome.after_s, outcome.urgency) == ("", 1.0, Urgency.EDIT)
    assert setting.events.reasons == []
    assert setting.telemetry.runs == []
    assert (await setting.reported("Running"))[:2] == ("True", "Running")


async def test_replica_that_stops_leading_reports_no_error_of_a_status_that_it_may_not_write(
    setting: Setting, fake: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    period = "ansible.sdk.operatorframework.io/reconcile-period"
    await setting.shop.create(annotations={period: "soon"})

    async def stops_leading(verb: str, _: str) -> None:
        raise NotLeadingError(verb)

    fake.intruder = stops_leading
    await setting.turn()

    assert "could not write status" not in caplog.text
