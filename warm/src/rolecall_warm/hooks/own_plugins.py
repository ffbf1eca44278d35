"""Where ansible-core's own plugins are: looked up by the host, once.

A run that names its first plugin of a kind has Ansible go through all the folders of that kind, file by
file; ten kinds take 2 ms. What is in ansible-core's own folders is the same for each run of a host. So
the host looks, and a run begins with that where no other folder goes first. As soon as
a role or playbook brings one, Ansible forgets what it found, and searches as ever.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_NO_ONE = "rolecall_no_such_plugin"


@dataclass(frozen=True, slots=True)
class _Found:
    """What a loader remembers, once it has been everywhere."""

    folders: frozenset[str]
    paths: dict[str, dict[str, Any]]  # by suffix and name


class OwnPlugins:
    """What there is of each kind."""

    def __init__(self) -> None:
        self._found: dict[int, _Found] = {}  # by loader, which lives as long as the process

    def look(self, loaders: list[Any]) -> None:
        """Look through the folders of these; they must be as new, and without any but Ansible's own."""
        for loader in loaders:
            if _is_untouched(loader):
                with contextlib.suppress(Exception):  # each run finds out for itself
                    loader.find_plugin(_NO_ONE)
                    self._found[id(loader)] = _Found(
                        frozenset(loader._searched_paths), _copy_of(loader._plugin_path_cache)
                    )

    def find(self, original: Callable[..., Any], loader: Any, *args: Any, **more: Any) -> Any:
        """The stand-in for `PluginLoader._find_plugin_legacy`."""
        found = self._found.get(id(loader))
        if found is not None and _is_untouched(loader) and _has_none_but(found.folders, loader):
            loader._searched_paths.update(found.folders)
            for suffix, paths in found.paths.items():
                loader._plugin_path_cache[suffix].update(paths)
        return original(loader, *args, **more)


def _is_untouched(loader: Any) -> bool:
    return not loader._searched_paths and not loader._plugin_path_cache


def _has_none_but(folders: frozenset[str], loader: Any) -> bool:
    """Whether the loader would search these, and no others."""
    places = {place.path for place in loader._get_paths_with_context()}
    return places >= folders and not any(os.path.isdir(path) for path in places - folders)  # noqa: PTH112


def _copy_of(paths: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {suffix: dict(names) for suffix, names in paths.items()}
