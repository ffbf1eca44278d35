"""What a schema drops, noticed in answers, forgotten after some minutes, reported once."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall.status.pruning import PrunedFields
from tests.unit.workqueue.keys import APP, VOLUME
from tests.unit.workqueue.virtual_clock import VirtualClock

READY = {"type": "Ready", "status": "True", "observedGeneration": 1}
FAILURE = {"type": "Failure", "status": "False", "ansibleResult": {"ok": 1}}


def status(*conditions: Any, **more: Any) -> Json:
    return {"conditions": list(conditions), **more}


def without(item: Json, name: str) -> Json:
    return {key: value for key, value in item.items() if key != name}


def dropped(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.__dict__["fields"]["dropped"] for record in caplog.records]


async def test_field_dropped_from_conditions_is_left_out_of_all_of_them_and_nothing_else() -> None:
    fields = PrunedFields(VirtualClock())
    sent = status(READY, FAILURE, observedGeneration=1)
    fields.compare(
        APP, sent, status(READY, without(FAILURE, "ansibleResult"), observedGeneration=1)
    )

    assert fields.without_pruned(APP, sent) == status(
        READY, without(FAILURE, "ansibleResult"), observedGeneration=1
    )
    assert fields.without_pruned(VOLUME, sent) == sent


async def test_what_is_dropped_is_remembered_for_ten_minutes() -> None:
    clock = VirtualClock()
    fields = PrunedFields(clock)
    sent = status(observedGeneration=1)
    fields.compare(APP, sent, status())

    await clock.advance(599.0)
    assert fields.without_pruned(APP, sent) == status()
    await clock.advance(1.0)
    assert fields.without_pruned(APP, sent) == sent


async def test_what_was_dropped_long_ago_is_not_taken_for_dropped_now(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = VirtualClock()
    fields = PrunedFields(clock)
    fields.compare(APP, status(phase="up"), status())
    await clock.advance(600.0)
    fields.compare(APP, status(size=1), status())

    assert fields.without_pruned(APP, status(phase="up", size=1)) == status(phase="up")
    assert dropped(caplog) == ["`status.phase`", "`status.size`"]


def test_fields_are_reported_together_and_once_for_each_kind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fields = PrunedFields(VirtualClock())
    sent, received = status(FAILURE, phase="up"), status(without(FAILURE, "ansibleResult"))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            fields.compare(APP, sent, received)
            fields.compare(VOLUME, sent, received)

    assert dropped(caplog) == ["`status.conditions[].ansibleResult`, `status.phase`"] * 2


def test_answer_that_drops_nothing_is_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    fields = PrunedFields(VirtualClock())

    fields.compare(APP, status(READY), status({**READY, "defaulted": 1}))

    assert caplog.records == []


@pytest.mark.parametrize(
    "answered",
    [
        status(),
        status(FAILURE, FAILURE),
        status("not a map"),
        {"conditions": "text"},
    ],
)
def test_answer_whose_conditions_are_others_reports_nothing_of_their_fields(answered: Json) -> None:
    fields = PrunedFields(VirtualClock())
    sent = status(FAILURE)

    fields.compare(APP, sent, answered)

    assert fields.without_pruned(APP, sent) == sent


def test_condition_that_is_no_map_is_sent_as_it_is() -> None:
    fields = PrunedFields(VirtualClock())
    sent = status("not a map", READY)
    fields.compare(APP, sent, status("not a map", without(READY, "observedGeneration")))

    assert fields.without_pruned(APP, sent) == status(
        "not a map", without(READY, "observedGeneration")
    )


def test_status_without_conditions_may_lose_fields_too() -> None:
    fields = PrunedFields(VirtualClock())
    fields.compare(APP, {"phase": "up"}, status(READY))

    assert fields.without_pruned(APP, {"phase": "up", "size": 1}) == {"size": 1}
