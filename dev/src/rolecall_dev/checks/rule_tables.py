"""Rule tables of roles: what the actions that take them would refuse, and rules never taken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateError, nodes

from rolecall.json_object import Json, as_map
from rolecall_dev.checks.porting import template_environment
from rolecall_dev.sources import Document, Findings, Sources, Task

_COLLECTION = "rolecall.operator."
# What an action takes of a rule; `decide` takes anything.
_SAID = "when ready reason message again status conditions events"
_KEYS = {
    "report": frozenset(_SAID.split()),
    "refuse": frozenset(("when", "reason", "message")),
}
_REASON = re.compile(r"[A-Z][A-Za-z0-9]*")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class TableUse:
    """A task that takes a rule of a table."""

    task: Task
    table: str

    @property
    def action(self) -> str:
        return self.task.short

    @property
    def facts(self) -> Any:
        return self.task.named_arguments.get("facts")


def table_uses(sources: Sources) -> list[TableUse]:
    """Those whose table is named, and not made by a template."""
    found = []
    for task in sources.tasks:
        name = task.named_arguments.get("rules") if task.module.startswith(_COLLECTION) else None
        if isinstance(name, str) and _NAME.fullmatch(name):
            found.append(TableUse(task, name))
    return found


def fact_names(sources: Sources) -> Iterator[str]:
    """The variables that tasks give to rules."""
    for use in table_uses(sources):
        if isinstance(use.facts, dict):
            yield from map(str, use.facts)
        elif isinstance(use.facts, str):
            yield from _names_in(use.facts, sources)


def _names_in(template: str, sources: Sources) -> Iterator[str]:
    """The keys of maps that a template names, and of those that are written in it."""
    try:
        parsed = template_environment().parse(template)
    except (TemplateError, RecursionError):
        return
    for name in parsed.find_all(nodes.Name):
        for _, value in _values(name.name, sources):
            yield from map(str, as_map(value))
    for pair in parsed.find_all(nodes.Pair):
        if isinstance(pair.key, nodes.Const):
            yield str(pair.key.value)
    for keyword in parsed.find_all(nodes.Keyword):
        yield keyword.key


def _values(name: str, sources: Sources) -> Iterator[tuple[Document, Any]]:
    for document in sources.variables:
        data = as_map(document.data)
        if name in data:
            yield document, data[name]


def check_rule_tables(sources: Sources, findings: Findings) -> None:
    """Look at each table that a task names."""
    seen: set[tuple[str, str]] = set()
    for use in table_uses(sources):
        if not sources.is_own(use.task.document):
            continue
        tables = list(_values(use.table, sources))
        if not tables:
            what = (
                f"`rules` names `{use.table}`, which no role of this project has in its variables"
            )
            findings.error(*use.task.place(use.task.module, "rules"), what)
        for document, rules in tables:
            if (document.file, use.table) not in seen and sources.is_own(document):
                _check_table(use, document, rules, findings)
            seen.add((document.file, use.table))


def _check_table(use: TableUse, document: Document, rules: Any, findings: Findings) -> None:
    if not isinstance(rules, list) or not rules:
        findings.error(*document.place(use.table), f"`{use.table}` must be a list of rules")
        return
    for number, rule in enumerate(rules):
        if isinstance(rule, dict):
            _check_rule(use, document, (use.table, number), rule, findings)
        else:
            findings.error(*document.place(use.table, number), "a rule must be a map")
    if use.action == "refuse":
        return  # it reports all rules that apply, in any order
    _check_order(use.table, document, [as_map(rule) for rule in rules], findings)


def _check_rule(
    use: TableUse, document: Document, path: tuple[str | int, ...], rule: Json, findings: Findings
) -> None:
    reason = rule.get("reason")
    if isinstance(reason, str) and reason and "{{" not in reason and not _REASON.fullmatch(reason):
        findings.error(
            *document.place(*path, "reason"),
            f"the reason `{reason}` must be one word in camel case, such as `NotReady`",
        )
    known = _KEYS.get(use.action, frozenset())
    for key in rule.keys() - known if known else ():
        findings.error(
            *document.place(*path, key),
            f"`{use.action}` does not take `{key}` of a rule",
            hint=f"it takes {', '.join(sorted(known))}",
        )


def _check_order(table: str, document: Document, rules: list[Json], findings: Findings) -> None:
    conditions: list[str] = []
    for number, rule in enumerate(rules):
        condition = str(rule.get("when", True))
        if "True" in conditions or condition in conditions:
            earlier = conditions.index("True" if "True" in conditions else condition) + 1
            findings.error(
                *document.place(table, number),
                f"this rule is never taken, since rule {earlier} of `{table}` holds before it",
            )
        conditions.append(condition)
    if "True" not in conditions:
        findings.error(
            *document.place(table, len(rules) - 1),
            f"where no rule of `{table}` holds, the task fails",
            hint="end the table with a rule that has no `when`",
        )
