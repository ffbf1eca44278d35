"""What a task's `kind`, `api_version` or `definition` is, as far as it can be known without running it.

Literals, items of a literal loop, variables of the role, the custom resource itself, and templates of
the role: these cover how roles are written. Anything else is None, and the caller says so. Rejected: to
template with Ansible, which needs the facts of a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = re.compile(
    r"^\{\{\s*([A-Za-z_]\w*)((?:\.\w+|\[['\"]\w+['\"]\])*)\s*(?:\|\s*from_yaml(?:_all)?\s*)?\}\}$"
)
_FILTERED = re.compile(
    r"^\{\{\s*([A-Za-z_]\w*)\s*\|"
)  # a filter picks from a list, and adds no kinds
_STEP = re.compile(r"\w+")
_TEMPLATE = re.compile(
    r"lookup\(\s*['\"](?:ansible\.builtin\.)?(?:template|file)['\"]\s*,\s*(['\"](?P<file>[^'\"]+)['\"]|(?P<name>\w+))"
)
_FIELD = re.compile(r"^(apiVersion|kind):[ \t]*['\"]?([^'\"\s#]+)", re.MULTILINE)
_DEEPEST = 5  # variables that name variables

Pair = tuple[str, str]  # apiVersion, kind


@dataclass(frozen=True, slots=True)
class VariableScope:
    """What names mean at a task."""

    folder: Path  # of the role, or of the playbook
    variables: Mapping[str, Any]

    def with_items(self, task: Mapping[str, Any]) -> list[VariableScope]:
        """One scope for each item of a literal loop, filtered or not; this one where there is none."""
        control = task.get("loop_control")
        name = control.get("loop_var", "item") if isinstance(control, dict) else "item"
        own = task.get("vars")
        variables = {**self.variables, **(own if isinstance(own, dict) else {})}
        loop = task.get("loop", task.get("with_items"))
        found = VariableScope(self.folder, variables).items(loop)
        if not isinstance(found, list) or not found:
            return [VariableScope(self.folder, variables)]
        return [VariableScope(self.folder, {**variables, name: item}) for item in found]

    def items(self, loop: Any) -> Any:
        """What a loop may go over; a list whose templates stand in the loop itself counts, too."""
        if not isinstance(loop, str):
            return loop
        if templates := [f"{{{{ {found[0]}) }}}}" for found in _TEMPLATE.finditer(loop)]:
            return templates
        filtered = _FILTERED.match(loop.strip())
        return self.value(f"{{{{ {filtered[1]} }}}}" if filtered else loop)

    def value(self, text: Any, depth: int = 0) -> Any:
        """A value with its names followed; the text itself where it is none, None if unknown."""
        if not isinstance(text, str) or "{{" not in text:
            return text
        found = _NAME.match(text.strip())
        if found is None or depth > _DEEPEST or found[1] not in self.variables:
            return None
        value = self.value(self.variables[found[1]], depth + 1)
        for step in _STEP.findall(found[2]):
            value = self.value(value.get(step), depth + 1) if isinstance(value, dict) else None
        return value

    def pairs(self, definition: Any, depth: int = 0) -> list[Pair] | None:
        """The kinds that a `definition` holds; None where that cannot be known."""
        if isinstance(definition, list):
            rows = [self.pairs(part, depth) for part in definition]
            return None if None in rows else [pair for row in rows for pair in row or []]
        if isinstance(definition, dict):
            version, kind = (
                self.value(definition.get("apiVersion")),
                self.value(definition.get("kind")),
            )
            return [(str(version), str(kind))] if version and kind else None
        if not isinstance(definition, str):
            return None
        return self._pairs_of_text(definition, depth)

    def _pairs_of_text(self, text: str, depth: int) -> list[Pair] | None:
        if found := _TEMPLATE.search(text):
            name = found["file"] or self.variables.get(found["name"])
            return self.pairs_of_file(name) if isinstance(name, str) else None
        if found := _NAME.match(text.strip()):
            inner = self.variables.get(found[1])
            if found[2] or inner is None or depth > _DEEPEST:
                value = self.value(text)
                return self.pairs(value, depth + 1) if isinstance(value, dict | list) else None
            return self.pairs(inner, depth + 1)
        return pairs_in(text)

    def pairs_of_file(self, name: str) -> list[Pair] | None:
        """The kinds that a template or file of the role holds."""
        if "{{" in name:
            return None
        for folder in ("templates", "files", ""):
            path = self.folder / folder / name
            if path.is_file():
                return pairs_in(path.read_text(encoding="utf-8", errors="replace"))
        return None


def pairs_in(text: str) -> list[Pair] | None:
    """`apiVersion` and `kind` of each document; the rest may be no YAML before it is templated."""
    pairs = []
    for document in re.split(r"^---\s*$", text, flags=re.MULTILINE):
        found = dict(_FIELD.findall(document))
        if "{{" in "".join(found.values()):
            return None
        if len(found) == 2:
            pairs.append((found["apiVersion"], found["kind"]))
    return pairs or None


def kinds_asked_for(arguments: Mapping[str, Any], scope: VariableScope) -> list[Pair] | None:
    """Of which kinds the objects of a task of kubernetes.core are; None where it cannot be known."""
    for key in ("definition", "resource_definition", "inline"):
        if key in arguments and (pairs := scope.pairs(arguments[key])):
            return pairs
    for key in ("template", "src"):
        name = arguments.get(key)
        name = name.get("path") if isinstance(name, dict) else name
        if isinstance(name, str) and (pairs := scope.pairs_of_file(name)):
            return pairs
    kind = scope.value(arguments.get("kind"))
    given = next(
        (arguments[it] for it in ("api_version", "api", "version") if it in arguments), "v1"
    )
    version = scope.value(given)
    return [(str(version), str(kind))] if kind and version else None
