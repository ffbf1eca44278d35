"""What the host parsed ahead stands for the same text of the same file, once in a process."""

from __future__ import annotations

import glob
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rolecall_warm.hooks import plugin_folders
from rolecall_warm.hooks.parsed_files import ParsedFiles


class Parsing:
    """A loader's `load` that counts how often it parsed, and what it says then."""

    def __init__(self) -> None:
        self.count = 0
        self.words = ""
        self.parsed = ParsedFiles(lambda _text: None, self)

    def display(self, _words: str) -> None:
        """As Ansible's Display."""

    def load(self, text: str, file: str = "main.yml") -> Any:
        return self.parsed.load(self._parse, None, data=text, file_name=file)

    def loading(self, text: str) -> list[Callable[[], object]]:
        return [lambda: self.load(text)]

    def _parse(self, _loader: None, data: str, file_name: str) -> list[str]:
        self.count += 1
        if self.words:
            self.display(self.words)
        return [data, file_name]


@pytest.fixture
def parsing() -> Parsing:
    return Parsing()


def test_same_text_of_same_file_is_not_parsed_again_but_once(parsing: Parsing) -> None:
    parsing.parsed.keep("role", parsing.loading("a"))
    first, second = parsing.load("a"), parsing.load("a")
    assert first == second == ["a", "main.yml"]
    assert first is not second
    assert parsing.count == 2


def test_changed_text_or_other_file_is_parsed(parsing: Parsing) -> None:
    parsing.parsed.keep("role", parsing.loading("a"))
    assert parsing.load("b") == ["b", "main.yml"]
    assert parsing.load("a", "other.yml") == ["a", "other.yml"]


@pytest.mark.parametrize("text", ["a: !vault |\n  x", "$ANSIBLE_VAULT;1.1;AES256\n61"])
def test_encrypted_text_is_not_kept(parsing: Parsing, text: str) -> None:
    parsing.parsed.keep("role", parsing.loading(text))
    parsing.load(text)
    assert parsing.count == 2


def test_warning_about_a_file_is_said_in_each_run(parsing: Parsing) -> None:
    parsing.words = "duplicate key"
    parsing.parsed.keep("role", parsing.loading("a"))
    parsing.load("a")
    assert parsing.count == 2


def test_role_that_is_read_again_replaces_what_was_kept(parsing: Parsing) -> None:
    parsing.parsed.keep("role", parsing.loading("a"))
    parsing.parsed.keep("role", parsing.loading("b"))
    parsing.load("b")
    assert parsing.count == 2
    parsing.load("a")
    assert parsing.count == 3


def test_plugin_folders_are_found_as_glob_finds_them(tmp_path: Path) -> None:
    for name in ("there/sub/plugin.py", "[odd]/plugin.py", "file"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for folder in ("there", "[odd]", "file", "gone", "th*", ""):
        for pattern in (f"{tmp_path}/{folder}/*", f"{tmp_path}/{folder}/*/*", f"{folder}/*.py"):
            assert plugin_folders.glob(pattern) == glob.glob(pattern)  # noqa: PTH207
