"""`rolecall test --rules`: the rule tables of roles, in the states of their `rules_test.yml`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rolecall.clock import Clock
from rolecall.errors import InputError, ProblemsError
from rolecall_dev.rule_tests import CASES_FILE, RoleCases, read_cases, try_rules
from rolecall_dev.sources import Findings


def run_rule_tests(project: Path, names: Sequence[str], clock: Clock) -> int:
    """0: each table says what is expected of it in each state."""
    began = clock.monotonic()
    roles = _read(project, names)
    report = try_rules(roles, project, os.environ)
    for problem in report.problems:
        print(problem)
    for untested in report.untested:
        print(f"{untested}; add one")
    took = clock.monotonic() - began
    wrong = len(report.problems)
    said = f"{wrong} not as expected" if wrong else "all as expected"
    print(f"{report.cases} states of {len(roles)} roles in {took:.1f} s: {said}")
    return 1 if wrong else 0


def _read(project: Path, names: Sequence[str]) -> list[RoleCases]:
    folder = project / "roles"
    found = [path.parent for path in sorted(folder.glob(f"*/{CASES_FILE}"))]
    if missing := sorted(set(names) - {role.name for role in found}):
        raise InputError(
            f"there is no roles/{missing[0]}/{CASES_FILE}",
            hint=f"it has states of the role's rule tables, and what is expected in each;"
            f" roles that have one: {', '.join(role.name for role in found) or 'none'}",
        )
    if not found:
        raise InputError(
            f"no role of this folder has a {CASES_FILE}",
            hint="write one beside its `tasks`; `rolecall create api` writes an example",
        )
    findings = Findings()
    chosen = [role for role in found if not names or role.name in names]
    roles = [read_cases(role, project, findings) for role in chosen]
    if findings.problems:
        raise ProblemsError(findings.problems)
    return roles
