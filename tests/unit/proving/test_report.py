"""A report as people and build servers read it, and a case as a file that can be tried again."""

from __future__ import annotations

import ast
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rolecall.errors import InputError
from rolecall_dev.proving import Finding, ProofReport, checks, report_text, write_junit
from rolecall_dev.proving.model import Case, Replay, read_replay

FINDING = Finding(
    check="killed",
    kind="Site",
    case="Site/blog: killed: run killed after write 2",
    reported="leaves something else behind",
    expected="the same end state",
    found="ConfigMap/b: is missing",
    requests=("create configmaps/a -> 201",),
    place="roles/site/tasks/main.yml:7",
    replay=Path(".rolecall-test/01.json"),
    remedy="Set marks last.",
)
CASE = Case("killed", "Site/blog", "run killed after write 2", {"what": "run", "after": [2]})


def test_finding_is_reported_with_its_task_its_difference_and_how_to_try_it_again() -> None:
    text = report_text(ProofReport(findings=[FINDING]))
    for part in (FINDING.case, FINDING.place, FINDING.found, FINDING.requests[0]):
        assert part in text
    assert "rolecall test --replay .rolecall-test/01.json" in text
    assert "  remedy: Set marks last.\n" in text


def test_unreached_cases_are_reported() -> None:
    assert "Site/blog: edits: spec.size" in report_text(
        ProofReport(not_reached=["Site/blog: edits: spec.size"])
    )


def test_last_line_says_loudly_how_much_was_not_tested() -> None:
    report = ProofReport(
        passed=["Site/blog: drift: a"],
        not_reached=["Site/blog: edits: spec.size", "Site/blog: edits: spec.name"],
        not_tried_again=["Site/blog: killed: write 2: is gone"],
        undecided=["Site/blog: errors: 500: timed out"],
    )
    assert report_text(report).splitlines()[-1] == (
        "NOT TESTED: 4 of 5 cases (edits 2, killed 1, errors 1); nothing is known of them: give it a"
        " longer --budget, or fewer checks by --check"
    )
    assert "NOT TESTED" not in report_text(ProofReport(passed=["Site/blog: drift: a"]))


def test_sample_that_was_not_reached_has_cases_that_cannot_be_counted() -> None:
    last = report_text(ProofReport(not_reached=["Site/blog: undisturbed"])).splitlines()[-1]
    assert "NOT TESTED: 1 of 1 cases (undisturbed 1), and all others of the samples" in last


def test_each_problem_of_a_check_names_a_remedy() -> None:
    for file in Path(checks.__file__).parent.glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "CaseProblem":
                assert any(it.arg == "remedy" for it in call.keywords), f"{file}:{call.lineno}"


def test_slowest_cases_are_reported_the_slowest_first() -> None:
    text = report_text(ProofReport(seconds_of={f"case {n}": float(n) for n in range(9)}))
    assert text.index("8.0 s  case 8") < text.index("7.0 s  case 7")
    assert "case 1" not in text


def test_junit_has_each_case_once(tmp_path: Path) -> None:
    file = tmp_path / "reports" / "junit.xml"
    report = ProofReport(
        findings=[FINDING],
        passed=["Site/blog: errors: 500"],
        not_reached=["Site/blog: x"],
        not_tried_again=["Site/blog: y: is gone"],
        seconds_of={"Site/blog: errors: 500": 1.5},
    )
    write_junit(report, file)
    suite = ElementTree.parse(file).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "2")
    assert {case.get("time") for case in suite.iter("testcase")} == {"1.50", None}
    (failure,) = suite.iter("failure")
    assert failure.text is not None
    assert FINDING.found in failure.text


def test_case_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    replay = Replay("config/samples/site.yaml", CASE)
    assert read_replay(replay.write(tmp_path, 1)) == replay


def test_file_that_holds_no_case_is_an_input_error(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text("{}")
    with pytest.raises(InputError, match="not a case"):
        read_replay(file)
