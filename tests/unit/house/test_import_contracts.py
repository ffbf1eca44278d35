"""Our own rules for import-linter find what they are for."""

from __future__ import annotations

from typing import Any

import grimp
from importlinter import Contract
from tools.import_contracts import OnlyContract, RoomsContract


def graph(*imports: tuple[str, str]) -> grimp.ImportGraph:
    """Of a package `p`."""
    made = grimp.ImportGraph()
    for module in {"p", *(name for pair in imports for name in pair)}:
        made.add_module(module)
    for importer, imported in imports:
        made.add_import(importer=importer, imported=imported)
    return made


def faults(kind: type[Contract], made: grimp.ImportGraph, **options: object) -> list[Any]:
    contract = kind(name="it", session_options={}, contract_options=options)
    check = contract.check(made, False)
    assert check.kept is not bool(check.metadata["faults"])
    return list(check.metadata["faults"])


def test_door_of_a_room_may_be_imported() -> None:
    assert not faults(RoomsContract, graph(("p.a.inner", "p.b"), ("p.a.inner", "p.a.x")), root="p")


def test_inside_of_another_room_may_not() -> None:
    imports = graph(("p.a.inner", "p.b.inner"))
    assert faults(RoomsContract, imports, root="p") == [("p.a.inner", "p.b.inner")]


def test_top_level_module_is_no_exception() -> None:
    assert faults(RoomsContract, graph(("p.app", "p.b.inner")), root="p")


def test_only_the_named_room_may_import_the_library() -> None:
    imports = graph(("p.a.inner", "lib"), ("p.ab", "lib"))
    options = {"who": ["p.a"], "libraries": ["lib", "unused"], "why": "because"}
    assert faults(OnlyContract, imports, **options) == [("p.ab", "lib")]
