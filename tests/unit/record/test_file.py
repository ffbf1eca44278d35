"""The file of a record is read item by item, and forgives what it cannot understand."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rolecall.record import (
    NO_TASK,
    RECORD_FILE,
    RecordedRequest,
    RecordedTask,
    RunRecord,
    read_record,
    record_json,
    write_record,
)

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
TASK = RecordedTask("u1", 'a "task", [or] {two}', "roles/a/tasks/main.yml:2", "k8s", 1.0, 2.0, "ok")
REQUEST = RecordedRequest(
    0, 1.5, 0.1, "get", "apps", "v1", "deployments", "", "shop", "web", 200, task=0, leaves=(".a",)
)
RECORD = RunRecord("7", NOON, 0.5, (TASK, TASK), (REQUEST,), 3.0, "it is \\ cut")


@pytest.mark.parametrize("record", [RECORD, RunRecord("7", NOON, 0.5)])
def test_record_is_read_as_it_was_written(tmp_path: Path, record: RunRecord) -> None:
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record


def test_layout_of_the_file_does_not_matter(tmp_path: Path) -> None:
    values = dict(reversed(record_json(RECORD).items())) | {"later": [{"release": 1}]}
    (tmp_path / RECORD_FILE).write_text("\n " + json.dumps(values, indent=3) + "\n")
    assert read_record(tmp_path) == RECORD


def test_requests_of_other_tasks_are_left_out(tmp_path: Path) -> None:
    other = replace(REQUEST, number=1, task=1)
    outside = replace(REQUEST, number=2, task=NO_TASK)
    tasks = TASK, replace(TASK, uuid="u2")
    record = replace(RECORD, tasks=tasks, requests=(REQUEST, other, outside))
    write_record(tmp_path, record)
    assert read_record(tmp_path, of_task="u2") == replace(record, requests=(other,))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_half_of_a_record_is_none(tmp_path: Path, share: float) -> None:
    text = json.dumps(record_json(RECORD))
    (tmp_path / RECORD_FILE).write_text(text[: int(len(text) * share)])
    assert read_record(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"tasks": {}}', '{"tasks": [1]}', "{[]: 1}", '{"a" 1}', "x", "[" * 100_000],
)
def test_file_of_another_shape_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORD_FILE).write_text(text)
    assert read_record(tmp_path) is None
