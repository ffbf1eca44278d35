"""What is known of modules: which there are, from their files; what each takes, from `ansible-doc`.

Ansible runs as a program of its own, once for all modules that a project names: it takes a second, so
answers are kept.
Where a module comes from is looked up in files, since `ansible-doc` says the same of a module that is
not there and of one without documentation.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rolecall.json_object import Json
from rolecall.watches import search_paths
from rolecall_dev.sources import as_map

_PATIENCE_S = 60
_BUILT_IN = ("", "ansible.builtin", "ansible.legacy")
_FOLDERS = ("plugins/modules", "plugins/action")


@dataclass(frozen=True, slots=True)
class ModuleDocs:
    """Answers for the collections that plays of this project would find."""

    places: Sequence[Path]
    cwd: Path
    environment: Mapping[str, str]
    options: dict[str, Json] = field(default_factory=dict)
    fact_names: dict[str, frozenset[str]] = field(default_factory=dict)  # what a module makes known

    # Of these it is known what they return, or that they are not there.
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, environment: Mapping[str, str], cwd: Path, project: Path) -> ModuleDocs:
        known = search_paths(environment, cwd, project).collections.places
        return cls([*(it.path for it in known), *map(Path, sys.path)], cwd, environment)

    @property
    def has_ansible(self) -> bool:
        """Without it nothing can be said of any module."""
        return _ansible() is not None

    def collections(self) -> set[str]:
        """Those that are installed."""
        found = {name for name in _BUILT_IN if name}
        for place in self.places:
            for folder in _root(place).glob("*/*"):
                if folder.is_dir() and "." not in folder.name:
                    found.add(f"{folder.parent.name}.{folder.name}")
        return found

    def modules_of(self, collection: str) -> set[str] | None:
        """Their short names; None where the collection is not here."""
        if collection in _BUILT_IN:
            return _built_in()
        folder = self._folder_of(collection)
        return _modules_in(folder) if folder else None

    def why_gone(self, module: str) -> str:
        """What its collection says of a module that was removed; empty: it was not, or not known."""
        seen: set[str] = set()
        while module not in seen:
            seen.add(module)
            collection, _, name = module.rpartition(".")
            route = as_map(self._routes_of(collection).get(name))
            if "tombstone" in route:
                return (
                    str(as_map(route["tombstone"]).get("warning_text") or "").strip() or "removed"
                )
            module = str(route.get("redirect") or module)
        return ""

    def _routes_of(self, collection: str) -> Mapping[str, Json]:
        if collection in _BUILT_IN:
            return _built_in_routes()
        folder = self._folder_of(collection)
        return _routes(folder / "meta" / "runtime.yml") if folder else {}

    def _folder_of(self, collection: str) -> Path | None:
        """Where it is installed; without it, `ansible-doc` has no answer either."""
        folders = (_root(place) / collection.replace(".", "/") for place in self.places)
        return next(filter(Path.is_dir, folders), None)

    def learn(self, modules: Iterable[str]) -> str:
        """Find out what these modules take; why not, where there was no answer."""
        learned = Learned(cache_folder(self.environment))
        sources = {name: self._source(name) for name in sorted(modules)}
        unknown = []
        for name, source in sources.items():
            answer = learned.read(name, source) if source else None
            if answer is not None:
                self._take(name, answer)
            elif source or self._folder_of(name.rpartition(".")[0]):
                unknown.append(name)
        answers, why_not = self._ask(unknown) if unknown else ({}, "")
        for name, answer in answers.items():
            brief = _brief(as_map(answer))
            self._take(name, brief)
            if source := sources.get(name):
                learned.write(name, source, brief)
        return why_not

    def _take(self, name: str, answer: Json) -> None:
        self.known.add(name)
        self.options[name] = as_map(answer.get("options"))
        self.fact_names[name] = frozenset(answer.get("facts") or ())

    def _source(self, module: str) -> Path | None:
        """The file of a module; what its documentation borrows from elsewhere moves with it."""
        collection, _, name = module.rpartition(".")
        if collection in _BUILT_IN:
            return _ansible_file("modules", f"{name}.py") or _ansible_file("release.py")
        folder = self._folder_of(collection)
        file = folder / "plugins" / "modules" / f"{name}.py" if folder else None
        return file if file and file.is_file() else None

    def _ask(self, names: Sequence[str]) -> tuple[Json, str]:
        command = [sys.executable, "-m", "ansible", "doc", "--json", "--type", "module", *names]
        own = os.pathsep.join(str(place) for place in self.places if _root(place).is_dir())
        environment = {**os.environ, **self.environment, "ANSIBLE_COLLECTIONS_PATH": own}
        try:
            done = subprocess.run(
                command,
                cwd=self.cwd,
                env=environment,
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
            )
            return as_map(json.loads(done.stdout)), ""
        except (OSError, subprocess.TimeoutExpired) as error:
            return {}, str(error)
        except ValueError:
            last = done.stderr.decode(errors="replace").strip().splitlines()
            return {}, last[-1] if last else f"it ended with {done.returncode}"


def _brief(answer: Json) -> Json:
    """What counts here: documentation is long."""
    facts = as_map(as_map(answer.get("return")).get("ansible_facts"))
    return {
        "options": _without_words(as_map(as_map(answer.get("doc")).get("options"))),
        "facts": sorted(as_map(facts.get("contains"))),
    }


def _without_words(options: Json) -> Json:
    kept = ("aliases", "choices", "required", "type")
    return {
        name: {
            **{key: value for key, value in as_map(option).items() if key in kept},
            "suboptions": _without_words(as_map(as_map(option).get("suboptions"))),
        }
        for name, option in options.items()
    }


def _root(place: Path) -> Path:
    return place if place.name == "ansible_collections" else place / "ansible_collections"


def _modules_in(folder: Path) -> set[str]:
    found: set[str] = set()
    for name in _FOLDERS:
        for path in (folder / name).rglob("*"):
            if path.suffix in (".py", ".ps1", ".yml", ".yaml"):
                found.add(path.stem)
                # In a folder of its own a module is named with that folder.
                found.add(".".join((*path.relative_to(folder / name).parent.parts, path.stem)))
    routes = _routes(folder / "meta" / "runtime.yml")
    return (found | routes.keys()) - {name for name in routes if "tombstone" in routes[name]}


def _routes(file: Path) -> dict[str, Json]:
    """What became of modules: where they are now (`redirect`), or why they are gone (`tombstone`)."""
    try:
        content: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    routing = as_map(as_map(content).get("plugin_routing"))
    routes = {**as_map(routing.get("modules")), **as_map(routing.get("action"))}
    return {str(name): as_map(route) for name, route in routes.items()}


def _ansible() -> Path | None:
    """The folder of ansible-core, which is not imported for this."""
    found = importlib.util.find_spec("ansible")
    return Path(found.origin).parent if found and found.origin else None


def _ansible_file(*parts: str) -> Path | None:
    folder = _ansible()
    file = folder.joinpath(*parts) if folder else None
    return file if file and file.is_file() else None


@cache
def _built_in() -> set[str]:
    folder = _ansible()
    if folder is None:
        return set()
    files = (*(folder / "modules").glob("*.py"), *(folder / "plugins" / "action").glob("*.py"))
    routes = _built_in_routes()
    routed = {name for name in routes if "tombstone" not in routes[name]}
    return {path.stem for path in files if path.stem != "__init__"} | routed


@cache
def _built_in_routes() -> dict[str, Json]:
    folder = _ansible()
    return _routes(folder / "config" / "ansible_builtin_runtime.yml") if folder else {}


# What `ansible-doc` said before, kept in the user's cache folder: one file for each module.
# A file's name is made of everything that the answer hangs on, so nothing there is ever wrong, only
# old.
def cache_folder(environment: Mapping[str, str]) -> Path:
    """Below the folder that other programs use, too."""
    base = environment.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path.home() / ".cache"
    return root / "rolecall" / "module-docs"


class Learned:
    """Answers by module and by the file that it comes from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, module: str, source: Path) -> Json | None:
        """The answer that is known; None where it has to be asked for."""
        try:
            found = json.loads(self._file(module, source).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def write(self, module: str, source: Path, answer: Json) -> None:
        """Keep it; a cache that cannot be written is none."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._file(module, source)
            new = file.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(answer), encoding="utf-8")
            new.replace(file)

    def _file(self, module: str, source: Path) -> Path:
        stamp = source.stat()
        text = f"{module} {source.resolve()} {stamp.st_mtime_ns} {stamp.st_size}"
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
