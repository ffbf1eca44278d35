"""Reads `rules_test.yml` of roles: which table is in which state, and what it must say there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.json_object import Json, as_map
from rolecall_dev.sources import Document, Findings, Line, read_documents

CASES_FILE = "rules_test.yml"
_ENTRY_KEYS = frozenset(("table", "value", "facts", "vars", "cases"))
_CASE_KEYS = frozenset(("name", "facts", "vars", "expect"))


@dataclass(frozen=True, slots=True)
class RuleCase:
    """One state of one table, or of one value that a role computes."""

    table: str
    value: str  # a template, where there is no table
    name: str
    file: str
    line: Line
    variables: Json  # in place of those of the role
    facts: Json
    facts_of: str  # a template that makes the other facts, as the role's task has it
    # Of a table: a map for the first rule that holds, a list of maps for all that hold.
    expected: Any

    def asked(self) -> Json:
        """For the program that tries it."""
        return {
            "table": self.table,
            "value": self.value,
            "vars": self.variables,
            "facts": self.facts,
            "facts_of": self.facts_of,
            "is_all": isinstance(self.expected, list),
        }

    @property
    def of(self) -> str:
        """What is tried, as people know it."""
        return self.table or self.value


@dataclass(frozen=True, slots=True)
class RoleCases:
    """The cases of one role."""

    role: Path
    file: str
    cases: list[RuleCase]


def read_cases(role: Path, cwd: Path, findings: Findings) -> RoleCases:
    """The cases of a role; reports the problems of its file."""
    path = role / CASES_FILE
    documents = read_documents(path, cwd, findings)
    cases = [case for document in documents for case in _cases(document, findings)]
    return RoleCases(role, str(path.relative_to(cwd)), cases)


def _cases(document: Document, findings: Findings) -> Iterator[RuleCase]:
    if not isinstance(document.data, list):
        findings.error(*document.place(), "must be a list of maps, each with `table` and `cases`")
        return
    for index, entry in enumerate(document.data):
        if not _is_sound(document, (index,), entry, _ENTRY_KEYS, ("cases",), findings):
            continue
        if ("table" in entry) == ("value" in entry):
            findings.error(*document.place(index), "must have either `table` or `value`")
            continue
        yield from _of_entry(document, index, entry, findings)


def _of_entry(
    document: Document, index: int, entry: Json, findings: Findings
) -> Iterator[RuleCase]:
    if not isinstance(entry["cases"], list) or not entry["cases"]:
        findings.error(
            *document.place(index, "cases"), "`cases` must be a list with a case or more"
        )
        return
    names: set[str] = set()
    shared = entry.get("facts")
    for number, case in enumerate(entry["cases"]):
        path = (index, "cases", number)
        if not _is_sound(document, path, case, _CASE_KEYS, ("name", "expect"), findings):
            continue
        name = str(case["name"])
        if name in names:
            findings.error(*document.place(*path), f"there are two cases named `{name}`")
        names.add(name)
        if "table" in entry and not _is_of_rules(case["expect"]):
            what = "`expect` must be a map, or a list of maps for all rules that hold"
            findings.error(*document.place(*path, "expect"), what)
            continue
        yield RuleCase(
            str(entry.get("table", "")),
            str(entry.get("value", "")),
            name,
            document.file,
            document.line(*path),
            _merged(as_map(entry.get("vars")), as_map(case.get("vars"))),
            _merged(as_map(shared), as_map(case.get("facts"))),
            shared if isinstance(shared, str) else "",
            case["expect"],
        )


def _is_of_rules(expected: Any) -> bool:
    rows = expected if isinstance(expected, list) else [expected]
    return all(isinstance(row, dict) for row in rows)


def _is_sound(
    document: Document,
    path: tuple[str | int, ...],
    data: Any,
    keys: frozenset[str],
    needed: tuple[str, ...],
    findings: Findings,
) -> bool:
    if not isinstance(data, dict):
        findings.error(*document.place(*path), f"must be a map with `{'` and `'.join(needed)}`")
        return False
    wrong = [f"has no `{key}`" for key in needed if key not in data]
    known = ", ".join(sorted(keys))
    wrong += [f"the key `{key}` is unknown; known are {known}" for key in data if key not in keys]
    for what in wrong:
        findings.error(*document.place(*path), what)
    return not wrong


def _merged(base: Json, more: Json) -> Json:
    """Both; maps in them are merged."""
    both = {
        key: _merged(base[key], value)
        if isinstance(base.get(key), dict) and isinstance(value, dict)
        else value
        for key, value in more.items()
    }
    return {**base, **both}
