"""Finds the role or playbook that a watches entry names, where the Go operator would find it.

A role's candidates, in order: the value itself where it is absolute; for `namespace.collection.role`,
that role in each collections path; each element of ANSIBLE_ROLES_PATH, bare and with `roles/`; `roles/`
in the working directory. The first that is a folder wins. Nothing else counts: the Go operator also
accepts a folder of that name in the working directory, and then starts Ansible with an empty roles
path. A trailing slash means nothing here, where there it leads to an empty role name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rolecall.watches.model import Play

_COLLECTIONS = "/usr/share/ansible/collections"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place where a role may be."""

    path: Path
    origin: str  # what made us look there; empty for the working directory
    is_collection: bool = False

    def told(self, cwd: Path) -> str:
        """How a message names it."""
        shown = (
            f"./{self.path.relative_to(cwd)}" if self.path.is_relative_to(cwd) else str(self.path)
        )
        return f"{shown} (from {self.origin})" if self.origin else shown


def role_candidates(value: str, environment: Mapping[str, str], cwd: Path) -> list[Candidate]:
    """Every place where the role may be, first choice first."""
    if value.startswith("/"):
        return [Candidate(_clean(cwd, value), "")]
    candidates: list[Candidate] = []
    parts = value.split(".")
    if len(parts) == 3:
        namespace, collection, role = parts
        for element, origin in _collection_paths(environment):
            path = _clean(cwd, element, "ansible_collections", namespace, collection, "roles", role)
            candidates.append(Candidate(path, origin, is_collection=True))
    roles_path = environment.get("ANSIBLE_ROLES_PATH", "")
    for element in roles_path.split(":") if roles_path else ():
        candidates.append(Candidate(_clean(cwd, element, value), "ANSIBLE_ROLES_PATH"))
        candidates.append(Candidate(_clean(cwd, element, "roles", value), "ANSIBLE_ROLES_PATH"))
    candidates.append(Candidate(_clean(cwd, "roles", value), ""))
    return candidates


def find_role(value: str, environment: Mapping[str, str], cwd: Path) -> Play | None:
    """The role's folder, or None where no candidate is one."""
    for candidate in role_candidates(value, environment, cwd):
        if candidate.path.is_dir():
            return Play(candidate.path, is_role=True, fqcn=value if candidate.is_collection else "")
    return None


def playbook_path(value: str, cwd: Path) -> Path:
    """Where the playbook must be."""
    return _clean(cwd, value)


def _collection_paths(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    given = environment.get("ANSIBLE_COLLECTIONS_PATH", "")
    if given:
        return [(element, "ANSIBLE_COLLECTIONS_PATH") for element in given.split(":")]
    paths = [(_COLLECTIONS, "the default collections path")]
    if home := environment.get("HOME", ""):
        paths.append((f"{home}/.ansible/collections", "the default collections path"))
    return paths


def _clean(cwd: Path, *parts: str) -> Path:
    return Path(os.path.normpath(Path(cwd, *parts)))
