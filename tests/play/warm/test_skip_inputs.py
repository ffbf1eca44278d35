"""Each way in which a play can read a file, at each place, times what can happen to the file.

Each cell shows a run: the play is called impure, or it failed, or the digest of its project changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from rolecall.clock import SystemClock
from rolecall.extensions.skip import ProjectDigests
from rolecall.runner import inputs_of
from rolecall.settings import RunnerSettings
from rolecall.watches import Play
from tests.play.warm.runs import Workshop, workshop

_COLLECTIONS = Path(__file__).parents[3] / ".collections"


def debug(text: str) -> dict[str, Any]:
    return {"ansible.builtin.debug": {"msg": text}}


def looked_up(terms: str) -> Callable[[str], dict[str, Any]]:
    return lambda path: debug("{{ lookup(" + terms.replace("PATH", path) + ") }}")


def task(action: str, argument: str, **more: Any) -> Callable[[str], dict[str, Any]]:
    return lambda path: {action: {argument: path, **more}}


# How a play reads the file PATH; `FOLDER` is the one that it is in.
WAYS: dict[str, Callable[[str], dict[str, Any]]] = {
    "file": looked_up("'file', 'PATH'"),
    "file, errors ignored": looked_up("'file', 'PATH', errors='ignore'"),
    "file, errors warned of": looked_up("'ansible.builtin.file', 'PATH', errors='warn'"),
    "two files": looked_up("'file', 'main.yml', 'PATH', errors='ignore'"),
    "template": looked_up("'template', 'PATH', errors='ignore'"),
    "unvault": looked_up("'unvault', 'PATH', errors='ignore'"),
    "csvfile": looked_up("'csvfile', 'k', file='PATH', errors='ignore'"),
    "csvfile in its term": looked_up("'csvfile', 'k file=PATH', errors='ignore'"),
    "ini": looked_up("'ini', 'k', section='s', file='PATH', errors='ignore'"),
    "fileglob": looked_up("'fileglob', 'PATH*'"),
    "with_fileglob": lambda path: {**debug("{{ item }}"), "with_fileglob": [f"{path}*"]},
    "the filter fileglob": lambda path: debug("{{ '" + path + "*' | fileglob }}"),
    "first_found": looked_up("'first_found', ['PATH', 'main.yml'], errors='ignore'"),
    "first_found by paths": looked_up(
        "'first_found', {'files': ['NAME'], 'paths': ['FOLDER'], 'skip': true}"
    ),
    "include_vars": task("ansible.builtin.include_vars", "file"),
    "include_vars by its name": lambda path: {"ansible.builtin.include_vars": path},
    "include_vars of a folder": lambda path: {
        "ansible.builtin.include_vars": {"dir": path.rpartition("/")[0] or "../files"}
    },
    "include_tasks": task("ansible.builtin.include_tasks", "file"),
    "k8s by src": task("kubernetes.core.k8s", "src"),
    "k8s by template": task("kubernetes.core.k8s", "template"),
    "k8s by templates": lambda path: {"kubernetes.core.k8s": {"template": [{"path": path}]}},
    "stat": task("ansible.builtin.stat", "path"),
    "slurp": task("ansible.builtin.slurp", "src"),
    "find": lambda path: {"ansible.builtin.find": {"paths": path.rpartition("/")[0] or "."}},
    "copy": task("ansible.builtin.copy", "src", dest="/nowhere/x"),
    "a test": lambda path: {**debug("x"), "when": f"'{path}' is exists"},
    "the filter realpath": lambda path: debug("{{ '" + path + "' | realpath }}"),
    "a program": lambda path: {"ansible.builtin.command": f"cat {path}"},
    "a program of a lookup": looked_up("'pipe', 'cat PATH'"),
}
NEEDS_OTHER_TEXT = {
    "include_tasks": "- ansible.builtin.debug: {msg: TEXT}\n",
    "ini": "[s]\nk=TEXT\n",
}
CHANGES = ("appears", "changes", "disappears", "becomes unreadable")


@dataclass(frozen=True)
class Place:
    """Where the file is, and how a task names it."""

    folder: Path
    name: str
    path: str


@contextmanager
def place_of(where: str, role: Path, folder: Path) -> Iterator[Place]:
    """The place; what was made of it on the machine is taken away."""
    word = f"rolecall-{uuid4().hex[:8]}"
    machine = {
        "below /dev/shm": Path("/dev/shm") / word,
        "below /etc/ssl": Path("/etc/ssl") / word,
        "below /etc/pki": Path("/etc/pki") / word,
        "below /var/run/secrets": Path("/var/run/secrets/kubernetes.io") / word,
        "below /usr": Path("/usr/share") / word,
        "below /proc": Path("/proc") / word,
        "below the temporary folder": Path("/tmp/ansible-") / word,
    }
    if where in machine:
        made = machine[where]
        try:
            yield Place(made, "in.yml", f"{made}/in.yml")
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return
    yield {
        "a file of the role": Place(role / "files", "in.yml", "in.yml"),
        "by the role's path": Place(role / "data", "in.yml", f"{role}/tasks/../data/in.yml"),
        "beside the role": Place(
            role.parent / "other" / "files", "in.yml", f"{role.parent}/other/files/in.yml"
        ),
        "above the role": Place(role.parent.parent / "above", "in.yml", "../../../above/in.yml"),
        "outside": Place(folder / "outside", "in.yml", f"{folder}/outside/in.yml"),
        "hidden": Place(role / "files", ".in.yml", f"{role}/files/.in.yml"),
        "left by an editor": Place(role / "files", "in.yml~", f"{role}/files/in.yml~"),
    }[where]


FEW = (
    "file, errors ignored",
    "fileglob",
    "first_found",
    "include_vars",
    "include_vars of a folder",
)
PLACES = (
    "a file of the role",
    "outside",
    "below /dev/shm",
    "by the role's path",
    "beside the role",
    "above the role",
    "hidden",
    "left by an editor",
    "below /etc/ssl",
    "below /etc/pki",
    "below /var/run/secrets",
    "below /usr",
    "below /proc",
    "below the temporary folder",
)


@pytest.mark.parametrize(
    "where", ["a file of the role", pytest.param("outside", marks=pytest.mark.nightly)]
)
async def test_change_of_a_file_that_was_read_brings_a_run(tmp_path: Path, where: str) -> None:
    verdicts = await verdicts_of(tmp_path, where, FEW)
    assert {cell: why for cell, why in verdicts.items() if not why} == {}
    if where == "a file of the role":  # or nothing were ever skipped
        assert list(verdicts.values()).count("digest") >= 10


@pytest.mark.nightly
@pytest.mark.parametrize("where", PLACES)
async def test_change_of_any_input_brings_a_run(tmp_path: Path, where: str) -> None:
    verdicts = await verdicts_of(tmp_path, where, tuple(WAYS))
    assert len(verdicts) == len(WAYS) * len(CHANGES) >= 100
    assert {cell: why for cell, why in verdicts.items() if not why} == {}


async def verdicts_of(folder: Path, where: str, ways: tuple[str, ...]) -> dict[str, str]:
    """Of each cell why a run follows: `impure`, `failed`, `digest`; empty: it would be skipped."""
    verdicts: dict[str, str] = {}
    async with workshop(folder, collections_path=str(_COLLECTIONS)) as shop:
        for number, way in enumerate(ways):
            role = folder / "roles" / f"role{number}"
            with place_of(where, role, folder / str(number)) as place:
                for changes in (CHANGES[:1], CHANGES[1:]):
                    said = await _brought(shop, role, place, way, changes)
                    verdicts |= {f"{way}: {change}": why for change, why in said.items()}
    return verdicts


async def _brought(
    shop: Workshop, role: Path, place: Place, way: str, changes: tuple[str, ...]
) -> dict[str, str]:
    text = NEEDS_OTHER_TEXT.get(way, "k: TEXT\n")
    about = _filled(WAYS[way](place.path), place)
    shop.role(role.name, [{"name": way, "ignore_errors": True, **about}])
    file = place.folder / place.name
    is_there = changes != CHANGES[:1]
    with suppress(OSError):  # this machine has no such place: the path is judged all the same
        place.folder.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if is_there:
            file.write_text(text.replace("TEXT", "1"))
    digests = ProjectDigests(lambda play: inputs_of(play, RunnerSettings()), SystemClock())
    play = Play(role, is_role=True)
    before = digests.look(play)
    result = await shop.run(role)
    if result.impure or not result.succeeded:
        return dict.fromkeys(changes, "impure" if result.impure else "failed")
    verdicts = {}
    for change in changes:
        file.unlink(missing_ok=True)
        if change in ("appears", "changes"):
            file.write_text(text.replace("TEXT", "2"))
        elif change == "becomes unreadable":
            file.symlink_to(file)
        after = digests.look(play)
        verdicts[change] = "digest" if not after or after != before else ""
    file.unlink(missing_ok=True)
    return verdicts


def _filled(about: Any, place: Place) -> Any:
    if isinstance(about, dict):
        return {key: _filled(value, place) for key, value in about.items()}
    folder = place.path.rpartition("/")[0] or "files"
    return (
        about.replace("FOLDER", folder).replace("NAME", place.name)
        if isinstance(about, str)
        else about
    )
