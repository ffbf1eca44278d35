"""Which rooms a test is about: what it imports, and what its project, flags and commands need.

A room is a folder or a module of one of our packages, a role, or another folder at the top. A test that
runs the engine as a process imports little, so its rooms are derived:

- a key of watches.yaml, from the field of `Watch` that holds it to the rooms that read that field;
  or to the extension that has it, and to the rooms that ask for what it overrides
- a flag, from the settings that it is put into to the rooms that import those settings
- a command, from its module to the rooms that this imports
- a kind of this repository, to its role or playbook
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

import yaml

from rolecall.cli import commands
from rolecall.extending import watch_keys
from rolecall.settings import extension_flags
from rolecall.watches import ENTRY_KEYS
from tools.affected.facts import Facts, facts_of
from tools.placement import ROOT

ENGINE, DEVELOPERS = "src/rolecall", "dev/src/rolecall_dev"
PACKAGES = {
    "rolecall": ENGINE,
    "rolecall_base": "base/src/rolecall_base",
    "rolecall_warm": "warm/src/rolecall_warm",
    "rolecall_dev": DEVELOPERS,
}
EXTENSIONS = "extensions"  # a folder of rooms
SHIPPED = f"{ENGINE}/collections"
# Every entry has some of these.
_OF_EVERY_ENTRY = {"group", "version", "kind", "role", "playbook", "vars", "reconcilePeriod"}
_ASKED_OF_KEYS = ("has_optional_runs", "named_kinds", "kept_of", "stopped_by", "verbs_after")
# Outside of the packages; `roles`, `playbooks` and `tests` have rooms of their own.
_OTHERS = ("bundle", "config", "crds", "docs/", "lock", "molecule", "tools")
_RUNS_THE_ENGINE = (
    *("tests.e2e.engine.EngineProcess", "rolecall.app"),
    *("rolecall_dev.testing.EngineInProcess", "rolecall_dev.testing.in_process"),
)
_OF_COLLECTIONS = ("operator_sdk.util", "rolecall.operator", "operator_sdk/util")


def room_of(path: str) -> str:
    """The room of a path of this repository; of a test, its file; empty where there is none."""
    parts = Path(path).parts
    for folder in PACKAGES.values():
        above = len(Path(folder).parts)
        if path.startswith(f"{folder}/"):
            is_extension = parts[above] == EXTENSIONS and len(parts) > above + 2
            return str(Path(*parts[: above + (2 if is_extension else 1)]))
    if parts[0] == "tests":
        return path
    if parts[0] in ("roles", "playbooks", "docs"):
        return str(Path(*parts[:2]))
    return parts[0] if len(parts) > 1 else path


class Rooms:
    """What is derived from the code of all packages."""

    @cached_property
    def modules(self) -> dict[str, Path]:
        """All modules of our packages, by name."""
        found = {}
        for package, folder in PACKAGES.items():
            for path in sorted((ROOT / folder).rglob("*.py")):
                inner = path.relative_to(ROOT / folder).with_suffix("").parts
                name = ".".join((package, *(part for part in inner if part != "__init__")))
                if not path.is_relative_to(ROOT / SHIPPED):
                    found[name] = path
        return found

    def of_import(self, name: str) -> str:
        """The room of an imported name, as `rolecall.status.StatusWriter`; empty: it is not ours."""
        package, _, inner = name.partition(".")
        if package not in PACKAGES or not inner:
            return ""
        parts = inner.split(".")
        first = ".".join([package, *parts[: 2 if parts[0] == EXTENSIONS else 1]])
        return room_of(str(self.modules[first].relative_to(ROOT))) if first in self.modules else ""

    def of_imports(self, names: Iterable[str]) -> set[str]:
        """Those that are imported."""
        return {room for name in names if (room := self.of_import(name))}

    @cached_property
    def of_engine(self) -> set[str]:
        """All that `rolecall run` may reach."""
        seen: set[str] = set()
        waiting = ["rolecall.cli.run", "rolecall_warm.__main__"]
        while waiting:
            name = waiting.pop()
            module = self._module_of(name)
            if module and module not in seen:
                seen.add(module)
                waiting += sorted(facts_of(self.modules[module]).imports)
        return self.of_imports(seen)

    def _module_of(self, name: str) -> str:
        """The module that an import names, itself or by a name in it."""
        if name in self.modules:
            return name
        above = name.rpartition(".")[0]
        return above if above in self.modules else ""

    @cache  # noqa: B019 - one instance for each run
    def of_command(self, word: str) -> frozenset[str]:
        """Those that a command's module imports, through other modules of the command line."""
        module = commands().get(word)
        if module is None or word == "run":
            return frozenset()
        seen: set[str] = set()
        waiting, found = [module.module], set()
        while waiting:
            name = waiting.pop()
            if name in seen or name not in self.modules:
                continue
            seen.add(name)
            imports = facts_of(self.modules[name]).imports
            found |= self.of_imports(imports)
            waiting += [self._module_of(each) for each in imports if ".cli." in each]
        return frozenset(found | self.of_imports([module.module]))

    @cached_property
    def by_key(self) -> dict[str, set[str]]:
        """Keys of an entry of watches.yaml, with the rooms that read what they say."""
        tree = ast.parse((ROOT / ENGINE / "watches" / "entry.py").read_text())
        field_of = {
            text: keyword.arg
            for keyword in _keywords(tree)
            for text in _texts(keyword.value)
            if keyword.arg
        }
        fields = {_camel(keyword.arg or ""): keyword.arg or "" for keyword in _keywords(tree)}
        field_of = {**fields, **field_of}
        names = {key.name for key in ENTRY_KEYS} - _OF_EVERY_ENTRY
        found = {
            name: self._that_read(field_of[name]) | {f"{ENGINE}/watches"}
            for name in names
            if name in field_of
        }
        for each in watch_keys():
            asked = [name for name in _ASKED_OF_KEYS if name in vars(each)]
            rooms = {room for name in asked for room in self._that_read(name)}
            rooms |= {self.of_import(each.__module__), f"{ENGINE}/watches"}
            found |= {key.name: rooms for key in each.keys}
        return found

    def _that_read(self, attribute: str) -> set[str]:
        return {
            room_of(str(path.relative_to(ROOT)))
            for path in self.modules.values()
            if attribute in facts_of(path).attributes
        }

    @cached_property
    def by_flag(self) -> dict[str, set[str]]:
        """Flags of `run`, with the rooms that import the settings they are part of."""
        tree = ast.parse((ROOT / ENGINE / "cli" / "settings_from.py").read_text())
        found: dict[str, set[str]] = {}
        for function in tree.body:
            calls = [call for call in _calls(function) if _settings_of(call)]
            of_one = len({_settings_of(call) for call in calls}) == 1
            for call in calls:
                # A function that fills one kind of settings may read flags before the call.
                for flag in _texts(function if of_one else call):
                    found.setdefault(flag, set()).update(self._that_import(_settings_of(call)))
        for each in extension_flags():
            found |= {flag.name: {self.of_import(each.__module__)} for flag in each.group.flags}
        return found

    def _that_import(self, settings: str) -> set[str]:
        wanted = f"rolecall.settings.{settings}"
        return {
            room_of(str(path.relative_to(ROOT)))
            for path in self.modules.values()
            if wanted in facts_of(path).imports
        }

    @cached_property
    def by_kind(self) -> dict[str, set[str]]:
        """Kinds of this repository, with their roles and playbooks."""
        found = {}
        for entry in yaml.safe_load((ROOT / "watches.yaml").read_text()):
            rooms = set(_plays(entry))
            for playbook in [each for each in rooms if each.startswith("playbooks/")]:
                rooms |= {
                    f"roles/{role.name}"
                    for role in (ROOT / "roles").iterdir()
                    if role.name in (ROOT / playbook).read_text()
                }
            found[entry["kind"]] = rooms
        return found

    def named_by(self, facts: Facts) -> set[str]:
        """Those that such a test is about."""
        found = self.of_imports(facts.imports)
        found |= {room_of(path) for path in facts.paths if path.startswith(_OTHERS)}
        for key in facts.keys & self.by_key.keys():
            found |= self.by_key[key]
        for flag in facts.flags & self.by_flag.keys():
            found |= self.by_flag[flag]
        for command in facts.commands:
            found |= self.of_command(command)
        for kind in facts.texts & self.by_kind.keys():
            found |= self.by_kind[kind]
        if any(mark in text for text in facts.texts for mark in _OF_COLLECTIONS):
            found.add(SHIPPED)
        return found

    def runs_engine(self, facts: Facts) -> bool:
        """Whether it has an engine at work, as a process or in its own."""
        return "run" in facts.commands or any(
            name.startswith(_RUNS_THE_ENGINE) for name in facts.imports
        )


def _plays(entry: dict[str, object]) -> Iterator[str]:
    """Roles and playbooks that an entry of watches.yaml names, at any depth."""
    for key, value in entry.items():
        if key == "role":
            yield f"roles/{value}"
        elif key == "playbook":
            yield str(value)
        elif isinstance(value, dict):
            yield from _plays(value)


def _keywords(tree: ast.AST) -> list[ast.keyword]:
    """The fields of `Watch`, where one is made."""
    return [keyword for call in _calls(tree, "Watch") for keyword in call.keywords]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _calls(tree: ast.AST, name: str = "") -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (not name or getattr(node.func, "id", "") == name):
            yield node


def _settings_of(call: ast.Call) -> str:
    """The name of the settings that a call makes, as `ProxySettings`; else empty."""
    name: str = getattr(call.func, "id", "")
    return name if name.endswith("Settings") and name != "Settings" else ""


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
