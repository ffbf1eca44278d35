"""The shape of the code: nothing too long to hold in the head, nothing private to one machine."""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.house.documents import ROOT

LONGEST_FUNCTION = 60
LONGEST_TEST_MODULE = 300
PACKAGES = (ROOT / "src" / "rolecall", ROOT / "dev" / "src" / "rolecall_dev")
SHIPPED_COLLECTION = ROOT / "src" / "rolecall" / "collections"


def own_files(suffixes: tuple[str, ...]) -> list[Path]:
    """What git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line for line in listed.stdout.splitlines() if line.endswith(suffixes))
    return [path for line in lines if (path := ROOT / line).is_file()]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.slow
def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}: {length(function)} lines"
        for path in own_files((".py",))
        if not path.is_relative_to(SHIPPED_COLLECTION)
        for function in functions(path)
        if length(function) > LONGEST_FUNCTION
    ]
    assert not long, "\n".join(long)


def test_no_test_module_is_longer_than_it_should_be() -> None:
    tests = [path for path in own_files((".py",)) if path.name.startswith("test_")]
    long = [str(path) for path in tests if len(path.read_text().splitlines()) > LONGEST_TEST_MODULE]
    assert not long, "\n".join(long)


def test_nothing_is_left_open_or_tied_to_one_machine() -> None:
    words = ("TODO", "FIXME", "XXX", "/root/", "/work/", "/tmp/probe")
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(words)})(?!\w)")
    suffixes = (".py", ".md", ".yaml", ".yml", ".toml", ".txt", "Makefile", "Dockerfile")
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1} {match[0]}"
        for path in own_files(suffixes)
        if path != Path(__file__)
        for text in [path.read_text()]
        for match in pattern.finditer(text)
    ]
    assert not found, "\n".join(found)


def test_lock_files_name_no_host() -> None:
    for path in (ROOT / "lock").rglob("*.*"):
        assert "://" not in path.read_text(), path.name


def test_every_room_has_its_place_in_the_layers() -> None:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    for contract, package in (("layers", PACKAGES[0]), ("developers-layers", PACKAGES[1])):
        layers = parser[f"importlinter:contract:{contract}"]["layers"]
        placed = set(re.findall(r"\((\w+)\)", layers))
        rooms = {path.parent.name for path in package.glob("*/__init__.py")}
        modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
        assert (rooms | modules) - placed == set()


def test_every_room_exports_by_name() -> None:
    patterns = ("*/__init__.py", "extensions/*/__init__.py")
    every = [path for package in PACKAGES for each in patterns for path in package.glob(each)]
    packages = [path for path in every if path.parent.name not in ("cli", "extensions")]
    silent = [path.parent.name for path in packages if "__all__" not in path.read_text()]
    assert not silent


def test_no_file_holds_an_unfinished_merge() -> None:
    marks = ["git", "grep", "-lE", "^(<<<<<<<|>>>>>>>) "]
    found = subprocess.run(marks, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == ""
