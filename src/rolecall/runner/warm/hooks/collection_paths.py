"""Lets go of collections that a run would find somewhere else than the host did.

The host imports collections once, from the folders that are configured and there at the time. A folder
may appear later, and a playbook may have `collections/` beside it, which goes before all others: a run
that kept the host's modules would use another version of a collection than a new process.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

_ROOT = "ansible_collections"
# Made of ansible-core itself, wherever folders are.
_OWN = "ansible"


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
    for name, module in [*sys.modules.items()]:
        top, *parts = name.split(".")
        if top != _ROOT or len(parts) not in (1, 2) or parts[0] == _OWN:
            continue
        found = [path for root in roots if Path(path := "/".join((root, *parts))).is_dir()]
        # A namespace is everywhere, a collection where it is found first.
        if list(getattr(module, "__path__", ())) != (found if len(parts) == 1 else found[:1]):
            _forget(name)


def _forget(name: str) -> None:
    for held in [*sys.modules]:
        if held == name or held.startswith(f"{name}."):
            del sys.modules[held]
