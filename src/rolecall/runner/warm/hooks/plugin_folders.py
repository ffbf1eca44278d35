"""The `glob` of plugin loaders, with a quick answer for the folders that nobody has.

Ansible looks for plugins of each kind in `~/.ansible/plugins` and `/usr/share/ansible/plugins`, with
two patterns each, again whenever a folder is added: a twentieth of a short run.
"""

from __future__ import annotations

import glob as _glob
import os
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(_glob, name)


def glob(pattern: str) -> list[str]:
    """What `glob.glob` finds."""
    folder = pattern.partition("/*")[0]
    if folder and not _glob.has_magic(folder) and not os.path.isdir(folder):  # noqa: PTH112
        return []
    return _glob.glob(pattern)  # noqa: PTH207 - words, as asked for
