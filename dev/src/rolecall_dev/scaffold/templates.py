"""The files of new projects, roles and kinds, kept as package data and filled in.

A value stands as `<<name>>` in texts, and as `__name__` in paths. Both are rare in what is templated
here, which has braces and dollars of its own for Ansible, Make and Prometheus. `dot_` at the start of a
file's name is a dot, so that packaging and linters do not take a template for a setting of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from rolecall_dev.sources import filled_in

_PATH_VALUE = re.compile(r"__([a-z]+(?:_[a-z]+)*)__")


def rendered(folder: str, values: Mapping[str, str]) -> dict[str, str]:
    """Path -> content for every template below a folder; `KeyError` names a value that is missing."""
    root = resources.files(__package__) / "templates" / folder
    return dict(sorted(_below(root, "", values)))


def _below(folder: Traversable, prefix: str, values: Mapping[str, str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        if entry.name == "__pycache__":  # made by installers, which compile every Python file
            continue
        name = _PATH_VALUE.sub(lambda match: values[match[1]], entry.name)
        name = re.sub("^dot_", ".", name)
        if entry.is_dir():
            found += _below(entry, f"{prefix}{name}/", values)
        else:
            found.append((f"{prefix}{name}", filled_in(entry.read_text("utf-8"), values)))
    return found
