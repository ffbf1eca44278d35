"""Templates as text: taking them apart, and what becomes of them under either way of templating.

Up to ansible-core 2.18 a template made text, and text that looked like a list, a map, `True` or `False`
was made into one afterwards; a number stayed text, unless the template was nothing but a variable's
name. From 2.19 on, a template that is one expression has the kind of that expression, and anything else
is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, TemplateError, nodes
from jinja2.parser import Parser

from rolecall_dev.checks.porting.kinds import (
    LIST,
    MAP,
    NONE,
    NOTHING,
    NUMBER,
    TEXT,
    UNKNOWN_KIND,
    Kind,
    Kinds,
    Scope,
    kinds_of,
    kinds_of_data,
)


class _AnyName(dict[str, Any]):
    """Filters or tests: those of Ansible and of collections are not known here, and none is called."""

    def get(self, name: str, default: Any = None) -> Any:
        """The one of this name, else one that cannot be called: Jinja only asks whether it is there."""
        return super().get(name, default) or _not_callable


def _not_callable(*_: object, **__: object) -> None:
    raise TypeError("nothing is rendered here")


# As Ansible sets it.
_ENVIRONMENT = Environment(  # noqa: S701  nothing is rendered by it
    trim_blocks=True, extensions=("jinja2.ext.do", "jinja2.ext.loopcontrols")
)
_ENVIRONMENT.filters = _AnyName(_ENVIRONMENT.filters)
_ENVIRONMENT.tests = _AnyName(_ENVIRONMENT.tests)
_MARKS = ("{{", "{%", "{#")


def template_environment() -> Environment:
    """For others who parse: nothing may be rendered by it."""
    return _ENVIRONMENT


class SyntaxFaultError(Exception):
    """The expression cannot be parsed."""


def is_template(value: Any) -> bool:
    """Whether Ansible would take it for a template."""
    return isinstance(value, str) and any(mark in value for mark in _MARKS)


def parse_expression(text: str) -> nodes.Expr:
    """A conditional; like 2.19 it takes one expression and nothing behind it."""
    try:
        parser = Parser(_ENVIRONMENT, text, state="variable")
        expression = parser.parse_expression()
        if not parser.stream.eos:
            raise SyntaxFaultError("chunk after expression")
    except TemplateError as error:
        raise SyntaxFaultError(str(error)) from error
    expression.set_environment(_ENVIRONMENT)
    return expression


def parse_template(text: str) -> nodes.Template | None:
    """The template, or None where it cannot be parsed: no ansible-core takes it then."""
    try:
        return _ENVIRONMENT.parse(text.strip())
    except (TemplateError, RecursionError):
        return None


def lone_expression(template: nodes.Template) -> nodes.Expr | None:
    """The expression if the template is nothing but one, so that its kind survives."""
    if len(template.body) != 1 or not isinstance(template.body[0], nodes.Output):
        return None
    output = template.body[0].nodes
    return output[0] if len(output) == 1 and not _is_data(output[0]) else None


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a value is once it was templated."""

    now: Kinds  # from 2.19 on
    before: Kinds  # up to 2.18


def rendered(value: Any, now: Scope, before: Scope) -> Rendered:
    """The kinds of a value as it is written in YAML."""
    if not is_template(value):
        kinds = kinds_of_data(value)
        return Rendered(kinds, kinds)
    template = parse_template(value)
    if template is None:
        return Rendered(UNKNOWN_KIND, UNKNOWN_KIND)
    expression = lone_expression(template)
    if expression is None:
        return _rendered_parts(template)
    kinds = kinds_of(expression, now)
    if isinstance(expression, nodes.Name):
        return Rendered(kinds, before.shape(expression.name).kinds)
    return Rendered(kinds, _as_text(kinds_of(expression, before)))


def _rendered_parts(template: nodes.Template) -> Rendered:
    if kinds := looks_like(template):
        return Rendered(TEXT, kinds)
    if all(isinstance(part, nodes.Output) for part in template.body):
        return Rendered(TEXT, TEXT)
    return Rendered(UNKNOWN_KIND, UNKNOWN_KIND)  # one block: what its branches give is not followed


def looks_like(template: nodes.Template) -> Kinds:
    """What 2.18 made of text that starts and ends like a list or a map; nothing where it does not."""
    outputs = [part for part in template.body if isinstance(part, nodes.Output)]
    if not outputs or outputs[0] is not template.body[0] or outputs[-1] is not template.body[-1]:
        return NOTHING
    first, last = _data(outputs[0].nodes[0]).lstrip(), _data(outputs[-1].nodes[-1]).rstrip()
    if first.startswith("[") and last.endswith("]"):
        return LIST
    return MAP if first.startswith("{") and last.endswith("}") else NOTHING


def templates_in(value: Any) -> Iterator[nodes.Template]:
    """Every template in a value, however deep."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from templates_in(item)
    elif is_template(value) and (template := parse_template(value)) is not None:
        yield template


def _is_data(node: nodes.Node) -> bool:
    return isinstance(node, nodes.TemplateData)


def _data(node: nodes.Node) -> str:
    return node.data if isinstance(node, nodes.TemplateData) else ""


def _as_text(kinds: Kinds) -> Kinds:
    """What 2.18 left of a value that went through a template."""
    changed = NUMBER | NONE | {Kind.UNDEFINED}
    return (kinds - changed) | TEXT if kinds & changed else kinds
