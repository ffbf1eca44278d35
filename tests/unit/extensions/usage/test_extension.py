"""What a run used is counted and written down, and a ledger that cannot be written costs nothing."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rolecall.extending import EndedTurn
from rolecall.extensions.usage import USAGE_FOLDER, CrOfRuns, Usage, read_usage
from rolecall.extensions.usage.extension import UsageExtension, used_by
from rolecall.gvk import Gvk
from rolecall.reconcile import NOT_FOLLOWED, Outcome, TurnTrail
from rolecall.record import RecordedRequest, RunRecord
from rolecall.runner import Ending, RunResult
from rolecall.workqueue import Key, Turn, Urgency
from tests.unit.extending.views import engine_view

SITE = Gvk("demo.example.com", "v1", "Website")
TURN = Turn(Key(SITE, "shops", "shop"), Urgency.EDIT)
NAME = CrOfRuns("demo.example.com/v1", "Website", "shops", "shop")
NOW = datetime.now(UTC)


def outcome(ending: Ending = Ending.FINISHED, cpu_s: float | None = 0.25) -> Outcome:
    result = RunResult("7", ending, 0, seconds=0.5, cpu_s=cpu_s)
    return Outcome(trail=TurnTrail(1.0, 1.1, 1.6, "uid", result, NOT_FOLLOWED))


def request(verb: str, name: str, code: int = 200, **more: object) -> RecordedRequest:
    known = {"is_owned": True, **more}
    about = ("", "v1", "configmaps", "", "shops", name, code)
    return RecordedRequest(0, 1.0, 0.1, verb, *about, **known)  # type: ignore[arg-type]


def record(*requests: RecordedRequest, incomplete: str = "") -> RunRecord:
    return RunRecord("7", NOW, 1.0, requests=requests, incomplete=incomplete)


def test_run_is_counted_and_written_down(tmp_path: Path) -> None:
    view = engine_view(tmp_path, UsageExtension.metrics)
    UsageExtension(view).turns_ended([EndedTurn(TURN, outcome(), 1.7)])
    used = Usage(1, 0, 0.5, 0.25, 0, None)
    assert read_usage(tmp_path, NOW - timedelta(hours=2))[0] == {NAME: used}
    shown = view.metrics.exposition().decode()  # type: ignore[attr-defined]
    assert 'rolecall_run_seconds_total{kind="Website",namespace="shops"} 0.5' in shown


def test_folder_that_cannot_be_written_is_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / USAGE_FOLDER).write_text("in the way")
    extension = UsageExtension(engine_view(tmp_path, UsageExtension.metrics))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            extension.turns_ended([EndedTurn(TURN, outcome(), 1.7)])
    assert caplog.messages == ["what runs use could not be written down"]


def test_objects_are_those_that_a_good_run_saw_last_as_its_own() -> None:
    seen = record(
        request("get", "gone", 404, is_owned=False),
        request("create", "a", 201),
        request("patch", "a"),
        request("get", "b"),
        request("get", "of-another", is_owned=False),
        request("create", "dropped", 201),
        request("delete", "dropped", is_owned=False),
        request("delete", "b", 409, is_owned=False),
        request("create", "tried", 201, query="dryRun=All"),
    )
    assert used_by(outcome(), seen) == Usage(1, 0, 0.5, 0.25, 9, 2)
    assert used_by(outcome(Ending.TIMED_OUT), seen).owned is None
    assert used_by(outcome(), record(incomplete="too many")).owned is None


def test_cancelled_run_costs_and_has_not_failed() -> None:
    assert used_by(outcome(Ending.CANCELLED), None) == Usage(1, 0, 0.5, 0.25, 0, None)
    assert used_by(outcome(Ending.KILLED, None), None) == Usage(1, 1, 0.5, 0.0, 0, None)


def test_cr_that_is_gone_owns_nothing_any_more() -> None:
    assert used_by(Outcome(forget=True), None) == Usage(owned=0)
