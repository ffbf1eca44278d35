"""Runs that have no recap, or did not end by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.runner import Ending
from rolecall.runner.limits import TimeLimits
from rolecall.settings import RunnerSettings
from tests.unit.runner.cases import Reported, run_request

NOSUCH = (
    "check the spelling of `nosuch`, or write its full name (`namespace.collection.nosuch`)"
    " and add that collection to requirements.yml"
)
OLD_MODULE = """\
ERROR! couldn't resolve module/action 'nosuch'. This often indicates a misspelling.

The error appears to be in '/project/roles/app/tasks/main.yml': line 4, column 5, but may
be elsewhere in the file depending on the exact syntax problem.
"""
NEW_MODULE = """\
[WARNING]: Error loading plugin 'nosuch.coll.module'
[ERROR]: couldn't resolve module/action 'nosuch'. This often indicates a misspelling.
Origin: /project/roles/app/tasks/main.yml:4:5

2   gather_facts: false
"""
OLD_YAML = """\
ERROR! We were unable to read either as JSON nor YAML, these are the errors we got from each:
JSON: Expecting value: line 1 column 1 (char 0)

Syntax Error while loading YAML.
  did not find expected ',' or '}'. while parsing a flow mapping
  in "<unicode string>", line 3, column 12

The error appears to be in '/project/play.yml': line 5, column 1, but may
"""
NEW_YAML = """\
[ERROR]: YAML parsing failed: While parsing a flow mapping did not find expected ',' or '}'.
Origin: /project/play.yml:5:1
"""
COLOURED = "\x1b[0;31m[ERROR]: the role 'x' was not found in /a:/b\x1b[0m\r\n\x1b[0;31m\x1b[0m\r\n"
NO_BEGINNING = (
    "ERROR: Unable to create local directories '/x'.\n\nTraceback (most recent call last):\n"
)
ARGUMENTS = """\
usage: ansible-playbook [-h] ...
ansible-playbook: error: unrecognized arguments: --nosuch

usage: ansible-playbook [-h]
"""


@pytest.mark.parametrize(
    ("stdout", "reason"),
    [
        (
            OLD_MODULE,
            f"couldn't resolve module/action 'nosuch'. (/project/roles/app/tasks/main.yml:4); {NOSUCH}",
        ),
        (
            NEW_MODULE,
            f"couldn't resolve module/action 'nosuch'. (/project/roles/app/tasks/main.yml:4); {NOSUCH}",
        ),
        (
            OLD_YAML,
            "YAML syntax error: did not find expected ',' or '}'. while parsing a flow mapping"
            " (/project/play.yml:5)",
        ),
        (
            NEW_YAML,
            "YAML parsing failed: While parsing a flow mapping did not find expected ',' or '}'."
            " (/project/play.yml:5)",
        ),
        (
            COLOURED,
            "the role 'x' was not found in /a:/b; add the role as roles/x, or list it in"
            " requirements.yml and install it, or build the operator's image anew",
        ),
        (NO_BEGINNING, "Unable to create local directories '/x'."),
        (ARGUMENTS, "unrecognized arguments: --nosuch"),
        ("", "ansible-playbook ended with exit status 1 before a recap and printed nothing"),
        (
            "hello\nworld\n",
            "ansible-playbook ended with exit status 1 before a recap; the last line was: world",
        ),
    ],
)
def test_a_run_without_a_recap_says_why_in_one_line(stdout: str, reason: str) -> None:
    result = Reported().result(1, stdout)
    assert result.ending is Ending.NO_RECAP
    assert not result.succeeded
    assert result.reason_text == reason


def test_the_last_error_is_the_one_that_ended_the_play() -> None:
    stdout = "[ERROR]: Task failed: rescued\n\nok: [localhost]\n[ERROR]: the end\n"
    assert Reported().result(1, stdout).reason_text == "the end"


def test_a_reason_stays_short_and_keeps_its_place() -> None:
    stdout = f"[ERROR]: {'long ' * 500}\nOrigin: /p/a.yml:3:1\n"
    reason = Reported().result(1, stdout).reason_text
    assert len(reason) <= 300
    assert reason.endswith("... (/p/a.yml:3)")


def test_failures_before_the_end_are_not_claimed_without_a_recap() -> None:
    # Whether something rescued them, only the recap would show.
    assert Reported().failed("a").result(1, "[ERROR]: x").failures == ()


def test_a_killed_play_names_memory() -> None:
    result = Reported().result(None, signal=9)
    assert result.ending is Ending.KILLED
    assert "SIGKILL (9)" in result.reason_text
    assert "memory" in result.reason_text


def test_another_signal_is_named_without_guessing_memory() -> None:
    reason = Reported().result(None, signal=15).reason_text
    assert "SIGTERM (15)" in reason
    assert "memory" not in reason


@pytest.mark.parametrize(
    ("rc", "stdout"), [(137, ""), (250, "[ERROR]: A worker was found in a dead state\n")]
)
def test_a_killed_worker_is_a_killed_run(rc: int, stdout: str) -> None:
    result = Reported().result(rc, stdout)
    assert result.ending is Ending.KILLED
    assert "memory" in result.reason_text


def test_a_run_that_was_killed_after_its_recap_did_not_succeed() -> None:
    assert not Reported().stats(ok=1).result(None, signal=9).succeeded


def test_a_cancelled_run_is_reported_as_such_with_its_reason() -> None:
    reported = Reported().failed("a").stats(failures=1)
    result = reported.result(None, signal=9, ended_as=Ending.CANCELLED, reason="because")
    assert (result.ending, result.reason_text) == (Ending.CANCELLED, "because")
    assert result.failures == ()


@pytest.mark.parametrize("ending", [Ending.TIMED_OUT, Ending.NO_PROGRESS])
def test_a_run_over_its_limit_names_the_task_that_it_was_at(ending: Ending) -> None:
    reported = Reported().event(
        "playbook_on_task_start", task="before", task_path="/project/a.yml:1"
    )
    reported.event("playbook_on_task_start", task="wait", task_path=f"{Path.cwd()}/roles/a/b.yml:7")
    result = reported.result(None, signal=9, ended_as=ending, reason="no output for 6 s")
    text = "no output for 6 s in task `wait` (roles/a/b.yml:7); stopped"
    assert (result.ending, result.reason_text) == (ending, text)
    (failure,) = result.failures
    assert (failure.task, failure.place) == ("wait", "roles/a/b.yml:7")
    assert failure.since == "09:13:44 UTC"


def test_a_run_over_its_limit_before_its_first_task_says_so() -> None:
    result = Reported().result(
        None, signal=9, ended_as=Ending.NO_PROGRESS, reason="no output for 1h"
    )
    assert result.reason_text == "no output for 1h before the first task; stopped"


def test_a_task_that_a_limit_ended_is_one_line_of_bounded_length() -> None:
    reported = Reported().event("playbook_on_task_start", task="a\nb" + "x" * 9999)
    result = reported.result(None, signal=9, ended_as=Ending.TIMED_OUT, reason="longer than 6 s")
    assert "\n" not in result.reason_text
    assert len(result.reason_text) < 300


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(6.0, "6 s"), (0.5, "0.5 s"), (90.0, "1m30s"), (3600.0, "1h"), (5400.0, "1h30m"), (60, "1m")],
)
def test_time_limit_is_reported_in_readable_units(seconds: float, text: str) -> None:
    limits = TimeLimits(no_progress_timeout_s=seconds)
    assert limits.next_end(0.0, 0.0) == (seconds, Ending.NO_PROGRESS, f"no output for {text}")


def test_a_run_that_prints_nothing_for_an_hour_is_ended_unless_the_watch_allows_it() -> None:
    settings = RunnerSettings()
    assert TimeLimits.of(run_request(), settings).no_progress_timeout_s == 3600.0
    allowed = run_request(no_progress_timeout_s=0.0)
    assert TimeLimits.of(allowed, settings).no_progress_timeout_s is None
