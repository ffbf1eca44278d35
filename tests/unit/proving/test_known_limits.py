"""A project may accept findings, each with a reason; an entry that accepts nothing is told."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from rolecall.errors import ProblemsError
from rolecall_dev.proving import ProofReport, report_text, write_junit
from rolecall_dev.proving.known_limits import (
    KNOWN_LIMITS_FILE,
    KnownLimit,
    MetLimit,
    covering,
    load_known_limits,
)
from rolecall_dev.proving.model import Case, CaseProblem

CASE = Case("edits", "Site/blog", "spec.ports[0].name web2", {})
PROBLEM = CaseProblem(
    "is not as before", "as before", "Service/blog .spec: is 1\nPod/b: is missing"
)
REASON = "a Service keeps its port"
ENTRY = f"""\
- kind: Site
  check: edits
  case: spec.ports[0].name *
  reason: {REASON}
"""


def loaded(folder: Path, text: str) -> tuple[KnownLimit, ...]:
    (folder / KNOWN_LIMITS_FILE).write_text(text)
    return load_known_limits(folder, ["Site", "Disk"], ["edits", "drift"])


def told(folder: Path, text: str) -> str:
    with pytest.raises(ProblemsError) as caught:
        loaded(folder, text)
    return "\n".join(map(str, caught.value.problems))


def test_project_without_the_file_accepts_nothing(tmp_path: Path) -> None:
    assert load_known_limits(tmp_path, ["Site"], ["edits"]) == ()


def test_entry_covers_the_cases_of_its_pattern(tmp_path: Path) -> None:
    (limit,) = loaded(tmp_path, ENTRY)
    assert covering([limit], CASE, PROBLEM) is limit
    assert limit.place == "rolecall-test.yaml:1"


@pytest.mark.parametrize(
    "other",
    [
        Case("edits", "Site/blog", "spec.ports[1].name web2", {}),
        Case("drift", "Site/blog", CASE.told, {}),
        Case("edits", "Disk/blog", CASE.told, {}),
        Case("edits", "Site/blog", f"with {CASE.told}", {}),
    ],
)
def test_entry_covers_nothing_else(tmp_path: Path, other: Case) -> None:
    assert covering(loaded(tmp_path, ENTRY), other, PROBLEM) is None


@pytest.mark.parametrize(
    ("found", "is_covered"),
    [("Service/* .spec", True), ("Pod/b", True), ("as before", True), ("Secret/", False)],
)
def test_entry_may_say_what_must_be_found(tmp_path: Path, found: str, is_covered: bool) -> None:
    limits = loaded(tmp_path, f"{ENTRY}  found: {found}\n")
    assert (covering(limits, CASE, PROBLEM) is not None) == is_covered


def test_entry_without_a_reason_is_refused_with_its_line(tmp_path: Path) -> None:
    text = told(tmp_path, ENTRY + "- kind: Site\n  check: edits\n  case: '*'\n")
    assert "rolecall-test.yaml:5: `reason` is missing" in text


def test_reason_of_blanks_is_none(tmp_path: Path) -> None:
    assert "rolecall-test.yaml:4: `reason` is missing" in told(
        tmp_path, ENTRY.replace(REASON, "' '")
    )


def test_key_that_is_not_known_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    text = told(tmp_path, ENTRY + "  reasons: more\n")
    assert "rolecall-test.yaml:5: unknown key `reasons`; did you mean `reason`?" in text


def test_kinds_and_checks_that_are_not_there_are_refused_with_those_that_are(
    tmp_path: Path,
) -> None:
    text = told(tmp_path, ENTRY.replace("Site", "Sites").replace("edits", "edit"))
    assert "rolecall-test.yaml:1: kind `Sites` is not there" in text
    assert "rolecall-test.yaml:2: check `edit` is not there" in text
    assert "there are edits, drift" in text


def test_met_limit_is_told_with_its_reason_and_is_no_finding(tmp_path: Path) -> None:
    (limit,) = loaded(tmp_path, ENTRY)
    report = ProofReport(limits=[MetLimit(CASE.name, PROBLEM.told, limit)])
    text = report_text(report)
    assert f"known limit: {REASON}" in text
    assert "test: 0 findings, 1 known in 1 cases" in text
    write_junit(report, tmp_path / "junit.xml")
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "1")


def test_limit_that_nothing_meets_any_more_is_told_with_its_line(tmp_path: Path) -> None:
    (limit,) = loaded(tmp_path, ENTRY)
    line = f"{limit.place}: {limit.shown}"
    assert line in report_text(ProofReport(limits_not_met=[line]))
