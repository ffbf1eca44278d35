"""Kinds of the objects that tasks make: is there such an API version, and is the kind in it?

Known are Kubernetes' own groups and those of the project's CRDs. A group that is neither may be any
other operator's, so nothing is said of it unless it is nearly one of those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall_dev.checks.crds import Crd
from rolecall_dev.checks.nearest import meant, nearest
from rolecall_dev.sources import (
    KUBERNETES_KINDS,
    Findings,
    Line,
    Sources,
    Task,
    VariableScope,
    as_map,
    kinds_asked_for,
)

_MODULES = re.compile(
    r"(?:(?:kubernetes\.core|community\.kubernetes|community\.okd|operator_sdk\.util)\.)?"
    r"(?:k8s|k8s_info|k8s_facts|k8s_json_patch|k8s_log|k8s_rollback|k8s_scale|k8s_status)"
)
_PROVISIONAL = re.compile(r"v\d+(alpha|beta)\d+")
# What clients take although no group has it.
_EVERYWHERE = frozenset({"List", "Status"})
_FEW = 4
# Arguments that hold whole objects.
_OBJECTS = ("definition", "resource_definition", "inline", "template", "src")

ServedKinds = Mapping[str, Mapping[str, list[str]]]  # group -> kind -> versions


@dataclass(frozen=True, slots=True)
class _Fault:
    what: str
    word: str  # what to search for, to find the line
    is_warning: bool = False


def check_object_kinds(
    sources: Sources, crds: Iterable[Crd], variables: Mapping[str, Any], findings: Findings
) -> None:
    """Look at each task that asks for objects by their kind."""
    known = known_kinds(crds)
    for task in sources.tasks:
        if not _MODULES.fullmatch(task.module):
            continue
        folder = sources.folder_of(task)
        scope = VariableScope(folder, {**variables, **sources.variables_of(folder)})
        pairs: dict[tuple[str, str], None] = {}
        for each in scope.with_items(task.data):
            pairs |= dict.fromkeys(kinds_asked_for(task.named_arguments, each) or [])
        searches = _searches_all_groups(task)
        for api_version, kind in pairs:
            if searches and _is_in_any_group(api_version, kind, known):
                continue
            if fault := fault_of(api_version, kind, known):
                file, line = _place(task, folder, fault.word, sources)
                report = findings.warn if fault.is_warning else findings.error
                report(file, line, fault.what)


def _searches_all_groups(task: Task) -> bool:
    """Whether the client looks for a kind without a group in all groups, and writes no object.

    It does so for what `kind` and `api_version` name; an object that is written has its own version.
    """
    given = task.named_arguments
    writes = task.short == "k8s" and given.get("state", "present") != "absent"
    return not writes and not any(name in given for name in _OBJECTS)


def _is_in_any_group(api_version: str, kind: str, known: ServedKinds) -> bool:
    if "/" in api_version:
        return False
    every = ((kinds, _kind_of(kind, kinds)) for kinds in known.values())
    return any(name in kinds and api_version in kinds[name] for kinds, name in every if name)


def known_kinds(crds: Iterable[Crd]) -> ServedKinds:
    """Kubernetes' own, and the project's with the versions that are served."""
    known = {group: dict(kinds) for group, kinds in KUBERNETES_KINDS.items()}
    for crd in crds:
        versions = [as_map(version) for version in crd.spec.get("versions") or []]
        served = [str(version.get("name")) for version in versions if version.get("served")]
        kind = str(crd.names.get("kind"))
        known.setdefault(str(crd.spec.get("group")), {})[kind] = served
    return known


def fault_of(api_version: str, kind: str, known: ServedKinds) -> _Fault | None:
    """What is wrong with a pair, as far as that is certain."""
    gvk = Gvk.parse(api_version, kind)
    shown = f"`{kind}` in `{api_version}`"
    if gvk.group not in known:
        return _unknown_group(gvk, shown, known)
    kinds = known[gvk.group]
    name = _kind_of(kind, kinds)
    if name is None or kind in _EVERYWHERE:
        return None
    if name not in kinds:
        return _unknown_kind(kind, api_version, known)
    if gvk.version in kinds[name]:
        return None
    right = f"{gvk.group}/{kinds[name][0]}" if gvk.group else kinds[name][0]
    what = f"there is no {shown}; use `{right}`"
    is_guess = bool(_PROVISIONAL.fullmatch(gvk.version)) and gvk.group in KUBERNETES_KINDS
    if is_guess:
        what = f"no supported Kubernetes serves {shown} by default; use `{right}`"
    return _Fault(what, api_version, is_warning=is_guess)


def _kind_of(kind: str, kinds: Mapping[str, list[str]]) -> str | None:
    """The name as CRDs have it; None where it may be a short name, which only a cluster knows."""
    base = kind.removesuffix("List")
    if base in kinds:
        return base
    if kind[:1].isupper():
        return kind
    return next((name for name in kinds if kind in (name.lower(), f"{name.lower()}s")), None)


def _unknown_group(gvk: Gvk, shown: str, known: ServedKinds) -> _Fault | None:
    near = nearest(gvk.group, [group for group in known if group])
    if "." in gvk.group and (not near or near.count(".") != gvk.group.count(".")):
        return None  # another operator's
    what = f"there is no API group `{gvk.group}`, so there is no {shown}"
    kinds = known.get(near, {})
    right = f"{near}/{kinds[gvk.kind][0]}" if kinds.get(gvk.kind) else near
    hint = f"; did you mean `{right}`?" if near else ""
    return _Fault(what + hint, gvk.api_version, is_warning="." in gvk.group)


def _unknown_kind(kind: str, api_version: str, known: ServedKinds) -> _Fault:
    what = f"there is no kind `{kind}` in `{api_version}`"
    elsewhere = [
        f"{group}/{kinds[kind][0]}" if group else kinds[kind][0]
        for group, kinds in known.items()
        if kinds.get(kind)
    ]
    if elsewhere:
        listed = " or ".join(f"`{name}`" for name in elsewhere[:_FEW])
        return _Fault(f"{what}; it is in {listed}", api_version)
    group = api_version.rpartition("/")[0]
    return _Fault(what + meant(kind, known[group]), kind)


def _place(task: Task, folder: Path, word: str, sources: Sources) -> tuple[str, Line]:
    """In the task, or in the template that it names, or else the task."""
    node = task.document.node_at(*task.path)
    if node is not None:
        line = task.document.find(word, node)
        if line != task.line():
            return task.document.file, line
    for path in _files_named(task, folder):
        rows = path.read_text(encoding="utf-8", errors="replace").split("\n")
        for number, row in enumerate(rows, 1):
            found = re.search(rf"^(?:apiVersion|kind):\s*['\"]?({re.escape(word)})\b", row)
            if found:
                return sources.shown(path), Line(number, found.start(1) + 1)
    return task.document.file, task.line()


def _files_named(task: Task, folder: Path) -> list[Path]:
    text = str(task.data)
    paths = [it for name in ("templates", "files") for it in sorted((folder / name).rglob("*"))]
    return [path for path in paths if path.is_file() and path.name in text]
