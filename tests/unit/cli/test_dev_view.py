"""What `rolecall run --dev` prints of a play's events, and of the engine's log."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any

import pytest

import rolecall
from rolecall.cli.dev_lines import QUIET, DevLines, is_worth_a_line
from rolecall.cli.dev_view import DevView
from rolecall.gvk import Gvk
from rolecall.log_fields import log_fields
from rolecall.runner import RunEvent
from rolecall.workqueue import Key

KEY = Key(Gvk("demo.example.com", "v1", "Website"), "default", "web")


def printed(name: str, *, place: str = "roles/web/tasks/main.yml:3", **data: Any) -> list[str]:
    stream = io.StringIO()
    event = RunEvent(name, 1, "", "as Ansible says it", {"task": "Apply", **data}, place)
    DevView(stream).event(KEY, "r1", event, 0)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("name", "data", "word"),
    [
        ("runner_on_ok", {"res": {}}, "ok"),
        ("runner_on_ok", {"res": {"changed": True}}, "changed"),
        ("runner_on_skipped", {}, "skipped"),
        ("runner_retry", {}, "again"),
    ],
)
def test_end_of_a_task_is_one_line(name: str, data: dict[str, Any], word: str) -> None:
    (line,) = printed(name, duration=1.25, **data)
    assert line.split() == ["Website/web", word, "1.2", "s", "Apply", "roles/web/tasks/main.yml:3"]


@pytest.mark.parametrize("name", ["playbook_on_task_start", "runner_on_start", "playbook_on_stats"])
def test_what_is_no_end_of_a_task_says_nothing(name: str) -> None:
    assert printed(name) == []


def test_failure_is_reported_with_all_that_is_known() -> None:
    lines = printed("runner_on_failed", res={"msg": "one\ntwo", "stderr": "three", "stdout": ""})
    assert lines[0].split()[1] == "failed"
    assert [line.strip() for line in lines[1:]] == [
        "at roles/web/tasks/main.yml:3",
        "one",
        "two",
        "stderr:",
        "three",
    ]


def test_failure_that_is_ignored_is_reported_as_such() -> None:
    assert "ignored" in printed("runner_on_failed", res={"msg": "x"}, ignore_errors=True)[0]


def test_failure_without_a_message_is_reported_as_ansible_reports_it() -> None:
    assert "    as Ansible says it" in printed("runner_on_failed", res={})


def test_text_of_a_cr_cannot_steer_the_terminal() -> None:
    lines = printed("runner_on_failed", task="a\x1b[2J\nb", res={"msg": "c\x1b]0;d\x07e"})
    assert "\x1b" not in "".join(lines)
    assert "a b" in lines[0]


def record(message: str, level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    made = logging.LogRecord("rolecall.x", level, "", 0, message, (), None)
    vars(made).update(log_fields(kind="Website", namespace="default", name="web", **fields))
    return made


@pytest.mark.parametrize(
    ("message", "fields", "reported"),
    [
        ("run started", {"cause": "edit of generation 4"}, "run starts: edit of generation 4"),
        (
            "run finished",
            {"seconds": 1.24, "next_in_s": 60.0},
            "run succeeded in 1.2 s; next in 1m0s",
        ),
        (
            "run finished",
            {"outcome": "cancelled", "seconds": 1.24, "why": "ann asked for it"},
            "run cancelled after 1.2 s: ann asked for it",
        ),
        (
            "run finished",
            {"seconds": 1.24, "next_in_s": 0.0},
            "run succeeded in 1.2 s; next at once",
        ),
        (
            "run finished",
            {"outcome": "cancelled", "seconds": 1.24, "why": "the engine stops", "next_in_s": 0.0},
            "run cancelled after 1.2 s: the engine stops",
        ),
        ("run failed", {"seconds": 2.0, "error": "broken"}, "run failed in 2.0 s: broken"),
        ("Resumed", {}, "Resumed"),
    ],
)
def test_lines_of_the_engine_are_short(message: str, fields: dict[str, Any], reported: str) -> None:
    line = DevLines(io.StringIO()).format(record(message, **fields))
    assert line[9:] == f"Website default/web: {reported}"


def test_settings_are_not_worth_a_line_but_warnings_are() -> None:
    assert not is_worth_a_line(record("settings"))
    assert is_worth_a_line(record("settings", logging.WARNING))


def test_what_is_left_out_is_still_said_by_the_engine() -> None:
    engine = Path(rolecall.__file__).parent
    code = "".join(file.read_text() for file in engine.rglob("*.py") if file.name != "dev_lines.py")
    assert [text for text in QUIET if f'"{text}"' not in code] == []
