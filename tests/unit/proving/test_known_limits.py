"""A project may accept findings, each with a reason; an entry that accepts nothing is reported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from rolecall.errors import ProblemsError
from rolecall_dev.cli.test import exit_code_of
from rolecall_dev.proving import CHECKS, ProofReport, Wish, prove, report_text, write_junit
from rolecall_dev.proving import proof as proof_module
from rolecall_dev.proving.bench import Bench
from rolecall_dev.proving.known_limits import (
    KNOWN_LIMITS_FILE,
    KnownLimit,
    MetLimit,
    covering,
    load_known_limits,
)
from rolecall_dev.proving.model import Case, CaseProblem, OperatorCheck, Subject
from rolecall_dev.proving.report import Finding
from rolecall_dev.proving.samples import CrSample
from rolecall_dev.proving.undisturbed import Undisturbed
from rolecall_dev.staging import NO_LEEWAY, EndState
from tests.unit.house.documents import ROOT
from tests.unit.proving.small_project import write_project

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
  found: ["Service/* .spec", Pod/b]
"""


def loaded(folder: Path, text: str) -> tuple[KnownLimit, ...]:
    (folder / KNOWN_LIMITS_FILE).write_text(text)
    return load_known_limits(folder, ["Site", "Disk"], ["edits", "drift"])


def reported(folder: Path, text: str) -> str:
    with pytest.raises(ProblemsError) as caught:
        loaded(folder, text)
    return "\n".join(map(str, caught.value.problems))


def finding(found: str) -> str:
    """The entry with another `found`."""
    return ENTRY.replace('["Service/* .spec", Pod/b]', found)


def test_project_without_the_file_accepts_nothing(tmp_path: Path) -> None:
    assert load_known_limits(tmp_path, ["Site"], ["edits"]) == ()


def test_our_own_entries_say_what_they_accept() -> None:
    kinds = [watch["kind"] for watch in yaml.safe_load((ROOT / "watches.yaml").read_text())]
    limits = load_known_limits(ROOT, kinds, CHECKS)
    assert all(limit.found for limit in limits)
    assert {limit.kind for limit in limits} <= set(kinds)


def test_entry_covers_the_cases_of_its_pattern(tmp_path: Path) -> None:
    (limit,) = loaded(tmp_path, ENTRY)
    assert covering([limit], CASE, PROBLEM) is limit
    assert limit.place == "rolecall-test.yaml:1"


@pytest.mark.parametrize(
    "other",
    [
        Case("edits", "Site/blog", "spec.ports[1].name web2", {}),
        Case("drift", "Site/blog", CASE.reported, {}),
        Case("edits", "Disk/blog", CASE.reported, {}),
        Case("edits", "Site/blog", f"with {CASE.reported}", {}),
    ],
)
def test_entry_covers_nothing_else(tmp_path: Path, other: Case) -> None:
    assert covering(loaded(tmp_path, ENTRY), other, PROBLEM) is None


@pytest.mark.parametrize(
    ("found", "is_covered"),
    [
        (["Service/* .spec", "Pod/b"], True),
        (["Service/* .spec"], False),
        (["is missing", ".spec"], False),
    ],
)
def test_entry_that_says_what_may_be_found_covers_nothing_beside_it(
    tmp_path: Path, found: list[str], is_covered: bool
) -> None:
    limits = loaded(tmp_path, finding(json.dumps(found)))
    assert (covering(limits, CASE, PROBLEM) is not None) == is_covered


def test_differences_that_are_too_many_to_be_shown_count_as_well(tmp_path: Path) -> None:
    limits = loaded(tmp_path, finding("[Pod/]"))
    shown = replace(PROBLEM, found="Pod/a: is missing", differences=("Pod/a", "Secret/b"))
    assert covering(limits, CASE, shown) is None


def test_entry_without_a_reason_is_refused_with_its_line(tmp_path: Path) -> None:
    text = reported(tmp_path, ENTRY + "- kind: Site\n  check: edits\n  case: a\n  found: [b]\n")
    assert "rolecall-test.yaml:6: `reason` is missing" in text


@pytest.mark.parametrize("found", ["[]", "null"])
def test_entry_that_does_not_say_what_is_found_is_refused(tmp_path: Path, found: str) -> None:
    text = reported(tmp_path, finding(found))
    assert "rolecall-test.yaml:5: `found` is missing, so whatever the case finds" in text
    without = "".join(line for line in ENTRY.splitlines(keepends=True) if "found" not in line)
    assert "`found` is missing" in reported(tmp_path, without)


@pytest.mark.parametrize(
    "found", ["Site/blog .status", "Site/* .status", "Site/blog .status*", ".status", "* .status *"]
)
def test_entry_that_accepts_any_status_is_refused(tmp_path: Path, found: str) -> None:
    text = reported(tmp_path, finding(json.dumps(["Pod/b", found])))
    assert f"`found` has `{found}`, which accepts any wrong status" in text


def test_entry_may_accept_a_field_of_the_status(tmp_path: Path) -> None:
    assert loaded(tmp_path, finding('["Site/blog .status.replicas"]'))


@pytest.mark.parametrize("found", ["*", "", " ** "])
def test_entry_that_accepts_everything_is_refused(tmp_path: Path, found: str) -> None:
    assert "which accepts everything" in reported(tmp_path, finding(json.dumps([found])))


def test_entry_for_every_case_of_a_check_is_refused(tmp_path: Path) -> None:
    text = reported(tmp_path, ENTRY.replace("spec.ports[0].name *", "'*'"))
    assert "rolecall-test.yaml:3: `case` is `*`, which accepts every case" in text


def test_reason_of_blanks_is_none(tmp_path: Path) -> None:
    assert "rolecall-test.yaml:4: `reason` is missing" in reported(
        tmp_path, ENTRY.replace(REASON, "' '")
    )


def test_key_that_is_not_known_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    text = reported(tmp_path, ENTRY + "  reasons: more\n")
    assert "rolecall-test.yaml:6: unknown key `reasons`; did you mean `reason`?" in text


def test_kinds_and_checks_that_are_not_there_are_refused_with_those_that_are(
    tmp_path: Path,
) -> None:
    text = reported(tmp_path, ENTRY.replace("Site", "Sites").replace("edits", "edit"))
    assert "rolecall-test.yaml:1: kind `Sites` is not there" in text
    assert "rolecall-test.yaml:2: check `edit` is not there" in text
    assert "there are edits, drift" in text


def test_met_limit_is_reported_with_its_reason_and_is_not_a_finding(tmp_path: Path) -> None:
    (limit,) = loaded(tmp_path, ENTRY)
    report = ProofReport(limits=[MetLimit(CASE.name, PROBLEM.reported, limit)])
    text = report_text(report)
    assert f"known limit: {REASON}" in text
    assert "test: 0 findings, 1 known in 1 case;" in text
    write_junit(report, tmp_path / "junit.xml")
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "1")


def test_unmet_limit_is_reported_with_its_line(tmp_path: Path) -> None:
    (limit,) = loaded(tmp_path, ENTRY)
    line = f"{limit.place}: {limit.shown}"
    text = report_text(ProofReport(limits_not_met=[line]))
    assert line in text
    assert "1 known limit not met" in text


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (ProofReport(), 0),
        (ProofReport(passed=["Site/blog: edits: spec.size 2"]), 0),
        (ProofReport(limits_not_met=["rolecall-test.yaml:1"]), 1),
        (ProofReport(findings=[Finding("edits", "Site", CASE.name, "", "", "")]), 1),
    ],
)
def test_command_fails_for_findings_and_for_limits_that_nothing_meets(
    report: ProofReport, code: int
) -> None:
    assert exit_code_of(report) == code


def test_limit_that_nothing_meets_is_a_failure_in_junit(tmp_path: Path) -> None:
    write_junit(ProofReport(limits_not_met=["rolecall-test.yaml:1: Site"]), tmp_path / "x.xml")
    suite = ElementTree.parse(tmp_path / "x.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "nothing meets" in (failure.get("message") or "")


class NoCluster:
    """An operator that no test asks anything."""

    client = None

    def install_crds(self, project: Path) -> None:
        assert project.is_dir()

    @asynccontextmanager
    async def operator(self, _: Path, __: Sequence[str] = ()) -> AsyncIterator[tuple[Any, Any]]:
        class Proxy:
            runs = 0

        yield None, Proxy()


async def proved(
    folder: Path, monkeypatch: pytest.MonkeyPatch, problems: dict[str, list[CaseProblem]]
) -> ProofReport:
    """Of a project whose cases are these, each finding the same whenever it is tried."""
    write_project(folder)

    async def undisturbed(
        _: Bench,
        samples: Sequence[CrSample],
        on_known: Callable[[CrSample, Undisturbed], None],
    ) -> None:
        nothing = EndState()
        known = Undisturbed(nothing, NO_LEEWAY, nothing, (), (), (), True, True, False, {}, (), {})
        for sample in samples:
            on_known(sample, known)

    async def schema_of(_: object, __: object) -> dict[str, Any]:
        return {}

    def cases(_: Subject) -> list[Case]:
        return [Case("edits", "Site/blog", reported, {}) for reported in problems]

    async def run(_: Bench, __: Subject, case: Case) -> list[CaseProblem]:
        return problems[case.reported]

    monkeypatch.setattr(Bench, "undisturbed", undisturbed)
    monkeypatch.setattr(proof_module, "_schema_of", schema_of)
    monkeypatch.setattr(proof_module, "CHECKS", {"edits": OperatorCheck("edits", "", cases, run)})
    report = await prove(Wish(folder), trial_cluster=NoCluster())  # type: ignore[arg-type]
    await asyncio.get_running_loop().shutdown_default_executor()
    return report


async def test_test_of_a_project_finds_what_no_entry_covers_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / KNOWN_LIMITS_FILE).write_text(ENTRY)
    report = await proved(
        tmp_path,
        monkeypatch,
        {CASE.reported: [PROBLEM], "spec.size 2": [PROBLEM], "spec.size 3": []},
    )
    assert [it.case for it in report.limits] == [CASE.name]
    assert [it.case for it in report.findings] == ["Site/blog: edits: spec.size 2"]
    assert report.limits_not_met == []
    assert report.cases == 3


async def test_test_of_a_project_names_entries_that_nothing_meets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / KNOWN_LIMITS_FILE).write_text(ENTRY)
    report = await proved(tmp_path, monkeypatch, {CASE.reported: []})
    place = "rolecall-test.yaml:1: Site: edits: `spec.ports[0].name *`"
    assert report.limits_not_met == [f"{place}, `Service/* .spec`, `Pod/b`"]
