"""What the log says of turns: at debug level each decision, else nothing that was said elsewhere."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import NoSuchKindError
from rolecall.logs.formats import fields_of
from rolecall.reconcile import PAUSED_ANNOTATION
from rolecall.workqueue import EDIT, Queue, Urgency
from tests.unit.reconcile.setting import Setting, hands_for
from tests.unit.workqueue.virtual_clock import VirtualClock


@asynccontextmanager
async def working(setting: Setting) -> AsyncIterator[Queue]:
    queue, workers = hands_for(setting, max_runs=2)
    running = asyncio.create_task(workers.run(2))
    try:
        yield queue
    finally:
        await workers.drain(0.0)
        await running


async def test_kind_that_was_removed_is_waited_for_without_a_word_for_each_cr(
    setting: Setting,
    clock: VirtualClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def gone(gvk: Gvk, namespace: str, name: str) -> Json:
        raise NoSuchKindError(gvk)

    await setting.shop.create()
    caplog.set_level(logging.INFO, "rolecall")
    async with working(setting) as queue:
        with monkeypatch.context() as removed:
            removed.setattr(setting.shop.cluster, "get", gone)
            queue.add(setting.key(), Urgency.EDIT)
            await clock.advance(60.0)
            assert len(setting.telemetry.turns) <= 6
        assert caplog.messages == []

        queue.add(setting.key(), Urgency.EDIT)
        await clock.advance(1.0)
        assert len(setting.runner.requests) == 1


async def test_debug_says_why_a_turn_began_and_why_nothing_ran(
    setting: Setting, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    await setting.shop.create(annotations={PAUSED_ANNOTATION: "true"})
    caplog.set_level(logging.DEBUG, "rolecall")
    async with working(setting) as queue:
        queue.add(setting.key(), Urgency.EDIT, EDIT)
        queue.add(setting.key("missing"), Urgency.PERIOD)
        await clock.advance(1.0)
    said = [(record.message, fields_of(record)) for record in caplog.records]
    reported = [
        (message, fields["name"], fields.get("cause", fields.get("why")))
        for message, fields in said
        if message.startswith("reconcile ")
    ]
    assert ("reconcile begins", "a", "edit") in reported
    assert ("reconcile ends, nothing ran", "a", "paused") in reported
    assert ("reconcile ends, nothing ran", "missing", "the object is gone") in reported
    assert any(fields.get("next_in_s", 0) > 1000 for _, fields in said)
