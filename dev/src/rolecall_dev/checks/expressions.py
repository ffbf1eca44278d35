"""The expressions of a project: in tasks, variables and templates, each with its place.

Values with the tag `!unsafe` or `!vault` are not templates; Ansible reports templates that do not
parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from jinja2 import TemplateError, nodes

from rolecall_dev.checks.porting import template_environment
from rolecall_dev.checks.porting.kinds import filter_name, gives_text
from rolecall_dev.checks.rule_tables import table_uses
from rolecall_dev.sources import BLOCKS, Document, Findings, Line, Sources, as_map

_EXPRESSIONS = frozenset(("when", "failed_when", "changed_when", "until", "break_when", "that"))
_TEXT_TAGS = ("tag:yaml.org,2002:str",)


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression, and where it stands."""

    template: nodes.Template
    document: Document | None
    node: yaml.Node | None
    file: str
    text: str

    def line(self, name: str) -> Line | int:
        """Where a name stands in it first."""
        if self.document is not None and self.node is not None:
            return self.document.find(name, self.node)
        word = re.compile(rf"(?<![\w.'\"]){re.escape(name)}(?!\w)")
        is_open = False
        for number, row in enumerate(self.text.split("\n"), 1):
            start = (
                0
                if is_open
                else min((at for at in map(row.find, ("{{", "{%")) if at >= 0), default=-1)
            )
            found = word.search(row, start) if start >= 0 else None
            if found:
                return Line(number, found.start() + 1)
            is_open = max(row.rfind("{{"), row.rfind("{%")) > max(row.rfind("}}"), row.rfind("%}"))
        return 1


def expressions_of(sources: Sources) -> Iterator[Expression]:
    """All of the project's own."""
    for task in sources.tasks:
        node = task.document.node_at(*task.path)
        if node is not None and sources.is_own(task.document):
            yield from _uses_below(task.document, node, is_task=True)
    tables = {use.table for use in table_uses(sources)}
    for document in sources.variables:
        if sources.is_own(document):
            yield from _uses_below(document, document.node, is_task=False)
            yield from _conditions_of_rules(document, tables)
    if any("variable_start_string" in task.named_arguments for task in sources.tasks):
        return  # some templates are written in other marks
    for role in sources.roles:
        for path in sorted((role / "templates").rglob("*.j2")):
            yield from _use_of_file(path, sources)


def _use_of_file(path: Path, sources: Sources) -> Iterator[Expression]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    shown = sources.shown(path)
    is_foreign = text.startswith("#jinja2:") or Path(shown).is_absolute()
    template = None if is_foreign else _parsed(text)
    if template is not None:
        yield Expression(template, None, None, shown, text)


def _uses_below(document: Document, node: yaml.Node, *, is_task: bool) -> Iterator[Expression]:
    skipped = {*BLOCKS, "tasks", "pre_tasks", "post_tasks", "handlers", "roles"} if is_task else ()
    if not isinstance(node, yaml.MappingNode):
        yield from _each(document, node, is_expression=False)
        return
    for key, value in node.value:
        if key.value in skipped:
            continue
        yield from _each(document, value, is_expression=key.value in _EXPRESSIONS)
        if str(key.value).rpartition(".")[2] == "assert":
            for name, conditions in value.value if isinstance(value, yaml.MappingNode) else ():
                if name.value == "that":
                    yield from _each(document, conditions, is_expression=True)


def _conditions_of_rules(document: Document, tables: set[str]) -> Iterator[Expression]:
    for table in tables & as_map(document.data).keys():
        rules = document.data[table]
        for number in range(len(rules) if isinstance(rules, list) else 0):
            node = document.node_at(table, number, "when")
            if node is not None:
                yield from _each(document, node, is_expression=True)


def _each(document: Document, node: yaml.Node, *, is_expression: bool) -> Iterator[Expression]:
    """Every text below a node; what is tagged `!unsafe` or `!vault` is no template."""
    if isinstance(node, yaml.MappingNode):
        for _, value in node.value:
            yield from _each(document, value, is_expression=False)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _each(document, item, is_expression=is_expression)
    elif node.tag in _TEXT_TAGS:
        is_template = "{{" in node.value or "{%" in node.value
        text = node.value if is_template or not is_expression else f"{{{{ {node.value} }}}}"
        template = _parsed(text) if is_template or is_expression else None
        if template is not None:
            yield Expression(template, document, node, document.file, document.text)


def _parsed(text: str) -> nodes.Template | None:
    try:
        return template_environment().parse(text)
    except (TemplateError, RecursionError):
        return None  # Ansible says it; what is written in it cannot be known


# Templates that are looked up and may come to nothing, where a filter needs text.
# Up to 2.18, `lookup('template', ...)` gave empty text where no branch of the template was taken.
# From 2.19 on it gives null, as it gives the number of a template that is one expression. `indent`
# fails on null, and other filters for text make `None` of it.

_LOOKUPS = ("template", "ansible.builtin.template")
_STATEMENTS = (nodes.If, nodes.For, nodes.Assign, nodes.AssignBlock, nodes.Macro, nodes.Import)


def check_template_lookups(sources: Sources, findings: Findings) -> None:
    """Report each filter for text whose input is such a template."""
    for use in expressions_of(sources):
        for each in use.template.find_all(nodes.Filter):
            name = _template_of(each.node)
            filtered = filter_name(each.name)
            if not name or not gives_text(filtered):
                continue
            if any(map(_may_be_nothing, _files_named(name, sources))):
                findings.error(
                    use.file,
                    use.line("lookup"),
                    f"`lookup('template', '{name}')` is null from ansible-core 2.19 on where no branch"
                    f" of it is taken, and `{filtered}` needs a string",
                    hint=f"write `lookup('template', '{name}') | default('', true) | {filtered}`",
                )


def _template_of(node: nodes.Node | None) -> str:
    """The name of the template that a lookup takes; empty: it is another expression."""
    is_lookup = isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name)
    if not is_lookup or node.node.name not in ("lookup", "query", "q"):  # type: ignore[union-attr]
        return ""
    values = [each.value if isinstance(each, nodes.Const) else None for each in node.args]  # type: ignore[union-attr]
    named = values[1] if len(values) == 2 and values[0] in _LOOKUPS else None
    return named if isinstance(named, str) else ""


def _files_named(name: str, sources: Sources) -> Iterator[Path]:
    for role in sources.roles:
        path = role / "templates" / name
        if path.is_file():
            yield path


def _may_be_nothing(path: Path) -> bool:
    """Whether all of a template's text stands in branches and loops."""
    try:
        parsed = template_environment().parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TemplateError, RecursionError):
        return False
    return bool(parsed.body) and all(map(_makes_no_text, parsed.body))


def _makes_no_text(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Output):
        data = [each for each in node.nodes if isinstance(each, nodes.TemplateData)]
        return len(data) == len(node.nodes) and not "".join(each.data for each in data).strip()
    return isinstance(node, _STATEMENTS)
