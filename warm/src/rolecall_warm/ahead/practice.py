"""A practice run: one small play in a fork of the host, which shows what the host has still to make.

Much is made only while a play runs: regular expressions, modules that are imported at the last moment.
The host cannot run a play itself, since Ansible keeps options and variables of the first one that a
process sees. So a fork plays, without a report to the engine, and names what it had to import and
compile; the host then does that itself, and no run has to do it again. It also says to which pages it
wrote (`pages`).

Rejected: learning the same from real runs. What they compile may hold what they were given.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rolecall_warm.ahead.pages import Range, own_pages
from rolecall_warm.in_fork import output_of_fork

_TIMEOUT_S = 20.0
_PYTHON = "{{ ansible_playbook_python }}"
_INVENTORY = f'localhost ansible_connection=local ansible_python_interpreter="{_PYTHON}"\n'
# No server listens there, so the module gives up at once, with all its imports made.
_NOWHERE = "http://127.0.0.1:9"
_DEFINITION = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "{{ meta.name }}", "namespace": "{{ meta.namespace }}"},
    "data": {"size": "{{ size | default(1) | int + 1 }}"},
}
_TASKS: list[dict[str, Any]] = [
    {"set_fact": {"size": 3, "meta": {"name": "a", "namespace": "b"}}},
    {"debug": {"msg": "{{ size }}"}, "when": "size is defined and size > 1", "loop": [1]},
    {"assert": {"that": ["size == 3"]}, "register": "said"},
    {
        "kubernetes.core.k8s": {"host": _NOWHERE, "definition": _DEFINITION},
        "ignore_errors": True,
    },
    {
        "kubernetes.core.k8s_info": {"host": _NOWHERE, "kind": "Pod", "name": "{{ meta.name }}"},
        "ignore_errors": True,
    },
]
_OPTIONS = {"ANSIBLE_HOST_KEY_CHECKING": "False", "K8S_AUTH_KUBECONFIG": "", "KUBECONFIG": ""}

# What plays: takes the words of a command line.
PlayCommand = Callable[[list[str]], object]


class Practice:
    """The step of it, which is taken once; `pages` are those that the play wrote to."""

    def __init__(self, folder: Path, play: PlayCommand) -> None:
        self._folder, self._play = folder, play
        self._is_over = False
        self.pages: list[Range] = []

    def make(self, engine: socket.socket) -> bool:
        if self._is_over:
            return False
        self.pages = practise(self._folder, self._play, engine)
        self._is_over = True
        return True


def practise(folder: Path, play: PlayCommand, engine: socket.socket) -> list[Range]:
    """Let a fork play, make what it had to make, and return the pages that it wrote to.

    Costs speed when it fails, not a run. Raises `Interrupted` when the engine says something.
    """
    try:
        command = _write_play(folder)
        said = output_of_fork(
            lambda saying: _play(folder, command, play, saying), engine, _TIMEOUT_S
        )
        made = json.loads(said)
    except (OSError, ValueError):
        return []
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _make(made)
    return [(address, length) for address, length in made["pages"]]


def _write_play(folder: Path) -> list[str]:
    """The command that plays it."""
    tasks = folder / "roles" / "practice" / "tasks"
    tasks.mkdir(parents=True)
    (folder / "inventory").mkdir()
    (folder / "inventory" / "hosts").write_text(_INVENTORY)
    (tasks / "main.yml").write_text(json.dumps(_TASKS))
    play = [{"hosts": "localhost", "gather_facts": False, "roles": [{"name": "practice"}]}]
    (folder / "play").write_text(json.dumps(play))
    (folder / "vars").write_text(json.dumps({"spec": {"__ansible_unsafe": "x"}}))
    options = ["-i", str(folder / "inventory"), "-e", f"@{folder / 'vars'}", "-vv"]
    return ["ansible-playbook", *options, str(folder / "play")]


def _play(folder: Path, command: list[str], play: PlayCommand, saying: int) -> None:
    os.environ.update(_OPTIONS, AWX_ISOLATED_DATA_DIR=str(folder))
    os.chdir(folder)
    modules, patterns = set(sys.modules), set(_patterns())
    play(command)
    made = {
        "modules": sorted(set(sys.modules) - modules),
        "patterns": [each[1:] for each in _patterns() if each not in patterns],
        "pages": own_pages(),
    }
    with os.fdopen(saying, "wb") as said:
        said.write(json.dumps(made).encode())


def _patterns() -> list[tuple[str, str, int]]:
    """Compiled text patterns that Python keeps."""
    kept = getattr(re, "_cache", {})
    return [(kind.__name__, text, int(flags)) for kind, text, flags in kept if kind is str]


def _make(made: dict[str, Any]) -> None:
    for text, flags in made.get("patterns", []):
        with contextlib.suppress(re.error):
            re.compile(text, flags)
    for name in made.get("modules", []):
        with contextlib.suppress(Exception):  # a name that only exists inside of a play
            importlib.import_module(name)
