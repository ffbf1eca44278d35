"""Templates that are looked up and may come to nothing, where a filter needs text.

Up to 2.18, `lookup('template', ...)` gave empty text where no branch of the template was taken. From
2.19 on it gives null, as it gives the number of a template that is one expression. `indent` fails on
null, and other filters for text make `None` of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jinja2 import TemplateError, nodes

from rolecall_dev.checks.expressions import expressions_of
from rolecall_dev.checks.porting import template_environment
from rolecall_dev.checks.porting.kinds import filter_name, gives_text
from rolecall_dev.sources import Findings, Sources

_LOOKUPS = ("template", "ansible.builtin.template")
_STATEMENTS = (nodes.If, nodes.For, nodes.Assign, nodes.AssignBlock, nodes.Macro, nodes.Import)


def check_template_lookups(sources: Sources, findings: Findings) -> None:
    """Tell each filter for text that gets such a template."""
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
