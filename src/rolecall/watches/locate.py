"""Finds the role or playbook that a watches entry names, where the Go operator would find it.

A role's candidates, in order: the value itself where it is absolute; for `namespace.collection.role`,
that role in each collections path; each element of ANSIBLE_ROLES_PATH, bare and with `roles/`; `roles/`
in the working directory. Then, which is ours, each element of ansible.cfg's `roles_path`, and `roles/`
beside watches.yaml. The first that is a folder wins. Nothing else counts: the Go operator also
accepts a folder of that name in the working directory, and then starts Ansible with an empty roles
path. A trailing slash means nothing here, where there it leads to an empty role name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rolecall.watches.look import is_folder
from rolecall.watches.play import Play
from rolecall.watches.search import DEFAULT, SearchPaths, search_paths

_COLLECTIONS = "/usr/share/ansible/collections"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place where a role may be."""

    path: Path
    origin: str  # what made us look there; empty for the working directory
    is_collection: bool = False

    def shown(self, cwd: Path) -> str:
        """How a message names it."""
        shown = (
            f"./{self.path.relative_to(cwd)}" if self.path.is_relative_to(cwd) else str(self.path)
        )
        return f"{shown} (from {self.origin})" if self.origin else shown


def role_candidates(
    value: str, environment: Mapping[str, str], cwd: Path, project: Path | None = None
) -> list[Candidate]:
    """Every place where the role may be, first choice first; `project` has watches.yaml in it."""
    if value.startswith("/"):
        return [Candidate(_clean(cwd, value), "")]
    search = search_paths(environment, cwd, project or cwd)
    candidates = _in_collections(value, environment, search, cwd)
    named = environment.get("ANSIBLE_ROLES_PATH", "")
    for element in named.split(":") if named else ():
        candidates.append(Candidate(_clean(cwd, element, value), "ANSIBLE_ROLES_PATH"))
        candidates.append(Candidate(_clean(cwd, element, "roles", value), "ANSIBLE_ROLES_PATH"))
    candidates.append(Candidate(_clean(cwd, "roles", value), ""))
    candidates += [
        Candidate(_clean(place.path, value), place.origin)
        for place in search.roles.places
        if place.origin not in ("ANSIBLE_ROLES_PATH", DEFAULT)
    ]
    first: dict[Path, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.path, candidate)
    return list(first.values())


def find_role(
    value: str, environment: Mapping[str, str], cwd: Path, project: Path | None = None
) -> Play | None:
    """The role's folder, or None where no candidate is one."""
    for candidate in role_candidates(value, environment, cwd, project):
        if is_folder(candidate.path):
            return Play(candidate.path, is_role=True, fqcn=value if candidate.is_collection else "")
    return None


def playbook_path(value: str, cwd: Path) -> Path:
    """Where the playbook must be."""
    return _clean(cwd, value)


def _in_collections(
    value: str, environment: Mapping[str, str], search: SearchPaths, cwd: Path
) -> list[Candidate]:
    """The candidates of `namespace.collection.role`; none for any other value."""
    parts = value.split(".")
    if len(parts) != 3:
        return []
    inside = Path("ansible_collections", parts[0], parts[1], "roles", parts[2])
    paths = [
        (place.path, place.origin)
        for place in search.collections.places
        if place.origin != DEFAULT  # in the Go operator's order instead
    ]
    if not environment.get("ANSIBLE_COLLECTIONS_PATH"):
        homes = [_COLLECTIONS]
        if home := environment.get("HOME", ""):
            homes.append(f"{home}/.ansible/collections")
        paths += [(Path(folder), "the default collections path") for folder in homes]
    return [
        Candidate(_clean(cwd, path, inside), origin, is_collection=True) for path, origin in paths
    ]


def _clean(cwd: Path, *parts: str | Path) -> Path:
    return Path(os.path.normpath(Path(cwd, *parts)))
