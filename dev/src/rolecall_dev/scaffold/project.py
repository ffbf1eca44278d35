"""`rolecall init`: a project without kinds, with the file tree that Operator SDK's users know."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import yaml

from rolecall import __version__
from rolecall.errors import InputError
from rolecall_dev.checks import watches_schema
from rolecall_dev.scaffold.changes import Changes
from rolecall_dev.scaffold.names import checked_domain, checked_project_name
from rolecall_dev.scaffold.templates import rendered

# Beside watches.yaml, whose first line names it for editors.
SCHEMA_FILE = "watches.schema.json"


@dataclass(frozen=True, slots=True)
class NewProject:
    """What `init` was asked for; an empty name is taken from the folder."""

    domain: str
    name: str = ""


def add_project(changes: Changes, wanted: NewProject, *, force: bool) -> ProjectFile:
    """Add all files of an empty project; nothing is written yet."""
    name = checked_project_name(wanted.name or _name_of_folder(changes))
    domain = checked_domain(wanted.domain)
    if changes.text_of(FILE) is not None and not force:
        raise InputError(
            f"this folder is a project already: {FILE} is there",
            hint="`rolecall create api` adds a kind to it",
        )
    values = {"project": name, "domain": domain, "version": __version__}
    for path, content in rendered("init", values).items():
        changes.add(path, content)
    changes.add(SCHEMA_FILE, _schema())
    project = ProjectFile.new(name, domain)
    changes.add(FILE, project.render())
    return project


def renew_schema(changes: Changes) -> None:
    """Write the schema that editors check watches.yaml with, where the project has one, as it is today.

    A newer engine and other extensions have other keys.
    """
    if changes.text_of(SCHEMA_FILE) is not None:
        changes.edit(SCHEMA_FILE, _schema())


def _schema() -> str:
    return json.dumps(watches_schema(), indent=2, ensure_ascii=False) + "\n"


def _name_of_folder(changes: Changes) -> str:
    """As a person would make a name of it: `My Operator` becomes `my-operator`."""
    name = changes.root.resolve().name.lower()
    return re.sub(r"[\s_.]+", "-", name).strip("-")


# PROJECT: what a scaffold remembers about a project, in the format that kubebuilder's tools share.
# Read as data and written back whole, with the comment at its top; keys that are not ours stay. Only
# version 3 is understood: a newer layout may mean something else by the same words.

FILE = "PROJECT"
LAYOUT = "ansible.sdk.operatorframework.io/v1"
_VERSION = "3"
_HEAD = """\
# What this project was made of, for the tools that add to it: `rolecall create api`, the Operator SDK.
"""


@dataclass(frozen=True, slots=True)
class ProjectResource:
    group: str
    domain: str
    version: str
    kind: str


@dataclass(slots=True)
class ProjectFile:
    data: dict[str, Any]
    head: str = _HEAD

    @classmethod
    def new(cls, name: str, domain: str) -> ProjectFile:
        plugins: dict[str, Any] = {
            f"{tool}.sdk.operatorframework.io/v2": {} for tool in ("manifests", "scorecard")
        }
        return cls(
            {
                "domain": domain,
                "layout": [LAYOUT],
                "plugins": plugins,
                "projectName": name,
                "version": _VERSION,
            }
        )

    @classmethod
    def parse(cls, content: str) -> ProjectFile:
        """Read it; `InputError` where it is not one that we understand."""
        try:
            data = yaml.safe_load(content)
        except yaml.YAMLError as error:
            raise InputError(f"{FILE} is not valid YAML: {error}") from error
        if not isinstance(data, dict):
            raise InputError(f"{FILE} must be a map")
        version = str(data.get("version", ""))
        if version != _VERSION:
            raise InputError(
                f"{FILE} has layout version `{version}`, and only `{_VERSION}` is understood",
                hint="use the tool that made this project, or a newer rolecall",
            )
        layouts = data.get("layout") or []
        names = [layouts] if isinstance(layouts, str) else layouts
        if LAYOUT not in names:
            raise InputError(
                f"{FILE} has layout `{', '.join(map(str, names))}`, so it is not a project for"
                " Ansible",
                hint=f"the layout of one is `{LAYOUT}`",
            )
        lines = content.splitlines(keepends=True)
        head = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
        return cls(data, "".join(lines[:head]))

    @property
    def name(self) -> str:
        return str(self.data.get("projectName", ""))

    @property
    def domain(self) -> str:
        """What every group ends with."""
        return str(self.data.get("domain", ""))

    @property
    def is_multigroup(self) -> bool:
        """Whether kinds of several groups are wanted."""
        return bool(self.data.get("multigroup"))

    @property
    def resources(self) -> list[ProjectResource]:
        rows = self.data.get("resources") or []
        if not all(isinstance(row, dict) for row in rows):
            raise InputError(f"{FILE}: `resources` must be a list of maps")
        keys = ("group", "domain", "version", "kind")
        return [ProjectResource(*(str(row.get(key, "")) for key in keys)) for row in rows]

    def refuse_twice(self, new: ProjectResource) -> None:
        """Raise where the kind is there, or is of a second group that was not asked for."""
        if new in self.resources:
            raise InputError(
                f"kind `{new.kind}` of `{new.group}/{new.version}` is in {FILE} already",
                hint="`--force` makes its files again",
            )
        others = sorted({it.group for it in self.resources} - {new.group})
        if others and not self.is_multigroup:
            raise InputError(
                f"the project has kinds of group `{others[0]}`, so `{new.group}` would be a second"
                " one",
                hint=f"add `multigroup: true` to {FILE} if that is what you want",
            )

    def add(self, new: ProjectResource) -> None:
        if new in self.resources:
            return
        row: dict[str, Any] = {"api": {"crdVersion": "v1", "namespaced": True}}
        row |= {"domain": new.domain, "group": new.group, "kind": new.kind}
        self.data.setdefault("resources", []).append({**row, "version": new.version})

    def render(self) -> str:
        return self.head + yaml.safe_dump(self.data, sort_keys=True, default_flow_style=False)
