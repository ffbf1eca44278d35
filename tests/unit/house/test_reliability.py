"""docs/reliability.md promises nothing that no test shows, and quotes only what its tests said."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tools import reliability

from tests.unit.house.documents import ROOT

FAULTS = 60
_LAST = re.compile(
    r"(?:passed|skipped|FAILED) in \d+\.\d s on 20\d\d-\d\d-\d\d(?: \(load [^|)]+\))?(?:: [^|]+)?"
    r"|not run yet"
)
_REPORT = """<testsuites><testsuite>
<testcase classname="tests.e2e.test_x" name="test_a[one]" time="1.25">
 <properties><property name="figure" value="gone in 2.0 s"/></properties></testcase>
<testcase classname="tests.e2e.test_x" name="test_a[two]" time="1"><failure>no</failure></testcase>
<testcase classname="tests.e2e.test_x" name="test_b" time="0.04"/>
</testsuite></testsuites>"""


def _page() -> str:
    return reliability.PAGE.read_text()


def test_each_promise_is_shown_by_a_test_that_is_there() -> None:
    missing = []
    for row in reliability.rows_of(_page()):
        path, _, test = row.node.partition("::")
        file = ROOT / path
        named = _tests_of(file.read_text()) if file.is_file() else set()
        if test not in named:
            missing.append(f"{row.fault}: {row.node}")
    assert not missing, "\n".join(missing)


def test_sixty_faults_at_least_have_a_promise() -> None:
    faults = [row.fault for row in reliability.rows_of(_page())]
    assert len(set(faults)) == len(faults) >= FAULTS


def test_each_row_of_faults_has_its_four_columns() -> None:
    lines, is_faults, wrong = _page().splitlines(), False, []
    for line in lines:
        if line.startswith("| fault |"):
            assert line == "| fault | promise | test | last run |"
        is_faults = line.startswith("|") and (is_faults or line.startswith("| fault |"))
        if is_faults and line.startswith("| ") and not line.startswith("| fault |"):
            row = reliability.ROW.match(line)
            if row is None or not _LAST.fullmatch(row["last"] or ""):
                wrong.append(line)
    assert not wrong, "\n".join(wrong)


def test_page_says_what_the_tests_said_and_nothing_else() -> None:
    assert reliability.written(_page()) == _page(), "`make reliability` writes it"


def test_report_is_read_by_test_with_its_parameters_figures_and_worst_result() -> None:
    found = reliability.results_in(_REPORT)
    reported = {
        node: str(replace(ran, at="2026-11-27", load="9 8 7")) for node, ran in found.items()
    }
    assert reported == {
        "tests/e2e/test_x.py::test_a": (
            "FAILED in 2.2 s on 2026-11-27 (load 9 8 7): gone in 2.0 s"
        ),
        "tests/e2e/test_x.py::test_b": "passed in 0.0 s on 2026-11-27 (load 9 8 7)",
    }
    assert all(ran.commit and ran.machine and ran.load for ran in found.values())


def test_row_keeps_its_load_when_others_are_run_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reliability, "RESULTS", tmp_path / "results.json")
    first, second = (row.node for row in reliability.rows_of(_page())[:2])
    reliability.keep({first: reliability.Ran("2026-01-01", load="9.0 9.0 9.0")})
    reliability.keep({second: reliability.Ran("2026-01-02", load="0.1 0.1 0.1")})
    page = reliability.written(_page())
    (line,) = [line for line in page.splitlines() if first in line]
    assert "passed in 0.0 s on 2026-01-01 (load 9.0 9.0 9.0)" in line
    assert "0.1" not in page.partition(reliability.MARKS[0])[2].partition(reliability.MARKS[1])[0]


def _tests_of(text: str) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }
