"""What a watch's own play reaches of a project: its files, and the roles that it names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rolecall.watches import Play
from rolecall_dev.sources import Sources, Task, as_map

_ROLES = ("include_role", "import_role")
_FILES = ("import_playbook", "include_tasks", "import_tasks")


class Reached:
    """Roles by what names them, however often removed; a name in a variable is not followed."""

    def __init__(self, play: Play, sources: Sources) -> None:
        self._sources = sources
        self._places: list[Path] = []  # folders of roles, and files
        self._add(play.path)
        self.tasks = [task for task in sources.tasks if self.has(task.document.file)]

    def has(self, file: str) -> bool:
        """Whether a file is reached; `file`: as messages name it."""
        path = self._sources.cwd / file
        return any(path.is_relative_to(place) for place in self._places)

    def _add(self, place: Path) -> None:
        if place in self._places:
            return
        self._places.append(place)
        for task in self._sources.tasks:
            path = self._sources.cwd / task.document.file
            if path.is_relative_to(place):
                for role in _roles_named(task):
                    self._add_role(role)
                for name in _files_named(task):
                    self._add(Path(os.path.normpath(path.parent / name)))

    def _add_role(self, name: str) -> None:
        for role in self._sources.roles:
            if role.name == name.rpartition(".")[2]:
                self._add(role)


def _roles_named(task: Task) -> Iterator[str]:
    given = as_map(task.arguments).get("name") if task.short in _ROLES else None
    listed = task.data.get("roles")
    entries = (given, task.data.get("role"), *(listed if isinstance(listed, list) else ()))
    for entry in entries:
        name = entry.get("role") if isinstance(entry, dict) else entry
        if isinstance(name, str) and "{{" not in name:
            yield name


def _files_named(task: Task) -> Iterator[str]:
    if task.short in _FILES:
        given = task.arguments
        name = given if isinstance(given, str) else as_map(given).get("file")
        if isinstance(name, str) and "{{" not in name:
            yield name
