"""A dress rehearsal: one small play in a fork of the host, which tells what the host should have ready.

Much is made only while a play runs: regular expressions, modules that are imported at the last moment.
The host cannot run a play itself, since Ansible keeps options and variables of the first one that a
process sees. So a fork plays, for nobody, and names what it had to import and compile; the host then
does that itself, and no run has to do it again. It also tells to which pages it wrote (`hot_pages`).

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

from rolecall.runner.warm.host.hot_pages import Range, exclusive_pages
from rolecall.runner.warm.host.trial import told_by_fork

_PATIENCE_S = 20.0
_PYTHON = "{{ ansible_playbook_python }}"
_INVENTORY = f'localhost ansible_connection=local ansible_python_interpreter="{_PYTHON}"\n'
# Nobody listens there, so the module gives up at once, with all its imports made.
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
Play = Callable[[list[str]], object]


def rehearse_in_fork(folder: Path, play: Play, engine: socket.socket) -> list[Range]:
    """Let a fork play, make what it had to make, and return the pages that it wrote to.

    Costs warmth when it fails, not a run. Raises `Interrupted` when the engine says something.
    """
    stage = folder / "rehearsal"
    try:
        found = _performed(stage, _set_up(stage), play, engine)
    except (OSError, ValueError):
        return []
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    _make(found)
    return [(address, length) for address, length in found["pages"]]


def _set_up(stage: Path) -> list[str]:
    tasks = stage / "roles" / "rehearsed" / "tasks"
    tasks.mkdir(parents=True)
    (stage / "inventory").mkdir()
    (stage / "inventory" / "hosts").write_text(_INVENTORY)
    (tasks / "main.yml").write_text(json.dumps(_TASKS))
    play = [{"hosts": "localhost", "gather_facts": False, "roles": [{"name": "rehearsed"}]}]
    (stage / "play").write_text(json.dumps(play))
    (stage / "vars").write_text(json.dumps({"spec": {"__ansible_unsafe": "x"}}))
    options = ["-i", str(stage / "inventory"), "-e", f"@{stage / 'vars'}", "-vv"]
    return ["ansible-playbook", *options, str(stage / "play")]


def _performed(
    stage: Path, command: list[str], play: Play, engine: socket.socket
) -> dict[str, Any]:
    """What the fork had to make."""

    def perform(telling: int) -> None:
        _perform(stage, command, play, telling)

    found: dict[str, Any] = json.loads(told_by_fork(perform, engine, _PATIENCE_S))
    return found


def _perform(stage: Path, command: list[str], play: Play, telling: int) -> None:
    os.environ.update(_OPTIONS, AWX_ISOLATED_DATA_DIR=str(stage))
    os.chdir(stage)
    modules, patterns = set(sys.modules), set(_patterns())
    play(command)
    made = {
        "modules": sorted(set(sys.modules) - modules),
        "patterns": [each[1:] for each in _patterns() if each not in patterns],
        "pages": exclusive_pages(),
    }
    with os.fdopen(telling, "wb") as told:
        told.write(json.dumps(made).encode())


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
