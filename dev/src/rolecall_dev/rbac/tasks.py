"""Tasks of roles and playbooks, and what each asks of the API server.

All task files of a role are read, whether something includes them or not: what is there can run. So the
result may be a little more than one path through the role needs, and never less where a task's words
say what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rolecall.gvk import Gvk
from rolecall.runner import VERBS_OF_STATE
from rolecall_dev.rbac.kinds import KindNames
from rolecall_dev.rbac.rights import Rights
from rolecall_dev.sources import (
    Findings,
    Task,
    VariableScope,
    as_map,
    is_play,
    kinds_asked_for,
    read_documents,
    tasks_of_file,
    yaml_files,
)

_COLLECTIONS = (
    *("", "ansible.builtin", "ansible.legacy", "operator_sdk.util"),
    *("kubernetes.core", "community.kubernetes", "community.okd"),
)
_INCLUDES = ("include_role", "import_role")
# Names that roles give to what the proxy makes their dependents: these are watched too.
_WATCHED = ("list", "watch")
_STATES = {**VERBS_OF_STATE, "present": (*VERBS_OF_STATE["present"], *_WATCHED)}
# module -> resource, as in the file -> verbs
_FIXED: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    Path(__file__).with_name("modules.yaml").read_text()
)
_KIND = "KIND"  # stands in them for the resource of the task's kind
_REPORT_MODULES = ("rolecall.operator.report", "rolecall.operator.report_failure")
_UNKNOWABLE = ("helm", "helm_info", "helm_template", "helm_pull", "helm_repository", "kubectl")


@dataclass(slots=True)
class TaskReader:
    """Collects rights, and what could not be known."""

    kinds: KindNames
    rights: Rights
    notes: list[str]
    cwd: Path
    cr_variables: Mapping[str, Any]
    own: Sequence[Gvk] = ()  # the kinds of the play that is read

    def read_role(self, role: Path) -> None:
        variables = {
            **self.cr_variables,
            **_variables(role, "defaults", self.cwd),
            **_variables(role, "vars", self.cwd),
        }
        scope = VariableScope(role, variables)
        for folder in ("tasks", "handlers"):
            for path in yaml_files(role / folder):
                for task in _tasks(path, self.cwd):
                    self._read_task(task, scope)

    def read_playbook(self, playbook: Path) -> None:
        """All tasks of a playbook, and of the roles that it names."""
        scope = VariableScope(playbook.parent, self.cr_variables)
        for task in _tasks(playbook, self.cwd):
            if is_play(task):
                variables = {**self.cr_variables, **as_map(task.data.get("vars"))}
                scope = VariableScope(playbook.parent, variables)
                names = task.data.get("roles")
                for entry in names if isinstance(names, list) else []:
                    self._read_named_role(str(_role_name(entry)))
            else:
                self._read_task(task, scope)

    def _read_named_role(self, name: str) -> None:
        role = self.cwd / "roles" / name
        if role.is_dir():
            self.read_role(role)
        else:
            self.notes.append(f"role `{name}` is not in roles/, so it was not read")

    def _read_task(self, task: Task, scope: VariableScope) -> None:
        place = f"{task.document.file}:{task.line()}"
        self._read_call(_module(task), task.named_arguments, scope.with_items(task.data), place)

    def _read_call(
        self, module: str, arguments: Mapping[str, Any], scopes: list[VariableScope], place: str
    ) -> None:
        if module in _INCLUDES:
            name = scopes[0].value(arguments.get("name"))
            if isinstance(name, str):
                self._read_named_role(name)
        elif module in _REPORT_MODULES:
            self._add_report_rights(arguments, place)
        elif module in _UNKNOWABLE:
            self.notes.append(
                f"{place}: it cannot be seen what `{module}` will request; use --record"
            )
        elif module in _BY_KIND or any(row.startswith(_KIND) for row in _FIXED.get(module, ())):
            for scope in scopes:
                self._read_kinds(module, arguments, scope, place)
        elif module in _FIXED:
            self._add_fixed(module, place)

    def _add_fixed(self, module: str, place: str, kind: tuple[str, str] = ("", "")) -> None:
        """`kind`: group and resource of the task's kind."""
        for row, verbs in _FIXED[module].items():
            group, _, resource = row.rpartition(":")
            if resource.startswith(_KIND) or group == _KIND:
                group, resource = kind[0], resource.replace(_KIND, kind[1])
            self.rights.add(group, resource, verbs.split(), place)

    def _add_report_rights(self, arguments: Mapping[str, Any], place: str) -> None:
        """It reads the CR of the run and writes its status, whichever of its kinds that is."""
        for gvk in self.own:
            plural, _is_known = self.kinds.resource(gvk.group, gvk.kind)
            self.rights.add(gvk.group, plural, ("get",), place)
            self.rights.add(gvk.group, f"{plural}/status", ("patch",), place)
        if "cr" in arguments:
            self.notes.append(f"{place}: it cannot be seen of which kind `cr` is; use --record")
        if "events" in arguments:
            self._add_fixed("k8s_event", place)

    def _read_kinds(
        self, module: str, arguments: Mapping[str, Any], scope: VariableScope, place: str
    ) -> None:
        pairs = kinds_asked_for({**_USUAL.get(module, {}), **arguments}, scope)
        if pairs is None:
            self.notes.append(f"{place}: the kind is only known when the task runs; use --record")
            return
        for version, kind in pairs:
            gvk = Gvk.parse(version, kind)
            plural, is_known = self.kinds.resource(gvk.group, gvk.kind)
            if not is_known:
                self.notes.append(
                    f"{place}: the resource of {gvk.group_kind} was guessed to be `{plural}`"
                )
            if module in _FIXED:
                self._add_fixed(module, place, (gvk.group, plural))
                continue
            for resource, verbs in _BY_KIND[module](arguments, plural):
                self.rights.add(gvk.group, resource, verbs, place)


Needs = list[tuple[str, tuple[str, ...]]]


def _k8s(arguments: Mapping[str, Any], plural: str) -> Needs:
    state = str(arguments.get("state") or "present")
    verbs = _STATES.get(state, tuple(dict.fromkeys(v for row in _STATES.values() for v in row)))
    if str(arguments.get("force")).lower() in ("true", "yes"):
        verbs = (*verbs, "update")
    if state == "absent" and (not _is_one(arguments) or "label_selectors" in arguments):
        verbs = (*verbs, "list")
    return [(plural, verbs)]


def _k8s_info(arguments: Mapping[str, Any], plural: str) -> Needs:
    return [(plural, ("get",) if arguments.get("name") else ("get", "list"))]


def _k8s_status(arguments: Mapping[str, Any], plural: str) -> Needs:
    is_replaced = str(arguments.get("replace", arguments.get("force"))).lower() in ("true", "yes")
    return [(plural, ("get",)), (f"{plural}/status", ("update",) if is_replaced else ("patch",))]


# What a module takes where its arguments do not say.
_USUAL = {"k8s_log": {"kind": "Pod"}}

_BY_KIND: dict[str, Callable[[Mapping[str, Any], str], Needs]] = {
    "k8s": _k8s,
    "k8s_info": _k8s_info,
    "k8s_facts": _k8s_info,
    "k8s_status": _k8s_status,
}


def _is_one(arguments: Mapping[str, Any]) -> bool:
    return any(arguments.get(key) for key in ("name", "definition", "resource_definition", "src"))


def _module(task: Task) -> str:
    """The short name, where it is a module that we know; others may share their short names."""
    if task.module in _REPORT_MODULES:
        return task.module
    collection, _, name = task.module.rpartition(".")
    return name if collection in _COLLECTIONS else ""


def _role_name(entry: Any) -> Any:
    return entry.get("role") or entry.get("name") if isinstance(entry, dict) else entry


def _tasks(path: Path, cwd: Path) -> list[Task]:
    ignored = Findings()  # `rolecall check` reports its problems
    return [
        task for document in read_documents(path, cwd, ignored) for task in tasks_of_file(document)
    ]


def _variables(role: Path, folder: str, cwd: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in yaml_files(role / folder):
        for document in read_documents(path, cwd, Findings()):
            found |= as_map(document.data)
    return found
