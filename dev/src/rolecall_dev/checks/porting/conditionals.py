"""Conditions that ansible-core 2.19 rejects: all values that are not booleans.

Up to 2.18 any value could be a condition, and a template in a condition was rendered first. It is an
error if each way through the expression, or the one that its author meant, ends at a value that is not
a boolean; it is a warning if that depends on a value that is unknown here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jinja2 import nodes

from rolecall_dev.checks.porting.kinds import (
    BOOL,
    UNKNOWN_KIND,
    Kind,
    Kinds,
    as_boolean,
    kinds_of,
    named,
    shown_expression,
)
from rolecall_dev.checks.porting.templates import (
    SyntaxFaultError,
    is_template,
    lone_expression,
    parse_expression,
    parse_template,
)
from rolecall_dev.checks.porting.variables import Variables
from rolecall_dev.sources import Findings, Line, Step, Task

_KEYWORDS = ("when", "failed_when", "changed_when", "until", "break_when")
# With these, nothing or no text means that there is no condition.
_MAY_BE_NULL = ("when", "until", "break_when")


@dataclass(frozen=True, slots=True)
class _Place:
    task: Task
    keyword: str
    path: tuple[Step, ...]

    @property
    def at(self) -> tuple[str, Line]:
        return self.task.place(*self.path)


def check_conditionals(task: Task, variables: Variables, findings: Findings) -> None:
    """Report each condition of a task that ansible-core 2.19 would reject."""
    for place, condition in _conditions(task):
        _check(place, condition, variables, findings)


def _conditions(task: Task) -> Iterator[tuple[_Place, Any]]:
    for keyword in _KEYWORDS:
        if keyword in task.data:
            yield from _each(task, keyword, (keyword,), task.data[keyword])
    if task.short == "assert" and isinstance(task.arguments, dict) and "that" in task.arguments:
        path = (task.module, "that")
        yield from _each(task, "that", path, task.arguments["that"])


def _each(
    task: Task, keyword: str, path: tuple[Step, ...], value: Any
) -> Iterator[tuple[_Place, Any]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield _Place(task, keyword, (*path, index)), item
    else:
        yield _Place(task, keyword, path), value


def _check(place: _Place, condition: Any, variables: Variables, findings: Findings) -> None:
    if isinstance(condition, bool) or (condition is None and place.keyword in _MAY_BE_NULL):
        return
    if condition is None or condition == "":
        what = f"`{place.keyword}` is empty, which ansible-core 2.19 refuses"
        findings.error(*place.at, what, hint="write `true`, or remove the line")
    elif not isinstance(condition, str):
        _refuse_data(place, condition, findings)
    elif condition.strip().startswith(("{{", "{%")):
        _check_template(place, condition, variables, findings)
    else:
        _check_expression(place, condition, variables, findings)


def _refuse_data(place: _Place, condition: Any, findings: Findings) -> None:
    kind = "a map" if isinstance(condition, dict) else f"`{condition!r}`"
    hint = "write true or false, or an expression in quotes"
    if isinstance(condition, dict):
        hint = "put all of it in quotes: YAML makes a map of text with a colon and a space"
    what = f"`{place.keyword}` is {kind}; ansible-core 2.19 needs an expression in quotes"
    findings.error(*place.at, what, hint=hint)


def _check_expression(
    place: _Place, condition: str, variables: Variables, findings: Findings
) -> None:
    try:
        expression = parse_expression(condition)
    except SyntaxFaultError as error:
        _refuse_syntax(place, condition, error, findings)
        return
    _warn_of_nested(place, expression, findings)
    _check_kinds(place, expression, variables, findings, condition)


def _refuse_syntax(
    place: _Place, condition: str, error: SyntaxFaultError, findings: Findings
) -> None:
    what = f"`{place.keyword}` is not an expression for ansible-core 2.19: {error}"
    hint = "2.18 took it for a list, which is always true; write one expression"
    if is_template(condition):
        what = f"`{place.keyword}` has a template inside of its expression, which 2.19 refuses"
        hint = "name the variable without braces, as in `a == b`"
    elif str(error) != "chunk after expression":
        return  # no ansible-core takes it
    findings.error(*place.at, what, hint=hint)


def _check_template(
    place: _Place, condition: str, variables: Variables, findings: Findings
) -> None:
    template = parse_template(condition)
    if template is None:
        return
    expression = lone_expression(template)
    if expression is None:
        what = f"`{place.keyword}` is put together by templates, which ansible-core 2.19 refuses"
        findings.error(*place.at, what, hint="write one expression, without `{{ }}` and `{% %}`")
        return
    kinds = kinds_of(expression, variables.now)
    if place.keyword == "that" and Kind.LIST in kinds:
        return  # a list of conditions: those may be anything
    if isinstance(expression, nodes.Const) and isinstance(expression.value, str):
        what = f"`{place.keyword}` is text that a template made, which ansible-core 2.19 refuses"
        findings.error(*place.at, what, hint=f"write `{expression.value}`")
        return
    if Kind.TEXT not in kinds and Kind.UNKNOWN not in kinds and kinds - BOOL:
        _check_kinds(place, expression, variables, findings)
        return
    what = f"`{place.keyword}` stands in `{{{{ }}}}`, which ansible-core 2.23 will refuse"
    findings.warn(*place.at, what, hint="remove the braces")


def _warn_of_nested(place: _Place, expression: nodes.Expr, findings: Findings) -> None:
    for const in expression.find_all(nodes.Const):
        if is_template(const.value):
            what = (
                f"`{place.keyword}` has a template in quotes, which ansible-core 2.23 will refuse"
            )
            hint = "name the variable without quotes and braces, as in `a == b`"
            findings.warn(*place.at, what, hint=hint)
            return


def _check_kinds(
    place: _Place,
    expression: nodes.Expr,
    variables: Variables,
    findings: Findings,
    written: str = "",
) -> None:
    kinds = kinds_of(expression, variables.now)
    wrong = kinds - BOOL - UNKNOWN_KIND
    if not wrong or _may_be_boolean(expression, kinds):
        return
    culprit = _culprit(expression, variables)
    culprit_kinds = kinds_of(culprit, variables.now)
    shown = shown_expression(culprit, written if culprit is expression else "")
    subject = f"`{shown}`" if shown != "..." else "this condition"
    is_certain = not culprit_kinds & UNKNOWN_KIND and (
        culprit is expression or not kinds & UNKNOWN_KIND
    )
    may = "is" if is_certain else "may be"
    kind = named(culprit_kinds - UNKNOWN_KIND)
    wanted = f"ansible-core 2.19 takes only true and false in `{place.keyword}`"
    what = f"{subject} {may} {kind}, and {wanted}"
    hint = f"write {as_boolean(culprit, culprit_kinds, shown)}"
    report = findings.error if is_certain else findings.warn
    report(*place.at, what, hint=hint)


def _may_be_boolean(expression: nodes.Expr, kinds: Kinds) -> bool:
    """A variable that one place makes a boolean and another does not: order may put that right."""
    if not isinstance(expression, (nodes.Name, nodes.Getattr, nodes.Getitem)):
        return False
    return bool(kinds & (BOOL | UNKNOWN_KIND))


def _culprit(expression: Any, variables: Variables) -> nodes.Expr:
    """The operand of `and` and `or` that is no boolean; the last one, if several are."""
    while isinstance(expression, (nodes.And, nodes.Or)):
        right = kinds_of(expression.right, variables.now) - BOOL - UNKNOWN_KIND
        expression = expression.right if right else expression.left
    return expression  # type: ignore[no-any-return]
