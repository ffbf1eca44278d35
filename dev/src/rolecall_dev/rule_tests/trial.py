"""Tries the cases of roles in one process of Ansible's, and compares what came of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.errors import InputError, Problem
from rolecall.json_object import Json
from rolecall.runner import BUNDLED_COLLECTIONS
from rolecall.watches import search_paths
from rolecall_dev.rule_tests.cases import RoleCases, RuleCase

_PROGRAM = (
    BUNDLED_COLLECTIONS / "ansible_collections/rolecall/operator/plugins/plugin_utils/rule_cases.py"
)
_PATIENCE_S = 600


@dataclass(slots=True)
class RuleReport:
    """What came of all cases."""

    problems: list[Problem] = field(default_factory=list)
    cases: int = 0
    # Rules that no case takes, as people know them.
    untested: list[str] = field(default_factory=list)


def try_rules(
    roles: Sequence[RoleCases], project: Path, environment: Mapping[str, str]
) -> RuleReport:
    """Try all of them."""
    report = RuleReport()
    asked = [
        {"path": str(each.role), "cases": [case.asked() for case in each.cases]} for each in roles
    ]
    answers = _answers({"project": str(project), "roles": asked}, project, environment)
    for role, answer in zip(roles, answers, strict=True):
        if answer["error"]:
            report.problems.append(Problem(role.file, None, answer["error"]))
            continue
        taken: set[tuple[str, int]] = set()
        for case, outcome in zip(role.cases, answer["cases"], strict=True):
            report.cases += 1
            if case.table:
                taken |= {(case.table, made["rule"]) for made in _rows(outcome["made"])}
            if why := outcome["error"] or "; ".join(_differences(case, outcome["made"])):
                what = f"case `{case.name}` of `{case.of}`: {why}"
                report.problems.append(Problem(case.file, case.line, what))
        report.untested += _untested(role.file, answer["tables"], taken)
    return report


def _answers(asked: Json, project: Path, environment: Mapping[str, str]) -> list[Json]:
    places = search_paths(environment, project, project).collections.places
    folders = [str(BUNDLED_COLLECTIONS), *(str(each.path) for each in places)]
    ended = subprocess.run(
        [sys.executable, str(_PROGRAM)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        cwd=project,
        env={**environment, "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(folders)},
        check=False,
    )
    if ended.returncode:
        raise InputError(f"Ansible could not be started to try the rules: {ended.stderr.strip()}")
    answers: list[Json] = json.loads(ended.stdout)
    return answers


def _rows(made: Any) -> list[Json]:
    return made if isinstance(made, list) else [made] if made else []


def _differences(case: RuleCase, made: Any) -> Iterator[str]:
    if case.value:
        yield from _between(case.expected, made, "")
        return
    rows = _rows(made)
    expected = case.expected if isinstance(case.expected, list) else [case.expected]
    if len(expected) != len(rows):
        hold = ", ".join(str(each["rule"]) for each in rows) or "none"
        yield f"{len(expected)} rules are expected to hold, and those that do are: {hold}"
        return
    for each, row in zip(expected, rows, strict=True):
        for difference in _between(each, row, ""):
            yield f"{difference} (rule {row['rule']})"


def _between(expected: Any, made: Any, path: str) -> Iterator[str]:
    """Where they differ; only keys that are expected count, and null is one that is not there."""
    if isinstance(expected, dict) and isinstance(made, dict):
        for key, value in expected.items():
            yield from _between(value, made.get(key), f"{path}.{key}" if path else str(key))
    elif made != expected or isinstance(made, bool) != isinstance(expected, bool):
        what = f"`{path}` is" if path else "it is"
        yield f"{what} {_shown(made)}, expected {_shown(expected)}"


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else json.dumps(value)


def _untested(
    file: str, tables: Mapping[str, Sequence[str]], taken: set[tuple[str, int]]
) -> Iterator[str]:
    for table, rules in tables.items():
        for number, rule in enumerate(rules, 1):
            if (table, number) not in taken:
                yield f"{file}: no case takes rule {number} of `{table}` ({rule})"
