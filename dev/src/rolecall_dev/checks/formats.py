"""What `rolecall check` found, for people, for programs, and for those who show it beside the code."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

from rolecall import __version__
from rolecall.errors import Problem
from rolecall.json_object import Json
from rolecall_dev.checks.project import Checked

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(checked: Checked) -> str:
    findings = checked.findings
    lines = [str(problem) for problem in findings.problems]
    lines += [f"note: {note}" for note in findings.notes]
    errors = len(findings.errors)
    warnings = len(findings.problems) - errors
    lines.append(
        f"checked {_counted(checked.watches, 'watch', 'watches')}:"
        f" {_counted(errors, 'error', 'errors')}, {_counted(warnings, 'warning', 'warnings')}"
    )
    return "\n".join(lines)


def as_json(checked: Checked) -> str:
    findings = checked.findings
    errors = len(findings.errors)
    document: Json = {
        "watches": checked.watches,
        "errors": errors,
        "warnings": len(findings.problems) - errors,
        "problems": [_row(problem) for problem in findings.problems],
        "notes": findings.notes,
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _row(problem: Problem) -> Json:
    return {
        "level": _level(problem),
        "rule": problem.rule,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "what": problem.what,
        "details": list(problem.details),
        "hint": problem.hint,
    }


def as_sarif(checked: Checked) -> str:
    """SARIF 2.1.0, which code hosts and editors read."""
    problems = checked.findings.problems
    driver = {
        "name": "rolecall",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [{"id": rule} for rule in sorted({problem.rule for problem in problems})],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem) for problem in problems],
    }
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _result(problem: Problem) -> Json:
    place: Json = {"artifactLocation": {"uri": quote(problem.file)}}
    if problem.line is not None:
        place["region"] = {"startLine": int(problem.line)}
        if problem.column is not None:
            place["region"]["startColumn"] = problem.column
    return {
        "ruleId": problem.rule,
        "level": _level(problem),
        "message": {"text": _whole(problem)},
        "locations": [{"physicalLocation": place}],
    }


def as_github(checked: Checked) -> str:
    """Workflow commands: GitHub shows them at the lines of a pull request."""
    lines = []
    for problem in checked.findings.problems:
        places = {"file": problem.file, "line": problem.line, "col": problem.column}
        given = ",".join(
            f"{name}={_escaped(str(value), ':,')}"
            for name, value in places.items()
            if value is not None
        )
        lines.append(f"::{_level(problem)} {given}::{_escaped(_whole(problem))}")
    lines += [f"::notice::{_escaped(note)}" for note in checked.findings.notes]
    return "\n".join(lines)


def _escaped(text: str, more: str = "") -> str:
    for character in ("%", "\r", "\n", *more):
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _whole(problem: Problem) -> str:
    lines = [problem.what, *problem.details]
    if problem.hint:
        lines.append(f"hint: {problem.hint}")
    return "\n".join(lines)


def _level(problem: Problem) -> str:
    return "warning" if problem.is_warning else "error"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


FORMATS: dict[str, Callable[[Checked], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
