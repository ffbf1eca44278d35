"""Lets go of collections that a run would find somewhere else than the host did.

The host imports collections once, from the folders that are configured and there at the time. A folder
may appear later, and a playbook may have `collections/` beside it, which goes before all others: a run
that kept the host's modules would use another version of a collection than a new process.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

_ROOT = "ansible_collections"
# Made of ansible-core itself, wherever folders are.
_OWN = "ansible"
_NOTHING = ModuleType("nothing")


def look_again(finder: Any, new: Any) -> None:
    """Search in those of the configured folders that are there now, as a new finder would."""
    if finder._n_configured_paths != new._n_configured_paths:
        finder._n_configured_paths = new._n_configured_paths
        finder._n_cached_collection_paths = None
        finder._n_cached_collection_qualified_paths = None
        sys.path_importer_cache.clear()
        for package in (_ROOT, f"{_ROOT}.{_OWN}"):
            finder._reload_hack(package)
    let_go_of_moved(finder)


def set_playbook_paths(original: Any, finder: Any, playbook_paths: Any) -> None:
    """The stand-in for `_AnsibleCollectionFinder.set_playbook_paths`."""
    original(finder, playbook_paths)
    let_go_of_moved(finder)


def let_go_of_moved(finder: Any) -> None:
    """Forget modules of each namespace and collection that is not where it was imported from."""
    roots = [f"{path}/{_ROOT}" for path in finder._n_collection_paths]
    for namespace in _held_in(_ROOT):
        if namespace == f"{_ROOT}.{_OWN}":
            continue
        _forget_if_moved(namespace, _found(roots, namespace))
        for collection in _held_in(namespace):
            _forget_if_moved(collection, _found(roots, collection)[:1])


def _held_in(package: str) -> list[str]:
    """What is imported right below it; not by looking through all modules, which are thousands."""
    names = [f"{package}.{name}" for name in vars(sys.modules.get(package, _NOTHING))]
    return [name for name in names if name in sys.modules]


def _found(roots: list[str], package: str) -> list[str]:
    """Where it is: a namespace is everywhere, a collection where it is found first."""
    below = package.removeprefix(f"{_ROOT}.").replace(".", "/")
    return [path for root in roots if os.path.isdir(path := f"{root}/{below}")]  # noqa: PTH112


def _forget_if_moved(package: str, found: list[str]) -> None:
    if list(getattr(sys.modules[package], "__path__", ())) != found:
        _forget(package)


def _forget(name: str) -> None:
    for held in [*sys.modules]:
        if held == name or held.startswith(f"{name}."):
            del sys.modules[held]
