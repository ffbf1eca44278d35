"""The variables that a play sets itself: those of `vars/`, registered results and facts.

An extra var overrides each of them, so a key of a CR's spec could replace what the role's author wrote.
Meant to be overridden are defaults alone: names in `defaults/`, and those whose own value or condition
reads them (`size: "{{ size | default(3) }}"`).

Read are the files of the role or playbook, and of roles beside it whose name they contain. They are
composed and not constructed, so that tags such as `!vault` do not matter.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from rolecall.watches import Play

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NAME = re.compile(r"[A-Za-z_]\w*")
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\S+)")
_SET_FACT = ("set_fact", "ansible.builtin.set_fact", "ansible.legacy.set_fact")
_NO_FACT = "cacheable"
_SUFFIXES = frozenset({"", ".yml", ".yaml", ".json"})
_TASKS = ("tasks", "handlers")
_LARGEST = 1_000_000

_Where = tuple[str, int]  # a file as people name it, and the line


class OwnNames:
    """Of one play: where each name is set, as `FILE:LINE`."""

    def __init__(self, play: Play) -> None:
        self._set: dict[str, str] = {}
        self._defaults: set[str] = set()
        self._texts: list[str] = []
        folder = play.path.parent
        beside = [folder] if play.is_role else [folder / "roles", folder.parent / "roles"]
        unread = {path for roles in beside if roles.is_dir() for path in roles.iterdir()}
        unread.discard(play.path)
        if play.is_role:
            self._read_role(play.path)
        else:
            self._read_playbook(play.path)
        while named := {path for path in unread if any(path.name in text for text in self._texts)}:
            unread -= named
            self._texts.clear()
            for path in sorted(named):
                self._read_role(path)

    def place_of(self, name: str) -> str:
        """Where the play sets this name for itself; empty: it does not, or as a default."""
        return "" if name in self._defaults else self._set.get(name, "")

    @property
    def places(self) -> dict[str, str]:
        """All names, each with the place where it is set."""
        return {name: self._set[name] for name in self._set if name not in self._defaults}

    def _read_role(self, role: Path) -> None:
        for _file, node in self._documents(role / "defaults", role.parent):
            self._defaults.update(key for key, _value, _line in _items(node))
        for file, node in self._documents(role / "vars", role.parent):
            self._keys_of(node, file)
        for folder in _TASKS:
            for file, node in self._documents(role / folder, role.parent):
                self._tasks_of(node, file, "")
        for _file, _node in self._documents(role / "meta", role.parent):
            pass  # for the names of roles in it

    def _read_playbook(self, path: Path) -> None:
        for file, node in self._documents(path, path.parent):
            for play in node.value if isinstance(node, yaml.SequenceNode) else ():
                for key, value, _line in _items(play):
                    if key == "vars":
                        self._keys_of(value, file)
                    elif key == "vars_files" and isinstance(value, yaml.SequenceNode):
                        for each in value.value:
                            named = path.parent / str(each.value)
                            for other, variables in self._documents(named, path.parent):
                                self._keys_of(variables, other)
            self._tasks_of(node, file, "")
        for folder in _TASKS:
            for file, node in self._documents(path.parent / folder, path.parent):
                self._tasks_of(node, file, "")

    def _keys_of(self, node: yaml.Node, file: str) -> None:
        for name, value, line in _items(node):
            self._add(name, _text_of(value), f"{file}:{line}")

    def _tasks_of(self, node: yaml.Node, file: str, condition: str) -> None:
        if isinstance(node, yaml.SequenceNode):
            for each in node.value:
                self._tasks_of(each, file, condition)
            return
        fields = _items(node)
        condition += "".join(f" {_text_of(value)}" for key, value, _line in fields if key == "when")
        for key, value, line in fields:
            place = f"{file}:{line}"
            if key == "register" and isinstance(value, yaml.ScalarNode):
                self._add(value.value, "", place)
            elif key in _SET_FACT and isinstance(value, yaml.ScalarNode):
                for name, text in _PAIR.findall(value.value):
                    self._add(name, f"{text}{condition}", place)
            elif key in _SET_FACT:
                for name, fact, its_line in _items(value):
                    self._add(name, f"{_text_of(fact)}{condition}", f"{file}:{its_line}")
            elif isinstance(value, yaml.SequenceNode):  # a block
                self._tasks_of(value, file, condition)

    def _add(self, name: str, reads: str, place: str) -> None:
        if not _NAME.fullmatch(name) or name == _NO_FACT:
            return
        if re.search(rf"\b{name}\b", reads):
            self._defaults.add(name)
        self._set.setdefault(name, place)

    def _documents(self, place: Path, shown_from: Path) -> Iterator[tuple[str, yaml.Node]]:
        for path in _files(place):
            with contextlib.suppress(OSError, yaml.YAMLError, RecursionError):
                if path.stat().st_size > _LARGEST:
                    continue
                text = path.read_text(encoding="utf-8", errors="replace")
                self._texts.append(text)
                shown = os.path.relpath(path, shown_from)
                for node in yaml.compose_all(text, Loader=_Loader):
                    if node is not None:
                        yield shown, node


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for folder, _folders, names in os.walk(place):
        yield from (Path(folder, name) for name in sorted(names) if Path(name).suffix in _SUFFIXES)


def _items(node: yaml.Node) -> list[tuple[str, yaml.Node, int]]:
    if not isinstance(node, yaml.MappingNode):
        return []
    return [(str(key.value), value, key.start_mark.line + 1) for key, value in node.value]


def _text_of(node: yaml.Node) -> str:
    """All scalars below a node."""
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.MappingNode):
        return " ".join(f"{_text_of(key)} {_text_of(value)}" for key, value in node.value)
    return " ".join(_text_of(each) for each in node.value)
