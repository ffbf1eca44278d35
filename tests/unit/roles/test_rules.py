"""The rule tables of our roles, in all states of their `rules_test.yml`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rolecall_dev.rule_tests import CASES_FILE, RuleReport, read_cases, try_rules
from rolecall_dev.sources import Findings
from tests.unit.house.documents import ROOT

ROLES = sorted(path.parent for path in ROOT.glob(f"roles/*/{CASES_FILE}"))


def _report(role: Path) -> RuleReport:
    findings = Findings()
    cases = read_cases(role, ROOT, findings)
    assert findings.problems == []
    return try_rules([cases], ROOT, os.environ)


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_rules_say_what_is_expected_in_each_state_and_each_rule_has_one(role: Path) -> None:
    report = _report(role)
    assert [str(problem) for problem in report.problems] == []
    assert report.untested == []
    assert report.cases > 0
