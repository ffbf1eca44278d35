"""Finding Pythons: what is started counts, not what lies on PATH."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import pythons


def put(path: Path, says: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """An environment in which no Python of this machine is found."""
    return {name: str(tmp_path / name) for name, _, _ in pythons.MANAGERS} | {
        "PATH": f"{tmp_path / 'shims'}:{tmp_path / 'bin'}"
    }


def test_machine_without_any_has_none(machine: dict[str, str]) -> None:
    assert pythons.find_pythons(machine) == {}


def test_shim_without_a_version_behind_it_is_passed_over(
    machine: dict[str, str], tmp_path: Path
) -> None:
    put(tmp_path / "shims" / "python3.12", "echo 'command not found' >&2; exit 127")
    put(tmp_path / "bin" / "python3.12", "echo 3.12.4 /usr/bin/python3.12")
    assert pythons.find_pythons(machine) == {"3.12": "/usr/bin/python3.12"}


def test_shim_is_not_taken_for_what_is_behind_it(machine: dict[str, str], tmp_path: Path) -> None:
    put(tmp_path / "shims" / "python3.13", "echo 3.13.1 /versions/3.13.1/bin/python")
    assert pythons.find_pythons(machine) == {"3.13": "/versions/3.13.1/bin/python"}


def test_managers_give_the_newest_patch_release_and_path_goes_first(
    machine: dict[str, str], tmp_path: Path
) -> None:
    for version in ("3.13.9", "3.13.10", "3.10.1", "3.14.0"):
        folder = tmp_path / "PYENV_ROOT" / "versions" / version / "bin"
        put(folder / "python3", f"echo {version} {folder}/python3")
    put(tmp_path / "bin" / "python3.14", "echo 3.14.2 /usr/bin/python3.14")
    found = pythons.find_pythons(machine)
    assert list(found) == ["3.13", "3.14"]
    assert "/3.13.10/" in found["3.13"]
    assert found["3.14"] == "/usr/bin/python3.14"


def test_python_that_is_named_is_asked_for_its_version(tmp_path: Path) -> None:
    mine = put(tmp_path / "mine", f"echo 3.12.9 {tmp_path}/mine")
    assert pythons.named_pythons([mine, str(tmp_path / "gone")]) == {"3.12": mine}
