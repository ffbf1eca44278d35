"""Why runs of a watch with `skipUnchanged` are made all the same, as far as its files say so.

The same tables judge here and in runs (`rolecall_base.purity`). What only a run knows is left to it:
names in variables, which branch is taken, plugins that the project brings under a name of Ansible's,
files outside of the project. So this warns of what is surely not pure where it runs, and silence proves
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import nodes

from rolecall.watches import Play, Watch
from rolecall_base.purity import FILE_VARIABLES, Used, asks_elsewhere, purity_of
from rolecall_dev.checks.expressions import Expression, expressions_of
from rolecall_dev.sources import Findings, Line, Sources, Task, files_named, is_play, roles_named

_HINT = "let the role do without it, or remove `skipUnchanged`"
_COLLECTIONS = ("operator_sdk.util", "rolecall.operator", "kubernetes.core")
_LOCAL = ("localhost", "127.0.0.1", "{{ inventory_hostname }}")
_LOOKUPS = ("lookup", "query", "q")
_BY_ANY_NAME = "requeue_after"
_GATHERS = "facts of the machine are gathered at the start of each run"
# The places where a project may turn off the gathering of facts.
_TEXTS = ("config/manager", "config/default", "ansible.cfg", "Dockerfile")

_Impurity = tuple[str, Line | int, str]  # file, line, what is not pure there


def check_never_skipped(
    watches: Sequence[Watch], sources: Sources, gathering: str, file: str, findings: Findings
) -> None:
    """`file`: the one that the watches are in; `gathering`: what ANSIBLE_GATHERING says here."""
    reported: set[tuple[str, int]] = set()
    for watch in (each for each in watches if each.has_optional_runs):
        reached = Reached(watch.play, sources)
        for where, line, what in _all(watch, reached, sources, gathering, file):
            if (where, int(line)) not in reported:
                reported.add((where, int(line)))
                effect = f"a run of {watch.gvk.kind} that does this is never skipped"
                findings.warn(where, line, f"{what}: {effect}", hint=_HINT)


def _all(
    watch: Watch, reached: Reached, sources: Sources, gathering: str, file: str
) -> Iterator[_Impurity]:
    if watch.play.is_role and not _gathers_nothing(sources.cwd, gathering):
        yield file, watch.line, f"{_GATHERS} unless ANSIBLE_GATHERING is `explicit`"
    for task in reached.tasks:
        for key, what in _of_task(task):
            yield *task.place(key), what
    for use in expressions_of(sources):
        if reached.has(use.file):
            yield from ((use.file, use.line(name), what) for name, what in _of_expression(use))


def _gathers_nothing(cwd: Path, gathering: str) -> bool:
    if gathering == "explicit":
        return True
    paths = [cwd / name for name in _TEXTS]
    files = [file for path in paths for file in (path.glob("*.y*ml") if path.is_dir() else [path])]
    texts = [file.read_text("utf-8", "replace") for file in files if file.is_file()]
    return any("gathering" in text.lower() and "explicit" in text for text in texts)


def _of_task(task: Task) -> Iterator[tuple[str, str]]:
    """Each key that is not pure, and why."""
    data = task.data
    if is_play(task):
        if data.get("gather_facts") is True:
            yield "gather_facts", _GATHERS
        return
    if data.get("async"):
        yield "async", "`async` leaves a job in the background"
    if data.get("become") is True:
        yield "become", "`become` changes the user"
    elsewhere = data.get("delegate_to")
    if isinstance(elsewhere, str) and elsewhere not in _LOCAL and "{{" not in elsewhere:
        yield "delegate_to", "the task runs on another machine"
    for key in data:
        if str(key).startswith("with_"):
            yield from ((key, why) for why in _why(Used.LOOKUP, str(key)[len("with_") :]))
    if task.module and "role" not in data and "roles" not in data and "{{" not in task.module:
        yield from ((task.module, why) for why in _of_module(task))


def _of_module(task: Task) -> Iterator[str]:
    if task.short == _BY_ANY_NAME:
        yield f"`{_BY_ANY_NAME}` asks for another run"
    elif task.short.startswith("k8s"):
        given = {name for name, value in task.named_arguments.items() if _is_plain(value)}
        if argument := asks_elsewhere(given):
            yield f"`{task.module}` with `{argument}` may ask another API server"
    yield from _why(Used.ACTION, task.module)


def _of_expression(use: Expression) -> Iterator[tuple[str, str]]:
    """Each name that is not pure, and why."""
    found = use.template
    named = [(Used.FILTER, each.name) for each in found.find_all(nodes.Filter)]
    named += [(Used.TEST, each.name) for each in found.find_all(nodes.Test)]
    for call in found.find_all(nodes.Call):
        name = call.node.name if isinstance(call.node, nodes.Name) else ""
        if name in ("now", "lipsum"):
            named.append((Used.FUNCTION, name))
        elif name in _LOOKUPS and call.args and isinstance(call.args[0], nodes.Const):
            named.append((Used.LOOKUP, str(call.args[0].value)))
    for used, name in named:
        yield from ((name, why) for why in _why(used, name))
    for each in found.find_all(nodes.Name):
        if each.name in FILE_VARIABLES:
            yield each.name, f"`{each.name}` depends on a file or the time"


def _why(used: Used, name: str) -> list[str]:
    """Why it is not pure; nothing where it is, or may be."""
    if used is Used.LOOKUP and name.rpartition(".")[2] == "env":
        return []  # the variable is an input
    names = [name] if "." in name else [name, *(f"{each}.{name}" for each in _COLLECTIONS)]
    if any(purity_of(used, each).is_pure for each in names):
        return []
    return [
        f"{used.value} `{name.removeprefix('ansible.builtin.')}` {purity_of(used, name).reason}"
    ]


def _is_plain(value: Any) -> bool:
    """Not the engine's own kubeconfig, which templates may name."""
    return bool(value) and "{{" not in str(value)


# What a watch's own play reaches of a project: its files, and the roles that it names.


class Reached:
    """Roles by what names them, however often removed; a name in a variable is not followed."""

    def __init__(self, play: Play, sources: Sources) -> None:
        self._sources = sources
        self._places: list[Path] = []  # folders of roles, and files
        self._add(play.path)
        self.tasks = [task for task in sources.tasks if self.has(task.document.file)]

    def has(self, file: str) -> bool:
        """Whether a file is reached; `file`: as messages name it."""
        path = self._sources.cwd / file
        return any(path.is_relative_to(place) for place in self._places)

    def files(self) -> Iterator[Path]:
        """All files that are reached, those of templates, too."""
        for place in self._places:
            found = place.rglob("*") if place.is_dir() else [place]
            yield from (file for file in found if file.is_file())

    def _add(self, place: Path) -> None:
        if place in self._places:
            return
        self._places.append(place)
        for task in self._sources.tasks:
            path = self._sources.cwd / task.document.file
            if path.is_relative_to(place):
                for role in roles_named(task):
                    self._add_role(role)
                for name in files_named(task):
                    self._add(Path(os.path.normpath(path.parent / name)))

    def _add_role(self, name: str) -> None:
        for role in self._sources.roles:
            if role.name == name.rpartition(".")[2]:
                self._add(role)
