"""Where roles and collections are looked up: one answer for lookups here and for the plays.

First what the flag or the environment says, else what the ansible.cfg says that plays read, else that
beside watches.yaml; after it, or before Ansible's own defaults where neither says anything, what lies
beside watches.yaml itself: `.collections`, `collections`, `roles`. Plays run in another folder, so all
is absolute, and nothing twice: a warm host serves one list.

Where nothing beside watches.yaml is to be added, Ansible is left to its own configuration.
"""

from __future__ import annotations

import configparser
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rolecall.watches.look import is_file, is_folder

_BESIDE = "beside watches.yaml"
DEFAULT = "Ansible's default"
_DEFAULT_ROLES = ("~/.ansible/roles", "/usr/share/ansible/roles", "/etc/ansible/roles")
_DEFAULT_COLLECTIONS = ("~/.ansible/collections", "/usr/share/ansible/collections")


@dataclass(frozen=True, slots=True)
class SearchFolder:
    """A folder to look into, and who named it."""

    path: Path
    origin: str


@dataclass(frozen=True, slots=True)
class SearchPath:
    """Places in order."""

    places: tuple[SearchFolder, ...]
    # What the variable of this path must hold for plays; empty: what Ansible does anyway.
    setting: str = ""

    def shown(self) -> str:
        """In one line."""
        return ":".join(str(place.path) for place in self.places)


@dataclass(frozen=True, slots=True)
class SearchPaths:
    """Both of them."""

    roles: SearchPath
    collections: SearchPath


def search_paths(environment: Mapping[str, str], cwd: Path, project: Path) -> SearchPaths:
    """What holds for the project in this folder; flags stand in the environment already."""
    context = _Around(environment, cwd, project)
    own = [project / name for name in (".collections", "collections")]
    return SearchPaths(
        roles=context.path("ANSIBLE_ROLES_PATH", "roles_path", _DEFAULT_ROLES, [project / "roles"]),
        collections=context.path(
            "ANSIBLE_COLLECTIONS_PATH",
            "collections_path",
            _DEFAULT_COLLECTIONS,
            [folder for folder in own if is_folder(folder / "ansible_collections")],
        ),
    )


def skips_facts(environment: Mapping[str, str], project: Path) -> bool:
    """Whether ANSIBLE_GATHERING is `explicit`, else `gathering` of the project's ansible.cfg."""
    said = environment.get("ANSIBLE_GATHERING", "")
    own = _own_configuration(project)
    return (said or (_value_in(own, "gathering") if own else "")) == "explicit"


@dataclass(frozen=True, slots=True)
class _Around:
    environment: Mapping[str, str]
    cwd: Path
    project: Path

    def path(
        self, variable: str, key: str, defaults: Sequence[str], own: Sequence[Path]
    ) -> SearchPath:
        beside = [SearchFolder(folder, _BESIDE) for folder in own if is_folder(folder)]
        said, is_known = self._chosen(variable, key)
        if said:
            places = _without_twins([*said, *beside])
            return SearchPath(places, "" if is_known and len(places) == len(said) else _as(places))
        fallback = [SearchFolder(path, DEFAULT) for path in self._absolute(defaults, self.cwd)]
        places = _without_twins([*beside, *fallback])
        return SearchPath(places, _as(places) if beside else "")

    def _chosen(self, variable: str, key: str) -> tuple[list[SearchFolder], bool]:
        """The user's choice, and whether plays would find it by themselves."""
        if given := self.environment.get(variable, ""):
            paths = self._absolute(given.split(os.pathsep), self.cwd)
            return [SearchFolder(path, variable) for path in paths], False
        for file, is_read_by_plays in self._configurations():
            if value := _value_in(file, key):
                paths = self._absolute(value.split(os.pathsep), file.parent)
                return [SearchFolder(path, str(file)) for path in paths], is_read_by_plays
        return [], True

    def _configurations(self) -> Iterator[tuple[Path, bool]]:
        """The ansible.cfg that plays read, then that of the project, which they do not."""
        named = self.environment.get("ANSIBLE_CONFIG", "")
        home = self.environment.get("HOME", "")
        candidates = [Path(named)] if named else []
        candidates += [Path(home) / ".ansible.cfg"] if home else []
        for candidate in (*candidates, Path("/etc/ansible/ansible.cfg")):
            file = candidate / "ansible.cfg" if is_folder(candidate) else candidate
            if is_file(file):
                yield file, True
                break
        if own := _own_configuration(self.project):
            yield own, False

    def _absolute(self, texts: Sequence[str], base: Path) -> list[Path]:
        home = self.environment.get("HOME", "")
        ansible_home = self.environment.get("ANSIBLE_HOME") or f"{home}/.ansible"
        found = []
        for text in filter(None, map(str.strip, texts)):
            known = text.replace("{{CWD}}", str(self.cwd)).replace(
                "{{ ANSIBLE_HOME }}", ansible_home
            )
            known = f"{home}{known[1:]}" if home and known.startswith("~/") else known
            found.append(Path(os.path.normpath(base / os.path.expandvars(known))))
        return found


def _own_configuration(project: Path) -> Path | None:
    own = project / "ansible.cfg"
    if own.is_file() and not project.stat().st_mode & stat.S_IWOTH:  # as Ansible does
        return own
    return None


def _value_in(file: Path, key: str) -> str:
    parser = configparser.ConfigParser(inline_comment_prefixes=(";",), interpolation=None)
    try:
        parser.read_string(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return ""  # Ansible says it better, at the first play
    return parser.get("defaults", key, fallback="").strip()


def _without_twins(places: Sequence[SearchFolder]) -> tuple[SearchFolder, ...]:
    first: dict[Path, SearchFolder] = {}
    for place in places:
        first.setdefault(place.path, place)
    return tuple(first.values())


def _as(places: Sequence[SearchFolder]) -> str:
    return os.pathsep.join(str(place.path) for place in places)
