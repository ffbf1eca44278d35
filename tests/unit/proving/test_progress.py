"""How far a test is: in place on a terminal, now and then in a log."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pytest

from rolecall.clock import SystemClock
from rolecall_dev.cli.progress import CaseProgress
from rolecall_dev.proving.report import ProofProgress


@dataclass
class HandClock(SystemClock):
    seconds: float = 0.0

    def monotonic(self) -> float:
        return self.seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_test_of_half_an_hour_is_not_taken_for_one_that_hangs() -> None:
    clock, log = HandClock(), io.StringIO()
    said = CaseProgress(log, clock)
    progress = ProofProgress(samples=1, known=1, cases=84, clock=clock)
    for second in range(30 * 60):
        clock.seconds = second
        progress.decided = second // 25
        said.say_where(progress.reported(second), progress.share)
    lines = log.getvalue().splitlines()
    assert len(lines) == 30 * 60 // 30 - 1
    assert lines[-1] == "70 of 84 cases; 29 min 30 s"


def test_log_has_no_line_of_progress_beside_one_that_was_just_said() -> None:
    clock, log = HandClock(), io.StringIO()
    said = CaseProgress(log, clock)
    clock.seconds = 29
    said.say("seen once: a case: is gone")
    clock.seconds = 31
    said.say_where("1 of 2 cases; 31 s", 0.5)
    assert log.getvalue() == "seen once: a case: is gone\n"


def test_line_on_a_terminal_changes_in_place_and_makes_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    said = CaseProgress(terminal, HandClock())
    said.say_where("1 of 2 cases; 3 s in a case of a long name", 0.5)
    said.say("found")
    said.clear()
    cleared = "\r\x1b[K"
    assert (
        terminal.getvalue()
        == f"{cleared}[##########..........] 1 of 2 cases; 3 {cleared}found\n{cleared}"
    )


def test_what_is_under_way_longest_is_named_with_its_time() -> None:
    clock = HandClock()
    progress = ProofProgress(samples=1, cases=3, seen_once=1, clock=clock)
    with progress.under_way("Site/blog: slow"):
        clock.seconds = 40
        with progress.under_way("Site/blog: quick"):
            reported = progress.reported(90)
    assert reported == "0 of 3 cases, 1 problem seen once; 1 min 30 s; 40 s in Site/blog: slow"
    assert progress.reported(90) == "0 of 3 cases, 1 problem seen once; 1 min 30 s"


def test_second_tries_are_distinguished() -> None:
    progress = ProofProgress(
        samples=1, cases=3, decided=3, seen_once=2, is_second=True, tried_again=1
    )
    assert progress.reported(5) == "second tries: 1 of 2; 5 s"


def test_before_cases_are_known_samples_are_counted() -> None:
    assert ProofProgress(samples=2, known=1).reported(5) == "undisturbed: 1 of 2 samples; 5 s"


def test_share_is_of_samples_then_of_cases_then_of_second_tries() -> None:
    progress = ProofProgress(samples=2, known=1)
    assert progress.share == 0.5
    progress.cases, progress.decided = 4, 1
    assert progress.share == 0.25
    progress.is_second, progress.seen_once, progress.tried_again = True, 5, 1
    assert progress.share == 0.2
