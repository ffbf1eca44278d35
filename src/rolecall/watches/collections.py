"""Collections that a project wants and that are missing, half installed, or of another version.

What a project wants stands in its requirements.yml, and in tasks that name a module in full. Ansible
says of either only that it could not resolve a module, in the middle of a run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rolecall.errors import Problem
from rolecall.watches.play import Play
from rolecall.watches.search import SearchPath
from rolecall.watches.versions import satisfies

_FILES = ("requirements.yml", "requirements.yaml", "collections/requirements.yml")
_NAME = re.compile(r"[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*")
_MODULE = re.compile(rf"({_NAME.pattern})\.[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*")
# Ansible's own, and those that rolecall brings along.
_BUILT_IN = frozenset(
    {"ansible.builtin", "ansible.legacy", "operator_sdk.util", "rolecall.operator"}
)
_CONTENT = ("plugins", "roles", "playbooks")
# All that is left of a collection that moved, such as `community.kubernetes`.
_REDIRECTS = "meta/runtime.yml"
_FOLDERS_WITH_TASKS = ("tasks", "handlers")
_LISTS_OF_TASKS = (
    *("block", "rescue", "always"),
    *("tasks", "pre_tasks", "post_tasks", "handlers"),
)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Want:
    """One collection that a file asks for, and where it says so."""

    name: str
    file: str
    line: int
    version: str = "*"


@dataclass(frozen=True, slots=True)
class Faults:
    """What was found; a checkout without its collections is no fault of the project."""

    missing: tuple[Problem, ...]
    broken: tuple[Problem, ...]


def collection_faults(
    project: Path, plays: Iterable[Play], search: SearchPath, python_path: Sequence[str]
) -> Faults:
    """Look for every collection, each once; `python_path` is where Ansible looks last."""
    wants = {want.name: want for want in _used(plays, project)}
    wants |= {want.name: want for want in _required(project)}
    places = [*(place.path for place in search.places), *map(Path, python_path)]
    missing, broken = [], []
    for want in wants.values():
        folder = _find(want.name, places)
        if folder is None:
            missing.append(_missing(want, search))
        elif what := _fault_of(folder, want):
            hint = f"`{_install(want)} --force` installs it again"
            broken.append(Problem(want.file, want.line, what, hint=hint, is_warning=True))
    return Faults(tuple(missing), tuple(broken))


def _missing(want: Want, search: SearchPath) -> Problem:
    what = f"collection `{want.name}` was not found, so its modules will fail; looked in: "
    hint = f"`{_install(want)}` installs it"
    return Problem(want.file, want.line, what + search.shown(), hint=hint, is_warning=True)


def _install(want: Want) -> str:
    listed = Path(want.file).name.startswith("requirements.")
    what = f"-r {want.file}" if listed else want.name
    return f"ansible-galaxy collection install {what} -p .collections"


def _find(name: str, places: Sequence[Path]) -> Path | None:
    for place in places:
        parent = place.parent if place.name == "ansible_collections" else place
        folder = parent / "ansible_collections" / name.replace(".", "/")
        if folder.is_dir():
            return folder
    return None


def _fault_of(folder: Path, want: Want) -> str:
    what = f"collection `{want.name}` in {folder}"
    try:
        version, expected = _described(folder)
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        return f"{what} is not installed completely: its MANIFEST.json cannot be read"
    if version is None:
        return f"{what} is not installed completely: it has neither MANIFEST.json nor galaxy.yml"
    gone = [name for name in expected if not (folder / name).exists()]
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        return f"{what} is not installed completely: `{gone[0]}`{more} is not there"
    if not any((folder / name).exists() for name in (*_CONTENT, _REDIRECTS)):
        return f"{what} is not installed completely: neither plugins nor roles are in it"
    if version and not satisfies(version, want.version):
        return f"{what} is version {version}, but {want.version} is required"
    return ""


def _described(folder: Path) -> tuple[str | None, list[str]]:
    """Its version (None: nothing describes it) and the files that must be there."""
    manifest, source = folder / "MANIFEST.json", folder / "galaxy.yml"
    if manifest.is_file():
        version = json.loads(manifest.read_text(encoding="utf-8"))["collection_info"]["version"]
        files = folder / "FILES.json"
        listed = json.loads(files.read_text(encoding="utf-8"))["files"] if files.is_file() else []
        names = [str(entry["name"]) for entry in listed]
        return str(version), [name for name in names if name.split("/")[0] in _CONTENT]
    if source.is_file():
        content = yaml.safe_load(source.read_text(encoding="utf-8"))
        return str(content.get("version") or ""), []
    return None, []


def _required(project: Path) -> Iterator[Want]:
    for name in _FILES:
        try:
            text = (project / name).read_text(encoding="utf-8")
            content = yaml.safe_load(text)
        except (OSError, ValueError, yaml.YAMLError):
            continue
        entries = content.get("collections") if isinstance(content, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            wanted, version = _entry(entry)
            if _NAME.fullmatch(wanted) and wanted not in _BUILT_IN:  # else a URL or a file
                yield Want(wanted, name, _line_of(wanted, text), version)


def _entry(entry: Any) -> tuple[str, str]:
    if isinstance(entry, str):
        name, _, version = entry.partition(":")
        return name.strip(), version.strip() or "*"
    if isinstance(entry, dict) and entry.get("type", "galaxy") == "galaxy":
        return str(entry.get("name", "")), str(entry.get("version") or "*")
    return "", "*"


def _line_of(name: str, text: str) -> int:
    found = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _used(plays: Iterable[Play], project: Path) -> Iterator[Want]:
    """Those whose modules tasks name; where first."""
    seen = set(_BUILT_IN)
    for file in _files_with_tasks(plays):
        shown = file.relative_to(project) if file.is_relative_to(project) else file
        for key in _keys_of_tasks(file):
            found = _MODULE.fullmatch(key.value)
            if found and found[1] not in seen:
                seen.add(found[1])
                yield Want(found[1], str(shown), key.start_mark.line + 1)


def _keys_of_tasks(file: Path) -> Iterator[yaml.ScalarNode]:
    """Keys of tasks and plays, not of what is given to a module: labels look like names, too."""
    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), Loader=_LOADER)
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        return  # reported elsewhere, in better words
    waiting: list[yaml.Node | None] = [root]
    while waiting:
        node = waiting.pop()
        for task in node.value if isinstance(node, yaml.SequenceNode) else ():
            for key, value in task.value if isinstance(task, yaml.MappingNode) else ():
                if isinstance(key, yaml.ScalarNode):
                    yield key
                    if key.value in _LISTS_OF_TASKS:
                        waiting.append(value)


def _files_with_tasks(plays: Iterable[Play]) -> Iterator[Path]:
    for play in plays:
        if not play.is_role:
            yield play.path
            continue
        for folder in _FOLDERS_WITH_TASKS:
            yield from sorted((play.path / folder).rglob("*.y*ml"))
