"""What was found, as programs and code hosts read it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rolecall.errors import Problem
from rolecall_dev.checks import FORMATS, Checked, Findings

ERROR = Problem(
    "roles/a,b/x.yml", 3, "`a` is\nwrong", ("50% of it",), "write `b`", column=7, rule="yaml"
)
WARNING = Problem("config/rbac", None, "is odd", is_warning=True, rule="rbac")


@pytest.fixture
def checked() -> Checked:
    findings = Findings()
    findings.problems += [ERROR, WARNING]
    findings.notes.append("one thing was not checked")
    return Checked(2, findings)


def test_text_names_file_line_and_column(checked: Checked) -> None:
    lines = FORMATS["text"](checked).splitlines()

    assert lines[0] == "roles/a,b/x.yml:3:7: `a` is"
    assert lines[-1] == "checked 2 watches: 1 error, 1 warning"


def test_json_holds_everything(checked: Checked) -> None:
    found = json.loads(FORMATS["json"](checked))

    assert (found["errors"], found["warnings"], found["notes"]) == (
        1,
        1,
        ["one thing was not checked"],
    )
    assert found["problems"][0] == {
        "level": "error",
        "rule": "yaml",
        "file": "roles/a,b/x.yml",
        "line": 3,
        "column": 7,
        "what": "`a` is\nwrong",
        "details": ["50% of it"],
        "hint": "write `b`",
    }


def test_sarif_has_what_the_standard_demands(checked: Checked) -> None:
    found = json.loads(FORMATS["sarif"](checked))

    assert found["version"] == "2.1.0"
    (run,) = found["runs"]
    assert run["tool"]["driver"]["name"] == "rolecall"
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    first, second = run["results"]
    assert {first["ruleId"], second["ruleId"]} == set(rules)
    assert (first["level"], second["level"]) == ("error", "warning")
    place: dict[str, Any] = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "roles/a%2Cb/x.yml"
    assert place["region"] == {"startLine": 3, "startColumn": 7}
    assert "region" not in second["locations"][0]["physicalLocation"]
    assert "hint: write `b`" in first["message"]["text"]


def test_github_gets_one_line_for_each_problem(checked: Checked) -> None:
    assert FORMATS["github"](checked).splitlines() == [
        "::error file=roles/a%2Cb/x.yml,line=3,col=7::`a` is%0Awrong%0A50%25 of it%0Ahint: write `b`",
        "::warning file=config/rbac::is odd",
        "::notice::one thing was not checked",
    ]
