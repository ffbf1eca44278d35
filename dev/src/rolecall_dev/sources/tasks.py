"""The tasks and variables of a project: in files of roles, and what a playbook brings in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.json_object import as_map
from rolecall.watches import Play
from rolecall_dev.sources.documents import SUFFIXES, Document, Findings, Line, read_documents, shown

# The tasks of roles and playbooks, with their places, however deep in blocks they stand.

BLOCKS = ("block", "rescue", "always")
_LISTS_OF_TASKS = ("pre_tasks", "tasks", "post_tasks", "handlers")
# Keys of a task that name no module. A module is the one key that is left.
_WORDS = """
action any_errors_fatal args async become become_exe become_flags become_method become_user break_when
changed_when check_mode collections connection debugger delay delegate_facts delegate_to diff
environment failed_when ignore_errors ignore_unreachable listen local_action loop loop_control
module_defaults name no_log notify poll port register remote_user retries run_once tags throttle
timeout until vars when
"""
KEYWORDS = frozenset(_WORDS.split())

Step = str | int


@dataclass(frozen=True, slots=True)
class Task:
    """One task, block, play or entry of `roles`: whatever has conditions."""

    document: Document
    path: tuple[Step, ...]
    data: dict[str, Any]

    @property
    def module(self) -> str:
        """The module's name as it was written; empty for a block."""
        return next(iter(self.modules), "")

    @property
    def modules(self) -> list[str]:
        """The keys that can only be modules: one, if all is well."""
        return [
            key
            for key in self.data
            if isinstance(key, str)
            and not (key in KEYWORDS or key in BLOCKS or key.startswith("with_"))
        ]

    @property
    def arguments(self) -> Any:
        """The module's arguments: a map, or text."""
        return self.data.get(self.module)

    @property
    def named_arguments(self) -> dict[str, Any]:
        """The arguments by their names, `key=value` and `args` too."""
        given = self.arguments
        own = given if isinstance(given, dict) else _words(given)
        return {**own, **as_map(self.data.get("args"))}

    @property
    def short(self) -> str:
        return self.module.rsplit(".", 1)[-1]

    def line(self, *path: Step) -> Line:
        return self.document.line(*self.path, *path)

    def place(self, *path: Step) -> tuple[str, Line]:
        return self.document.place(*self.path, *path)

    @property
    def has_loop(self) -> bool:
        """Whether it runs once for each item."""
        return any(key == "loop" or str(key).startswith("with_") for key in self.data)


def tasks_of_file(document: Document) -> Iterator[Task]:
    """The tasks of a task file or a playbook; what is neither has none."""
    for index, entry in enumerate(_list(document.data)):
        if isinstance(entry, dict):
            is_play = "hosts" in entry
            yield from (
                _play(document, index, entry) if is_play else _below(document, (index,), entry)
            )


def dependencies_of(document: Document) -> Iterator[Task]:
    """The roles that `meta/main.yml` names; they may have conditions."""
    for index, entry in enumerate(_list(as_map(document.data).get("dependencies"))):
        data = entry if isinstance(entry, dict) else {"role": entry}
        yield Task(document, ("dependencies", index), data)


def is_play(task: Task) -> bool:
    """Whether it is a play and no task."""
    return "hosts" in task.data


def _play(document: Document, index: int, play: dict[str, Any]) -> Iterator[Task]:
    yield Task(document, (index,), play)
    for place in (*_LISTS_OF_TASKS, "roles"):
        for number, entry in enumerate(_list(play.get(place))):
            if isinstance(entry, dict):
                yield from _below(document, (index, place, number), entry)


def _below(document: Document, path: tuple[Step, ...], data: dict[str, Any]) -> Iterator[Task]:
    yield Task(document, path, data)
    for place in BLOCKS:
        for index, entry in enumerate(_list(data.get(place))):
            if isinstance(entry, dict):
                yield from _below(document, (*path, place, index), entry)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(value: Any) -> dict[str, Any]:
    """`key=value` arguments."""
    parts = [part.partition("=") for part in str(value or "").split()]
    return {key: text for key, equals, text in parts if equals}


# The files that hold tasks and variables: those of roles, and what a playbook brings in.
# A role in the project's `roles/` belongs to the project, by whatever name a watch or a role brings
# it in; a role of a collection is read where it is named in full.

_FULL_NAME = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*){2,}")
_IMPORTS = ("import_playbook", "include_tasks", "import_tasks")
_ROLES = ("include_role", "import_role")


@dataclass(slots=True)
class Sources:
    """Everything that was read."""

    cwd: Path
    tasks: list[Task] = field(default_factory=list)
    variables: list[Document] = field(default_factory=list)  # each a map of variables
    roles: list[Path] = field(default_factory=list)
    # Those that are not here, with what names them.
    roles_not_found: list[tuple[Task, str]] = field(default_factory=list)

    def shown(self, path: Path) -> str:
        """A path as messages name it."""
        return shown(path, self.cwd)

    def is_own(self, document: Document) -> bool:
        """Whether it belongs to the project, and not to a collection."""
        parts = Path(document.file).parts
        return not document.file.startswith("/") and "ansible_collections" not in parts

    def folder_of(self, task: Task) -> Path:
        """Of the role, or of the playbook."""
        path = self.cwd / task.document.file
        return next((role for role in self.roles if path.is_relative_to(role)), path.parent)

    def variables_of(self, role: Path) -> dict[str, Any]:
        """Defaults and vars of a role."""
        found: dict[str, Any] = {}
        for document in self.variables:
            if (self.cwd / document.file).is_relative_to(role):
                found |= as_map(document.data)
        return found


class Reader:
    """Reads each file once, however often it is named. Another check reports invalid YAML."""

    def __init__(self, cwd: Path, environment: Mapping[str, str]) -> None:
        self._cwd = cwd
        self._environment = environment
        self._seen: set[Path] = set()
        self._ignored = Findings()
        self.sources = Sources(cwd)

    def read(self, plays: Iterable[Play]) -> Sources:
        """The plays of the watches, and the roles of the project."""
        for role in _role_folders(self._cwd / "roles"):
            self._read_role(role)
        for folder in (self._cwd, self._cwd / self._inventory()):
            self._read_host_variables(folder)
        for play in plays:
            if play.is_role:
                self._read_role(play.path)
            else:
                self._read_host_variables(play.path.parent)
                self._read_tasks(play.path)
        return self.sources

    def _inventory(self) -> Path:
        """The folder of the inventory; without one, that of the project."""
        path = Path(self._environment.get("ANSIBLE_INVENTORY", "").partition(",")[0])
        return path if (self._cwd / path).is_dir() else path.parent

    def _read_host_variables(self, folder: Path) -> None:
        """What Ansible reads beside a playbook and beside an inventory."""
        for name in ("group_vars", "host_vars"):
            self._read_variables(folder / name)

    def _read_role(self, role: Path) -> None:
        if role not in self.sources.roles:
            self.sources.roles.append(role)
        for folder in ("tasks", "handlers"):
            for path in yaml_files(role / folder):
                self._read_tasks(path)
        for folder in ("defaults", "vars"):
            self._read_variables(role / folder)
        for document in self._documents(role / "meta" / "main.yml"):
            self._take(dependencies_of(document), role)

    def _read_variables(self, folder: Path) -> None:
        for path in yaml_files(folder):
            documents = self._documents(path)
            self.sources.variables += [it for it in documents if isinstance(it.data, dict)]

    def _read_tasks(self, path: Path) -> None:
        for document in self._documents(path):
            self._take(tasks_of_file(document), path.parent)

    def _take(self, tasks: Iterator[Task], folder: Path) -> None:
        for task in tasks:
            self.sources.tasks.append(task)
            for name in files_named(task):
                self._read_tasks(folder / name)
            for name in roles_named(task):
                if not self._read_named_role(name):
                    self.sources.roles_not_found.append((task, name))

    def _read_named_role(self, name: str) -> bool:
        """Whether it was found; those of the project were read first of all."""
        if "{{" in name or (self._cwd / "roles" / name).is_dir():
            return True
        if not _FULL_NAME.fullmatch(name):
            return False
        namespace, collection, *role = name.split(".")
        for root in self._collection_roots():
            folder = root / "ansible_collections" / namespace / collection / "roles" / Path(*role)
            if folder.is_dir():
                self._read_role(folder)
                return True
        return False

    def _collection_roots(self) -> list[Path]:
        given = self._environment.get("ANSIBLE_COLLECTIONS_PATH", "")
        roots = [part for part in given.split(":") if part] or [".collections"]
        return [self._cwd / root for root in roots]

    def _documents(self, path: Path) -> list[Document]:
        real = path.resolve()
        if real in self._seen or not path.is_file():
            return []
        self._seen.add(real)
        return read_documents(path, self._cwd, self._ignored)


def _role_folders(folder: Path) -> list[Path]:
    """Folders with tasks, in folders of folders too: some projects keep a version of each role."""
    return sorted({path.parent for path in folder.glob("**/tasks") if path.is_dir()})


def yaml_files(folder: Path) -> list[Path]:
    """Behind links too, since roles share tasks by them; each folder once, so that a loop ends."""
    found: list[Path] = []
    seen: set[str] = set()
    for root, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(root)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        found += [Path(root, name) for name in files if name.endswith(SUFFIXES)]
    return sorted(found)


def files_named(task: Task) -> list[str]:
    """Files with tasks that a task names, from its own folder."""
    arguments = task.arguments
    if task.short not in _IMPORTS:
        return []
    name = arguments if isinstance(arguments, str) else as_map(arguments).get("file")
    return [name] if isinstance(name, str) and "{{" not in name else []


def roles_named(task: Task) -> list[str]:
    """Roles that a task or play names, as it has them."""
    names: list[Any] = [task.data.get("role")]
    if task.short in _ROLES:
        names.append(as_map(task.arguments).get("name"))
    if isinstance(task.data.get("roles"), list):
        names += task.data["roles"]
    return [name for name in names if isinstance(name, str)]
