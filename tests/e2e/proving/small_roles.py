"""Small roles, each in one file with its kind, and projects made of some of them.

A file says `fields` (schema of the spec), `spec` (of the sample), `tasks`, `finalizer` where there is
one, `watch` for further keys of the entry in watches.yaml, and `is_open` where the CRD also takes
fields that it does not declare. Those in `seeded` have one bug each, and name in `found_by` the checks
that find it; where none does, `why_not` says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from tests.fixtures.crds import crd_for

_HERE = Path(__file__).parent
_GROUP, _VERSION = "small.example.com", "v1"


@dataclass(frozen=True, slots=True)
class SmallRole:
    name: str
    spec: Json
    tasks: list[Json]
    fields: Json = field(default_factory=dict)
    is_open: bool = False
    finalizer: list[Json] = field(default_factory=list)
    watch: Json = field(default_factory=dict)
    found_by: tuple[str, ...] = ()
    why_not: str = ""
    reported: str = ""  # the comment of the file: what is wrong, or what it is for

    @property
    def guide_row(self) -> str:
        """As the guide lists a role with a bug."""
        bug = self.reported.removeprefix("Seeded: ").removesuffix(".")
        return f"| {bug} | {', '.join(f'`{name}`' for name in self.found_by) or self.why_not} |"

    @property
    def gvk(self) -> Gvk:
        return Gvk(_GROUP, _VERSION, self.name.title().replace("_", ""))


def read_roles(folder: str) -> list[SmallRole]:
    """Those of `seeded` or `correct`, by name."""
    return [_read(file) for file in sorted((_HERE / folder).glob("*.yml"))]


def write_project(folder: Path, roles: Sequence[SmallRole]) -> Path:
    """A project that has a kind, a role and a sample for each."""
    for role in roles:
        _write(folder / "crds" / f"{role.name}.yaml", _crd(role))
        tasks = folder / "roles" / role.name / "tasks"
        if role.finalizer:
            _write(tasks / "create.yml", role.tasks)
            _write(tasks / "remove.yml", role.finalizer)
            _write(tasks / "main.yml", [_dispatch()])
        else:
            _write(tasks / "main.yml", role.tasks)
        sample = {
            "apiVersion": role.gvk.api_version,
            "kind": role.gvk.kind,
            "metadata": {"name": "one"},
            "spec": role.spec,
        }
        _write(folder / "config" / "samples" / f"{role.name}.yaml", sample)
    _write(folder / "watches.yaml", [_watch(role) for role in roles])
    return folder


def _read(file: Path) -> SmallRole:
    text = file.read_text()
    content = yaml.safe_load(text)
    found_by = tuple(content.pop("found_by", ()))
    reported = " ".join(line[2:] for line in text.splitlines() if line.startswith("# "))
    return SmallRole(name=file.stem, found_by=found_by, reported=reported, **content)


def _dispatch() -> Json:
    chosen = "{{ 'remove.yml' if leaving | default(false) else 'create.yml' }}"
    return {"name": "Create or remove", "ansible.builtin.include_tasks": chosen}


def _watch(role: SmallRole) -> Json:
    gvk = role.gvk
    entry: Json = {
        "group": gvk.group,
        "version": gvk.version,
        "kind": gvk.kind,
        "role": role.name,
        "vars": {"own_api_version": gvk.api_version, "own_kind": gvk.kind},
        **role.watch,
    }
    if role.finalizer:
        entry["finalizer"] = {"name": f"{gvk.group}/finalizer", "vars": {"leaving": True}}
    return entry


def _crd(role: SmallRole) -> Json:
    crd = crd_for(role.gvk)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"] = {
        "type": "object",
        "required": list(role.fields),
        "properties": role.fields,
        **({"x-kubernetes-preserve-unknown-fields": True} if role.is_open else {}),
    }
    return crd


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False, width=10_000))
