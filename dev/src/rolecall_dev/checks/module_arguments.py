"""Arguments of a task against the documentation of its module, suboptions too.

What a template makes is not judged, and a module without documentation takes anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json
from rolecall_dev.checks.nearest import meant, nearest
from rolecall_dev.sources import Document, Findings, Step, Task, as_map

# These take any argument, or hand theirs on to another module.
_TAKE_ANY = frozenset(("set_fact", "add_host", "package", "service", "gather_facts", "setup"))
_FREE_FORMS = frozenset(("free_form", "free-form", "key_value", "_raw_params", "cmd"))
_TRUE_OR_FALSE = frozenset(
    ("true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0", "1.0", "0.0")
)


@dataclass(frozen=True, slots=True)
class DocumentedTask:
    """A task and what its module takes."""

    task: Task
    options: Json
    has_defaults: bool  # `module_defaults` may give what is required


def check_module_arguments(call: DocumentedTask, findings: Findings) -> None:
    """Tell names that the module does not know, values that it refuses, and what is missing."""
    if call.task.short in _TAKE_ANY:
        return
    given, extra = call.task.arguments, call.task.data.get("args")
    if _is_template(given) or _is_template(extra):
        return
    named = call.task.named_arguments
    if isinstance(given, str) and (not named or _FREE_FORMS & call.options.keys()):
        return
    place = _At(call.task.document, (*call.task.path, call.task.module), call.task.module)
    _check_names(named, call.options, place, findings)
    _check_required(call, named, place, findings)


@dataclass(frozen=True, slots=True)
class _At:
    """Where arguments stand, and of what."""

    document: Document
    path: tuple[Step, ...]
    owner: str


def _check_names(given: Json, options: Json, at: _At, findings: Findings) -> None:
    names = dict(_names(options))
    for name, value in given.items():
        if not isinstance(name, str) or "{{" in name:
            continue
        line = at.document.line(*at.path, name)
        if name not in names:
            if not _FREE_FORMS & options.keys() or nearest(name, names):
                known = ", ".join(sorted(options))
                hint = meant(name, names) or f"; it takes {known}"
                what = f"`{at.owner}` takes no argument `{name}`{hint}"
                findings.error(at.document.file, line, what)
            continue
        for why in _value_faults(value, names[name]):
            what = f"argument `{name}` of `{at.owner}` {why}"
            findings.error(at.document.file, line, what)
        _check_below(name, value, names[name], at, findings)


def _check_below(name: str, value: Any, option: Json, at: _At, findings: Findings) -> None:
    below = as_map(option.get("suboptions"))
    if not below:
        return
    path = (*at.path, name)
    owner = f"{name}` of `{at.owner}"
    if isinstance(value, dict):
        _check_names(value, below, _At(at.document, path, owner), findings)
    for index, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, dict):
            _check_names(item, below, _At(at.document, (*path, index), owner), findings)


def _names(options: Json) -> Iterator[tuple[str, Json]]:
    for name, data in options.items():
        option = as_map(data)
        yield name, option
        for alias in option.get("aliases") or []:
            yield alias, option


def _value_faults(value: Any, option: Json) -> Iterator[str]:
    if _is_template(value) or value is None or isinstance(value, list | dict):
        if option.get("type") in ("int", "float", "bool") and isinstance(value, list | dict):
            kind = "a list" if isinstance(value, list) else "a map"
            yield f"is {kind}, and must be {option['type']}"
        return
    text = str(value)
    choices = [str(choice) for choice in option.get("choices") or []]
    if choices and option.get("type", "str") == "str" and text not in choices:
        lowered = {choice.lower() for choice in choices}
        if text.lower() not in lowered:
            allowed = ", ".join(choices)
            yield f"is `{text}`, and must be one of {allowed}{meant(text, choices)}"
    if option.get("type") in ("int", "float") and not re.fullmatch(r"\s*[-+]?[\d_.eE+-]+\s*", text):
        yield f"is `{text}`, and must be a number"
    if option.get("type") == "bool" and text.lower() not in _TRUE_OR_FALSE:
        yield f"is `{text}`, and must be true or false"


def _check_required(call: DocumentedTask, named: Json, at: _At, findings: Findings) -> None:
    if call.has_defaults:
        return
    for name, data in call.options.items():
        option = as_map(data)
        names = (name, *(option.get("aliases") or []))
        is_missing = option.get("required") and not any(each in named for each in names)
        if is_missing and name not in _FREE_FORMS:
            what = f"`{at.owner}` needs the argument `{name}`"
            findings.error(at.document.file, call.task.line(call.task.module), what)


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and ("{{" in value or "{%" in value)
