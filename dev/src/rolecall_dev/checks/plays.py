"""Roles and playbooks: what Ansible would refuse before it runs a task, what they speak of and need."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from rolecall.watches import Play, collection_faults, search_paths
from rolecall_dev.sources import SUFFIXES, Document, Findings, read_documents, shown

# Roles and playbooks: what Ansible would refuse before it runs a task, and what they speak of.

# Folders of a role with YAML that Ansible reads by itself or by name; `files` may contain anything.
_FOLDERS = ("tasks", "handlers", "defaults", "vars", "meta")
_MAIN = ("main.yml", "main.yaml", "main.json", "main")
_IMPORTS = ("import_playbook", "ansible.builtin.import_playbook")
_LARGEST_TEXT = 1 << 20


def check_play(play: Play, cwd: Path, findings: Findings) -> None:
    if play.is_role:
        _check_role(play.path, cwd, findings)
    else:
        _check_playbook(play.path, cwd, findings)


def _check_role(role: Path, cwd: Path, findings: Findings) -> None:
    if main_file(role, "tasks") is None:
        findings.error(
            shown(role, cwd),
            None,
            "has no tasks/main.yml, so nothing would run",
            hint=f"create {shown(role, cwd)}/tasks/main.yml with a list of tasks",
        )
    for folder in _FOLDERS:
        for path in _yaml_files(role / folder):
            documents = read_documents(path, cwd, findings)
            if folder in ("tasks", "handlers"):
                _check_tasks(documents, findings)
            elif path.name in _MAIN:
                _check_map(documents, findings)


def _check_tasks(documents: list[Document], findings: Findings) -> None:
    for document in documents:
        tasks = document.data
        if tasks is not None and not isinstance(tasks, list):
            findings.error(*document.place(), "must be a list of tasks")
            continue
        for index, task in enumerate(tasks or []):
            if not isinstance(task, dict):
                findings.error(*document.place(index), "a task must be a map")


def _check_map(documents: list[Document], findings: Findings) -> None:
    for document in documents:
        if document.data is not None and not isinstance(document.data, dict):
            findings.error(*document.place(), "must be a map")


def _check_playbook(path: Path, cwd: Path, findings: Findings) -> None:
    before = len(findings.problems)
    documents = read_documents(path, cwd, findings)
    file = shown(path, cwd)
    if len(findings.problems) > before:
        return
    if not documents or not isinstance(documents[0].data, list) or not documents[0].data:
        findings.error(file, 1, "must be a list of plays", hint="start with `- hosts: localhost`")
        return
    for index, play in enumerate(documents[0].data):
        is_play = isinstance(play, dict) and any(key in play for key in ("hosts", *_IMPORTS))
        if not is_play:
            line = documents[0].line(index)
            findings.error(file, line, "a play must be a map with `hosts` or `import_playbook`")


def main_file(role: Path, folder: str) -> Path | None:
    """The file of a role's folder that Ansible reads by itself."""
    return next((path for name in _MAIN if (path := role / folder / name).is_file()), None)


def _yaml_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def text_of(play: Play, cwd: Path) -> str:
    """All that a play's author wrote, to look up names in; for a playbook, the roles it names too."""
    if play.is_role:
        return _role_text(play.path)
    text = _file_text(play.path)
    roles = cwd / "roles"
    named = sorted(path for path in roles.iterdir() if path.is_dir()) if roles.is_dir() else []
    spoken = [role for role in named if re.search(rf"\b{re.escape(role.name)}\b", text)]
    return "\n".join([text, *(_role_text(role) for role in spoken)])


def _role_text(role: Path) -> str:
    paths = [*_yaml_files(role), *sorted(role.rglob("*.j2"))]
    return "\n".join(_file_text(path) for path in paths)


def _file_text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_TEXT:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, yaml.YAMLError):
        return ""


# Collections of a project: half installed or of another version is a warning, missing is a note.
# A project may be checked where its collections are not, as in a review; what is there must be whole.
# A strict check is that of a place where all must be there, so a missing one is a warning of it.
def check_collections(
    plays: Sequence[Play],
    environment: Mapping[str, str],
    cwd: Path,
    project: Path,
    findings: Findings,
    *,
    is_strict: bool,
) -> None:
    """Look for those that requirements.yml or a task names."""
    search = search_paths(environment, cwd, project).collections
    faults = collection_faults(project, plays, search, sys.path)
    findings.problems.extend(faults.broken)
    if is_strict:
        findings.problems.extend(faults.missing)
        return
    findings.notes.extend(
        f"{fault.file}:{fault.line}: {fault.what}; {fault.hint}" for fault in faults.missing
    )
