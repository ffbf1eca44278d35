"""Whether the files that a host imports are as they were, without importing them.

A host that could not start because of what they say cannot start until they say something else.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from rolecall_base.file_stamp import stamp_of

# What the hooks stand in front of, or import names of.
_PACKAGES = ("ansible", "ansible_runner", "jinja2")


def stamp_of_installed(environment: Mapping[str, str]) -> str:
    """Stands for size and age of every file; another text after any change. Some 10 ms of CPU."""
    places = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted(_files(package, [*places, *sys.path])):
            digest.update(f"{path}:{stamp_of(path)}\n".encode())
    return digest.hexdigest()[:16]


def _files(package: str, places: list[str]) -> Iterator[Path]:
    found = PathFinder.find_spec(package, places)
    for folder in (found.submodule_search_locations or ()) if found else ():
        yield from Path(folder).rglob("*.py")
