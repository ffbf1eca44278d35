"""Whether a run that succeeded came to the end of its tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rolecall.runner.cut_short import CutShort

_ROLE = """\
---
- name: first
  debug:
- name: stop here
  ansible.builtin.meta: end_play
  when: stops
- name: notify handlers
  meta: flush_handlers
- name: end_play is only a word here
  debug:
"""


def started(place: str) -> dict[str, Any]:
    return {"task_action": "meta", "task_uuid": place, "task_path": place}


@pytest.fixture
def role(tmp_path: Path) -> Path:
    file = tmp_path / "main.yml"
    file.write_text(_ROLE)
    return file


def test_meta_that_was_not_skipped_has_ended_the_run(role: Path) -> None:
    run = CutShort()
    run.note_start(started(f"{role}:4"))
    assert run.why({}) == "it was ended early by `end_play`"


def test_meta_that_was_skipped_has_not(role: Path) -> None:
    run = CutShort()
    run.note_start(started(f"{role}:4"))
    run.note_end("runner_on_skipped", started(f"{role}:4"))
    assert run.why({}) == ""


def test_meta_that_ends_nothing_is_no_end(role: Path) -> None:
    run = CutShort()
    run.note_start(started(f"{role}:7"))
    assert run.why({}) == ""


@pytest.mark.parametrize("place", ["", "nowhere.yml:3", "main.yml"])
def test_meta_that_cannot_be_looked_at_counts_as_an_end(place: str) -> None:
    run = CutShort()
    run.note_start(started(place))
    assert run.why({}) == "it was ended early by `meta`"


@pytest.mark.parametrize(
    ("recap", "why"),
    [
        ({"rescued": {"localhost": 1}}, "a task failed and was rescued"),
        ({"ignored": {"localhost": 2}}, "a task failed and was ignored"),
        ({"rescued": {"localhost": 0}, "ignored": {}}, ""),
    ],
)
def test_failure_that_did_not_count_cuts_a_run_short(recap: dict[str, Any], why: str) -> None:
    assert CutShort().why(recap) == why


def ended(result: dict[str, Any], place: str = "") -> dict[str, Any]:
    return {"task": "ask", "task_path": place, "res": result}


@pytest.mark.parametrize(
    "result",
    [
        {"failed_when_result": False, "rc": 1},
        {"failed_when_result": False, "status": -1, "msg": "Request failed"},
        {"failed_when_result": False, "status": 403, "msg": "Forbidden"},
        {"failed_when_result": False, "msg": "Failed to get client"},
        {"failed_when_result": False, "error": 403},
        {"exception": "Traceback"},
        {"failed_when_result": False, "failed_when_suppressed_exception": "(traceback)"},
        {"results": [{"rc": 0}, {"failed_when_result": False, "rc": 2}]},
        {"results": [{"exception": "Traceback"}]},
        {"ansible_job_id": "j1.2", "started": 1, "finished": 0},
    ],
)
def test_failure_that_counts_as_a_success_cuts_a_run_short(result: dict[str, Any]) -> None:
    run = CutShort()
    run.note_end("runner_on_ok", ended(result))
    assert "task `ask`" in run.why({})


@pytest.mark.parametrize(
    "result",
    [
        {"failed_when_result": False, "rc": 0, "msg": "fine"},
        {"failed_when_result": False, "status": 200, "msg": "OK (unknown bytes)"},
        {"failed_when_result": False, "resources": [], "api_found": True},
        {"rc": 1, "msg": "the module itself took it for a success"},
        {"results": [{"failed_when_result": False, "rc": 0}]},
        {"ansible_job_id": "j1.2", "started": 1, "finished": 1},
        {},
    ],
)
def test_success_that_failed_when_confirms_is_one(result: dict[str, Any]) -> None:
    run = CutShort()
    run.note_end("runner_on_ok", ended(result))
    assert run.why({}) == ""


def test_result_that_no_log_hides_counts_only_where_failed_when_may_hide_a_failure(
    tmp_path: Path,
) -> None:
    file = tmp_path / "main.yml"
    file.write_text("- uri:\n  no_log: true\n- uri:\n  no_log: true\n  failed_when: false\n")
    first, second = CutShort(), CutShort()
    first.note_end("runner_on_ok", ended({"censored": "hidden"}, f"{file}:1"))
    second.note_end("runner_on_ok", ended({"censored": "hidden"}, f"{file}:3"))
    assert (first.why({}), bool(second.why({}))) == ("", True)
