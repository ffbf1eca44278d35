"""Rule tables of `rolecall.operator`, with the real ansible-playbook."""

from __future__ import annotations

from typing import Any

import pytest

from tests.play.fake_api import FakeApi, serving
from tests.play.plays import Played, play
from tests.play.test_report import Reported

NOTE = "{{ hostile }}"


@pytest.fixture(scope="module", params=[pytest.param("stock", marks=pytest.mark.nightly), "warm"])
def decided(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Played, FakeApi]:
    """A run that decides by tables, good and bad ones."""
    workspace = Reported(tmp_path_factory.mktemp("decided"), way=request.param)
    with serving() as api:
        workspace.server = api.url
        played = play(workspace, "deciding", {"count": 3, "note": NOTE})
    assert played.result.way == request.param
    return played, api


def _status(decided: tuple[Played, FakeApi]) -> Any:
    return decided[1].status


def test_values_of_a_rule_keep_their_types(decided: tuple[Played, FakeApi]) -> None:
    made = {"count": 3, "text": "3.50", "rows": [3, NOTE], "is_large": True, "rule": 1}
    assert _status(decided)["made"] == made


def test_first_rule_that_holds_is_reported_and_no_other_is_templated(
    decided: tuple[Played, FakeApi],
) -> None:
    ready = decided[1].readies[0]
    said = ("True", "Large", f"3 of {NOTE}")
    assert (ready["status"], ready["reason"], ready["message"]) == said
    assert decided[0].result.requeue_after_s == 5


def test_tables_that_cannot_be_decided_by_say_why(decided: tuple[Played, FakeApi]) -> None:
    still_open, number, reserved, text, undefined = _status(decided)["faults"]
    assert still_open.startswith("no rule of `_deciding_open` holds; end it with a rule")
    assert number.startswith("rule 1 of `_deciding_number`: `when`: ")
    assert "Ansible keeps `msg` for itself" in reserved
    assert text.endswith("and `_deciding_text` is none")
    assert "'undefined_variable' is undefined" in undefined


def test_what_task_and_rule_both_say_is_a_fault(decided: tuple[Played, FakeApi]) -> None:
    assert _status(decided)["twice"].startswith("`message` is given by the task and by the rule")


def test_all_refusals_that_hold_are_reported_at_once(decided: tuple[Played, FakeApi]) -> None:
    (failure,) = decided[0].result.failures
    assert failure.task == "refuse"
    assert failure.message == f"size is 3, and the most is 2; `{NOTE}` is longer than 3"
