"""Values whose kind changes with ansible-core 2.19 and breaks a task.

A number from a template was text up to 2.18; null was empty text; text that looked like a list became a
list. We report only certain failures: text in a Kubernetes object that is a number now, a filter for
text with a number as its input, a comparison that is never true any more, a loop over text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jinja2 import nodes

from rolecall_dev.checks.porting.kinds import (
    LIST,
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN_KIND,
    Kind,
    Kinds,
    filter_name,
    kinds_of,
    shown_expression,
)
from rolecall_dev.checks.porting.templates import (
    is_template,
    lone_expression,
    looks_like,
    parse_template,
    rendered,
    templates_in,
)
from rolecall_dev.checks.porting.variables import Variables
from rolecall_dev.sources import Document, Findings, Step, Task

_OBJECTS = ("definition", "resource_definition")
_TEXT_MAPS = frozenset(("annotations", "labels", "matchLabels", "nodeSelector", "stringData"))
_LOOPS = ("loop", "with_items", "with_list")
_TEXT_LISTS = frozenset(("args", "command"))
# Filters that take text or a list but no number, and those that make the text `None` of null.
_NOT_FOR_NUMBERS = frozenset(("length", "count", "split", "from_json", "first", "last", "list"))
_NOT_FOR_NULL = frozenset(("length", "count", "b64encode", "split", "from_json", "hash"))


def check_values(task: Task, variables: Variables, findings: Findings) -> None:
    """Report each value of a task that changes."""
    _check_object(task, variables, findings)
    _check_loop(task, variables, findings)
    skipped = {"name", "when", "failed_when", "changed_when", "until", "block", "rescue", "always"}
    for key, value in task.data.items():
        if key not in skipped:
            _check_templates(task, (key,), value, variables, findings)


def check_variables(file: Document, path: tuple[Step, ...], data: Any, findings: Findings) -> None:
    """Report variables whose text 2.18 turned into a list or a map."""
    for name, value in data.items() if isinstance(data, dict) else ():
        template = parse_template(value) if is_template(value) else None
        kinds = looks_like(template) if template is not None else None
        if not kinds:
            continue
        kind = "list" if kinds == LIST else "map"
        findings.warn(
            *file.place(*path, name),
            f"`{name}` is text from ansible-core 2.19 on; 2.18 made a {kind} of it",
            hint=f"write one expression that gives a {kind}, or YAML with templates inside;"
            " leave it if text is what is wanted",
        )


def _check_object(task: Task, variables: Variables, findings: Findings) -> None:
    if task.short != "k8s" or not isinstance(task.arguments, dict):
        return
    for argument in _OBJECTS:
        given = task.arguments.get(argument)
        objects = given if isinstance(given, list) else [given]
        for index, item in enumerate(objects):
            start: tuple[Step, ...] = (task.module, argument)
            path = (*start, index) if isinstance(given, list) else start
            for place, value in _texts(item, path):
                _check_text(task, place, value, variables, findings)
            for place, value in _text_maps(item, path):
                _check_text_map(task, place, value, variables, findings)


def _texts(value: Any, path: tuple[Step, ...], parent: str = "") -> Iterator[tuple[Any, Any]]:
    """Every place in an object where Kubernetes takes nothing but text."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            if parent in _TEXT_LISTS:
                yield (*path, index), item
            yield from _texts(item, (*path, index), parent)
    elif isinstance(value, dict):
        is_config = value.get("kind") == "ConfigMap"
        for name, item in value.items():
            if parent in _TEXT_MAPS or (parent == "env" and name == "value"):
                yield (*path, name), item
            inner = "stringData" if name == "data" and is_config else str(name)
            yield from _texts(item, (*path, name), inner)


def _text_maps(value: Any, path: tuple[Step, ...]) -> Iterator[tuple[Any, Any]]:
    """Every map of texts that a template makes as a whole."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in _TEXT_MAPS and is_template(item):
                yield (*path, name), item
            yield from _text_maps(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _text_maps(item, (*path, index))


def _check_text_map(
    task: Task, path: tuple[Step, ...], value: str, variables: Variables, findings: Findings
) -> None:
    numbers = {
        shown_expression(pair.value)
        for made in _maps_of(value, variables)
        for pair in made.items
        if _changed(pair.value, variables, NUMBER)
    }
    for number in sorted(numbers):
        findings.error(
            *task.place(*path),
            f"`{number}` in `{path[-1]}` is a number from ansible-core 2.19 on,"
            " and Kubernetes needs a string here",
            hint=f"write `{number} | string` where the map is made",
        )


def _maps_of(value: Any, variables: Variables) -> Iterator[nodes.Dict]:
    """The maps that a template writes out, or those that its variable has in templates."""
    template = parse_template(value) if is_template(value) else None
    expression = lone_expression(template) if template is not None else None
    if isinstance(expression, nodes.Dict):
        yield expression
    if isinstance(expression, nodes.Name):
        for written in variables.written(expression.name):
            inner = parse_template(written) if is_template(written) else None
            made = lone_expression(inner) if inner is not None else None
            if isinstance(made, nodes.Dict):
                yield made


def _check_text(
    task: Task, path: tuple[Step, ...], value: Any, variables: Variables, findings: Findings
) -> None:
    both = rendered(value, variables.now, variables.before)
    if both.now != NUMBER or both.before != TEXT:
        return
    findings.error(
        *task.place(*path),
        f"`{path[-1]}` is a number from ansible-core 2.19 on, and Kubernetes needs a string here",
        hint="end the expression with `| string`",
    )


def _check_loop(task: Task, variables: Variables, findings: Findings) -> None:
    for key in _LOOPS:
        if not is_template(task.data.get(key)):
            continue
        both = rendered(task.data[key], variables.now, variables.before)
        if both.now == TEXT and both.before == LIST:
            what = f"`{key}` is text from ansible-core 2.19 on; 2.18 made a list of it"
            hint = "write one expression that gives a list, or a YAML list"
            findings.error(*task.place(key), what, hint=hint)


def _check_templates(
    task: Task, path: tuple[Step, ...], value: Any, variables: Variables, findings: Findings
) -> None:
    if isinstance(value, (dict, list)):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in steps:
            _check_templates(task, (*path, step), item, variables, findings)
        return
    for template in templates_in(value):
        line = task.line(*path)
        if path[0] != "vars":  # those are templated where they are used, as part of what uses them
            _check_end(template, task, line, variables, findings)
        check_operations(template, (task.document.file, line), variables, findings)


def _check_end(
    template: Any, task: Task, line: int, variables: Variables, findings: Findings
) -> None:
    """What a template that is one expression must not end at."""
    expression = lone_expression(template)
    kinds = kinds_of(expression, variables.now) if expression is not None else UNKNOWN_KIND
    if Kind.UNDEFINED in kinds and _has_open_if(expression):
        what = "`if` without `else` is an error from 2.19 on where the condition is false"
        hint = "add `else ''`, or `else omit` for an argument"
        findings.error(task.document.file, line, what, hint=hint)
    if kinds == {Kind.RANGE}:
        what = f"`{shown_expression(expression)}` is not a list for ansible-core 2.19"  # type: ignore[arg-type]
        findings.error(task.document.file, line, what, hint="add `| list`")


def _has_open_if(expression: Any) -> bool:
    if isinstance(expression, nodes.CondExpr):
        return expression.expr2 is None or _has_open_if(expression.expr2)
    return (
        isinstance(expression, nodes.Filter)
        and filter_name(expression.name) in ("default", "d")
        and _has_open_if(expression.node)
    )


def check_operations(
    root: nodes.Node, place: tuple[str, int], variables: Variables, findings: Findings
) -> None:
    """Report operations that fail with a number or null, but worked with its text."""
    for node in root.find_all((nodes.Filter, nodes.Call, nodes.Add, nodes.Compare)):
        for fault in _faults(node, variables):
            what, hint = fault
            findings.error(*place, what, hint=hint)


def _faults(node: Any, variables: Variables) -> Iterator[tuple[str, str]]:
    if isinstance(node, nodes.Filter) and node.node is not None:
        yield from _filter_faults(node, variables)
    elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        yield from _method_faults(node, variables)
    elif isinstance(node, nodes.Add):
        yield from _add_faults(node, variables)
    elif isinstance(node, nodes.Compare):
        yield from _compare_faults(node, variables)


def _changed(node: Any, variables: Variables, now: Kinds) -> bool:
    """Whether it was text, and is nothing but this now."""
    if not isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem)):
        return False
    return kinds_of(node, variables.now) == now and kinds_of(node, variables.before) == TEXT


def _filter_faults(node: Any, variables: Variables) -> Iterator[tuple[str, str]]:
    name, shown = filter_name(node.name), shown_expression(node.node)
    if name in _NOT_FOR_NUMBERS and _changed(node.node, variables, NUMBER):
        what = f"`{shown}` is a number from ansible-core 2.19 on, which `{name}` refuses"
        yield what, f"write `{shown} | string | {name}`"
    if name in _NOT_FOR_NULL and _changed(node.node, variables, NONE):
        what = f"`{shown}` is null from ansible-core 2.19 on, and `{name}` needs a string"
        yield what, f"write `{shown} | default('', true) | {name}`"


def _method_faults(node: Any, variables: Variables) -> Iterator[tuple[str, str]]:
    subject = node.node.node
    if _changed(subject, variables, NUMBER):
        shown = shown_expression(subject)
        what = f"`{shown}` is a number from ansible-core 2.19 on and has no `{node.node.attr}()`"
        yield what, f"write `({shown} | string).{node.node.attr}(...)`"


def _add_faults(node: Any, variables: Variables) -> Iterator[tuple[str, str]]:
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if _changed(one, variables, NUMBER) and kinds_of(other, variables.now) == TEXT:
            shown = shown_expression(one)
            what = f"`{shown}` is a number from ansible-core 2.19 on, and `+` joins no text to it"
            yield what, f"write `~` instead of `+`, or `{shown} | string`"


def _compare_faults(node: Any, variables: Variables) -> Iterator[tuple[str, str]]:
    operand = node.ops[0]
    if len(node.ops) != 1 or operand.op not in ("eq", "ne", "in", "notin"):
        return
    sides = ((node.expr, operand.expr), (operand.expr, node.expr))
    for one, other in sides[:1] if operand.op in ("in", "notin") else sides:
        text = kinds_of(other, variables.now) == TEXT
        for now, kind in ((NUMBER, "a number"), (NONE, "null")):
            if text and _changed(one, variables, now):
                shown = shown_expression(one)
                what = f"`{shown}` is {kind} from ansible-core 2.19 on and equals no text"
                yield what, f"write `{shown} | string`, or compare with {kind}"
