"""A role's argument specs against the spec of its CRD: two lists of the same things, kept by hand.

A spec key belongs to an argument of the same name, of that name behind the role's (`app_size` for
`size` in the role `app`), or to one whose default in `defaults/main.yml` reads that key. An argument
that has a value of its own in the role is the role's business and is left alone.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.json_object import Json
from rolecall.runner import cr_variable
from rolecall.watches import Watch
from rolecall_dev.checks.crds import CrdVersion
from rolecall_dev.checks.plays import main_file
from rolecall_dev.checks.spec_keys import variable_of
from rolecall_dev.sources import Document, Findings, as_map, read_documents

# Argument types that fit a type of a schema; what is not listed is not judged.
_FITTING = {
    "string": ("str", "path", "raw", "bytes", "bits", "json", "jsonarg", "int", "float"),
    "integer": ("int", "float", "str", "raw"),
    "number": ("float", "int", "str", "raw"),
    "boolean": ("bool", "raw"),
    "array": ("list", "raw"),
    "object": ("dict", "raw", "json"),
}


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The `main` argument specs of a role, and the defaults beside them."""

    document: Document
    at: tuple[str, ...]  # where in the document the options are
    options: Json
    defaults: Json
    role: str

    def line(self, *path: str) -> int:
        return self.document.line(*self.at, *path)


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both lists, and what belongs together."""

    watch: Watch
    version: CrdVersion
    arguments: _Arguments
    pairs: dict[str, str]  # spec key to the name of its argument

    @property
    def keys_without_argument(self) -> list[str]:
        properties = as_map(self.version.schema("spec").get("properties"))
        return [key for key in properties if key not in self.pairs]


def check_arguments(watch: Watch, version: CrdVersion, cwd: Path, findings: Findings) -> None:
    properties = as_map(version.schema("spec").get("properties"))
    if not watch.play.is_role or not properties:
        return
    arguments = _read(watch.play.path, cwd)
    if arguments is None:
        return
    sides = _Sides(watch, version, arguments, _pairs(watch, properties, arguments))
    for key, name in sides.pairs.items():
        _compare(key, name, version, arguments, findings)
    _report_keys_without_argument(sides, findings)
    _report_arguments_without_key(sides, findings)


def _read(role: Path, cwd: Path) -> _Arguments | None:
    ignored = Findings()  # the check of the role already reported invalid YAML
    at = ("argument_specs", "main", "options")
    files = ("argument_specs.yml", "argument_specs.yaml")
    for path in (*(role / "meta" / name for name in files), main_file(role, "meta")):
        documents = read_documents(path, cwd, ignored) if path and path.is_file() else []
        for document in documents:
            options: Any = document.data
            for step in at:
                options = as_map(options).get(step)
            if options:
                return _Arguments(document, at, as_map(options), _defaults(role, cwd), role.name)
    return None


def _defaults(role: Path, cwd: Path) -> Json:
    path = main_file(role, "defaults")
    documents = read_documents(path, cwd, Findings()) if path else []
    return as_map(documents[0].data) if documents else {}


def _pairs(watch: Watch, properties: Json, arguments: _Arguments) -> dict[str, str]:
    """Spec key to the name of its argument."""
    pairs = {}
    for key in properties:
        variable = variable_of(watch, key)
        names = (variable, f"{arguments.role}_{variable}")
        direct = next((name for name in names if name in arguments.options), None)
        found = direct or _by_default(watch, key, variable, arguments)
        if found:
            pairs[key] = found
    return pairs


def _by_default(watch: Watch, key: str, variable: str, arguments: _Arguments) -> str | None:
    spec = re.escape(f"{cr_variable(watch.gvk)}_spec")
    reads = re.compile(
        rf"(?<!\w){spec}(?:\.{re.escape(key)}\b|\[['\"]{re.escape(key)}['\"]\])"
        rf"|\{{\{{-?\s*{re.escape(variable)}\b"
    )
    for name, default in arguments.defaults.items():
        if name in arguments.options and isinstance(default, str) and reads.search(default):
            return str(name)
    return None


def _compare(
    key: str, name: str, version: CrdVersion, arguments: _Arguments, findings: Findings
) -> None:
    spec = version.schema("spec")
    schema = version.schema("spec", key)
    option = as_map(arguments.options.get(name))
    place = (arguments.document.file, arguments.line(name))
    is_given = key in (spec.get("required") or []) or "default" in schema
    if option.get("required") and not is_given and not _has_fallback(name, arguments):
        findings.warn(
            *place,
            f"argument `{name}` is required, but `spec.{key}` may be left out",
            hint=f"list `{key}` under `required` in {version.file}",
        )
    wanted = _FITTING.get(str(schema.get("type", "")))
    kind = str(option.get("type", "str"))
    is_either = bool(schema.get("x-kubernetes-int-or-string"))
    if wanted and kind not in wanted and not is_either and not _is_made_of(key, name, arguments):
        findings.warn(
            *place,
            f"argument `{name}` is `{kind}`, but `spec.{key}` is `{schema['type']}`",
        )
    choices, allowed = option.get("choices"), schema.get("enum")
    if choices and allowed and sorted(map(str, choices)) != sorted(map(str, allowed)):
        findings.warn(
            *place,
            f"argument `{name}` and `spec.{key}` allow different values",
            details=[
                f"choices: {', '.join(map(str, choices))}",
                f"enum: {', '.join(map(str, allowed))}",
            ],
        )


def _is_made_of(key: str, name: str, arguments: _Arguments) -> bool:
    """Whether a filter of the role's default makes something else of the key."""
    default = str(arguments.defaults.get(name, ""))
    return bool(re.search(rf"\b{re.escape(key)}\s*\|\s*(?!default\b|d\b)\w", default))


def _has_fallback(name: str, arguments: _Arguments) -> bool:
    """Whether the role's own default covers a key that is left out."""
    default = arguments.defaults.get(name)
    if name not in arguments.defaults:
        return False
    return not isinstance(default, str) or "default(" in default or "{{" not in default


def _report_keys_without_argument(sides: _Sides, findings: Findings) -> None:
    for key in sides.keys_without_argument:
        findings.warn(
            sides.arguments.document.file,
            sides.arguments.line(),
            f"`spec.{key}` of `{sides.watch.gvk.kind}` has no argument",
            hint=f"add `{variable_of(sides.watch, key)}`, or read it in defaults/main.yml",
        )


def _report_arguments_without_key(sides: _Sides, findings: Findings) -> None:
    watch, arguments = sides.watch, sides.arguments
    finalizer_vars = watch.finalizer.vars if watch.finalizer else {}
    own = cr_variable(watch.gvk)
    from_engine = {"ansible_operator_meta", own, f"{own}_spec", *watch.vars, *finalizer_vars}
    free = [variable_of(watch, key) for key in sides.keys_without_argument]
    for name, option in arguments.options.items():
        has_value = name in arguments.defaults or "default" in as_map(option)
        if name in sides.pairs.values() or name in from_engine or has_value:
            continue
        nearest = difflib.get_close_matches(name, free, n=1)
        findings.warn(
            arguments.document.file,
            arguments.line(name),
            f"argument `{name}` is not in the spec of `{watch.gvk.kind}` and has no default",
            details=[f"did you mean `{nearest[0]}`?"] if nearest else [],
        )
