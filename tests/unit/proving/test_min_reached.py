"""Nothing found in too few cases is no success."""

from __future__ import annotations

import pytest

from rolecall.cli import main
from rolecall_dev.cli.test import exit_code_of
from rolecall_dev.proving import ProofReport
from rolecall_dev.proving.report import Finding

FINDING = Finding("edits", "Site", "a: b", "", "", "")


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (ProofReport(passed=["a: b"], not_reached=["a: c"]), 0),
        (ProofReport(passed=["a: b"], not_reached=["a: c", "a: d"]), 5),
        (
            ProofReport(passed=["a: b"], not_tried_again=["a: c: it fails"], undecided=["a: d: x"]),
            5,
        ),
        (ProofReport(passed=["a: b", "a: c"], not_reached=["b: undisturbed"]), 5),
        (ProofReport(not_reached=["a: undisturbed"]), 5),
        (ProofReport(undecided=["a: undisturbed: no answer"]), 5),
        (ProofReport(limits_not_met=["rolecall-test.yaml:1"], not_reached=["a: c", "a: d"]), 1),
        (ProofReport(findings=[FINDING], not_reached=["a: c", "a: d"]), 1),
    ],
)
def test_nothing_found_in_less_than_half_of_the_cases_has_an_exit_code_of_its_own(
    report: ProofReport, code: int
) -> None:
    assert exit_code_of(report) == code


@pytest.mark.parametrize(("least", "code"), [(0, 0), (33, 0), (34, 5), (100, 5)])
def test_share_of_cases_that_must_be_decided_is_the_users(least: int, code: int) -> None:
    report = ProofReport(passed=["a: b"], not_reached=["a: c", "a: d"])
    assert exit_code_of(report, least) == code


@pytest.mark.parametrize("text", ["-1", "101", "x", "0.5"])
def test_share_that_is_no_percentage_is_refused(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["test", f"--min-reached={text}"])
    assert "is not a number from 0 to 100" in capsys.readouterr().err
