"""The `glob` of plugin loaders, with a quick answer for folders that do not exist.

Ansible looks for plugins of each kind in `~/.ansible/plugins` and `/usr/share/ansible/plugins`, with
two patterns each, again whenever a folder is added: a twentieth of a short run. And in its own folders,
which stay as they are for as long as a host lives.
"""

from __future__ import annotations

import glob as _glob
import os
from pathlib import Path
from typing import Any

import ansible

_OWN = f"{Path(str(ansible.__file__)).parent}/"
_found_in_own: dict[str, list[str]] = {}


def __getattr__(name: str) -> Any:
    return getattr(_glob, name)


def glob(pattern: str) -> list[str]:
    """What `glob.glob` finds."""
    if pattern.startswith(_OWN):
        if pattern not in _found_in_own:
            _found_in_own[pattern] = _glob.glob(pattern)  # noqa: PTH207 - words, as asked for
        return [*_found_in_own[pattern]]
    folder = pattern.partition("/*")[0]
    if folder and not _glob.has_magic(folder) and not os.path.isdir(folder):  # noqa: PTH112
        return []
    return _glob.glob(pattern)  # noqa: PTH207 - words, as asked for
