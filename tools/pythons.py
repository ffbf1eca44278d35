"""Find the Pythons of this machine: on PATH, and where version managers put them.

Whatever is found was started once: a shim of a version manager is on PATH also where no version is
behind it. Standard library only, and readable by an old Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

MINORS = ("3.11", "3.12", "3.13", "3.14")
# Variable that names the manager's folder, where it is otherwise, and what is below it.
MANAGERS = (
    ("PYENV_ROOT", "~/.pyenv", "versions/*/bin/python3"),
    ("ASDF_DATA_DIR", "~/.asdf", "installs/python/*/bin/python3"),
    ("MISE_DATA_DIR", "~/.local/share/mise", "installs/python/*/bin/python3"),
    ("UV_PYTHON_INSTALL_DIR", "~/.local/share/uv/python", "*/bin/python3"),
    ("HOMEBREW_PREFIX", "/opt/homebrew", "opt/python@3.*/bin/python3.*"),
)
# Asked for its own path, too, since a shim is none that an environment can be made with.
QUESTION = "import sys, ssl; print('%d.%d.%d' % sys.version_info[:3], sys.executable)"
ANSWER = re.compile(r"(3\.\d+)\.(\d+) (.+)\n")


class Found(NamedTuple):
    """A Python that answered."""

    minor: str  # such as `3.13`
    patch: int
    path: str


def find_pythons(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The path of one Python for each minor version: the first on PATH, else the newest elsewhere."""
    found: dict[str, str] = {}
    for minor, path in _on_path(environment):
        if minor not in found and (answer := ask(path)) and answer.minor == minor:
            found[minor] = answer.path
    for minor, _, path in sorted(_answers(_of_managers(environment)), reverse=True):
        if minor in MINORS:
            found.setdefault(minor, path)
    return {minor: found[minor] for minor in MINORS if minor in found}


def named_pythons(names: Iterable[str]) -> dict[str, str]:
    """Those that a person names, by command or path; one that does not answer is left out."""
    paths = (shutil.which(name) for name in names)
    return {minor: path for minor, _, path in _answers(path for path in paths if path)}


def ask(python: str) -> Found | None:
    """What it is; None where it does not start, or lacks what nothing works without."""
    command = [python, "-S", "-E", "-c", QUESTION]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    answer = ANSWER.fullmatch(done.stdout)
    if answer is None or done.returncode:
        return None
    return Found(answer[1], int(answer[2]), answer[3])


def _on_path(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for folder in environment.get("PATH", "").split(os.pathsep):
        for minor in MINORS:
            path = shutil.which(f"python{minor}", path=folder) if folder else None
            if path:
                yield minor, path


def _of_managers(environment: Mapping[str, str]) -> Iterator[str]:
    for variable, place, pattern in MANAGERS:
        folder = Path(environment.get(variable) or place).expanduser()
        yield from sorted(str(path) for path in folder.glob(pattern))


def _answers(paths: Iterable[str]) -> list[Found]:
    return [answer for path in paths if (answer := ask(path))]
