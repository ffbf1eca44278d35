"""A turn's cause reaches its run and its log line, and a key that comes back says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rolecall.workqueue import DELETION, ROLE, Cause
from tests.unit.reconcile.scripted import GOOD
from tests.unit.reconcile.setting import Setting

EDIT = Cause("edit of generation 4")


async def test_run_knows_why_it_started_and_so_does_the_log(
    setting: Setting, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    await setting.shop.create()

    await setting.turn(cause=EDIT)

    assert [request.cause for request in setting.runner.requests] == [EDIT.text]
    (line,) = [record for record in caplog.records if record.message == "run started"]
    assert vars(line)["fields"]["cause"] == EDIT.text


async def test_key_that_a_role_asked_for_says_so(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(replace(GOOD, requeue_after_s=5.0))

    assert (await setting.turn(cause=EDIT)).cause == ROLE


async def test_finalizer_run_that_let_its_object_go_comes_back_for_the_deletion(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    await setting.shop.create()
    await setting.turn()
    await setting.shop.delete()

    outcome = await setting.turn(cause=DELETION)

    assert setting.runner.requests[-1].is_finalizer
    assert setting.runner.requests[-1].cause == "deletion"
    assert outcome.forget or outcome.cause == DELETION
