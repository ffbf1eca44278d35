"""A name of two meanings is found."""

from __future__ import annotations

from pathlib import Path

from tools import names


def faults(source: Path, **modules: str) -> list[str]:
    """What is said of a package with these modules."""
    for name, text in modules.items():
        path = source / "engine" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return names.faults(names.found(source))


def test_class_of_two_modules_is_reported_with_both_places(tmp_path: Path) -> None:
    said = faults(tmp_path, a="class Limits: ...", b="import os\n\nclass Limits: ...")
    assert said == [
        "Limits is defined in engine/a.py:1 and in engine/b.py:3; give each a name of its own"
    ]


def test_constant_and_class_are_distinguished_by_name_too(tmp_path: Path) -> None:
    assert faults(tmp_path, a="class Key: ...", b="Key = str | int")
    assert faults(tmp_path, a="LIMIT: int = 1", b="LIMIT = 2")


def test_what_is_private_to_a_module_may_repeat(tmp_path: Path) -> None:
    assert not faults(tmp_path, a="_log = 1\nclass _Held: ...", b="_log = 1\nclass _Held: ...")


def test_function_may_repeat_unless_its_room_exports_it(tmp_path: Path) -> None:
    exporting = 'from engine.room.a import main\n\n__all__ = ["main"]'
    one = {"room/a": "def main(): ...", "other/a": "def main(): ..."}
    assert not faults(tmp_path, **one)
    assert not faults(tmp_path, **{"room/__init__": exporting})
    assert faults(tmp_path, **{"other/__init__": exporting})


def test_type_variables_and_what_is_only_imported_do_not_count(tmp_path: Path) -> None:
    text = 'from typing import TypeVar\nfrom engine.c import Kind\n\nT = TypeVar("T")'
    assert not faults(tmp_path, a=text, b=text, c="class Kind: ...")
