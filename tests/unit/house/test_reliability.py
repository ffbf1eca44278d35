"""docs/reliability.md promises nothing that no test shows: each test that it names is there."""

from __future__ import annotations

import ast
import re

from tests.unit.house.documents import ROOT

FAULTS = 30
_NO_PROMISES = "## Our kinds under `rolecall test`"  # from there on, what was found
_ROW = re.compile(
    r"^\| (?P<fault>[^|]+) \| (?P<promise>[^|]+) \| `(?P<file>[^`:]+)::(?P<test>\w+)` \|$"
)


def _rows() -> list[re.Match[str]]:
    text = (ROOT / "docs" / "reliability.md").read_text()
    lines = text.partition(_NO_PROMISES)[0].splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| fault")]
    found = [_ROW.match(line) for line in rows]
    wrong = [line for line, match in zip(rows, found, strict=True) if match is None]
    assert not wrong, "\n".join(wrong)
    return [match for match in found if match is not None]


def test_each_promise_is_shown_by_a_test_that_is_there() -> None:
    missing = []
    for row in _rows():
        file = ROOT / row["file"]
        named = _tests_of(file.read_text()) if file.is_file() else set()
        if row["test"] not in named:
            missing.append(f"{row['fault']}: {row['file']}::{row['test']}")
    assert not missing, "\n".join(missing)


def test_thirty_faults_at_least_have_a_promise() -> None:
    faults = [row["fault"] for row in _rows()]
    assert len(set(faults)) == len(faults) >= FAULTS


def _tests_of(text: str) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }
