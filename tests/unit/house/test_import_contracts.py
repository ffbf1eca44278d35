"""Our own rules for import-linter find what they are for."""

from __future__ import annotations

from typing import Any

import grimp
from importlinter import Contract
from tools.import_contracts import CyclesContract, OnlyContract, RoomsContract


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


def test_room_may_be_imported_as_a_whole() -> None:
    assert not faults(
        RoomsContract, graph(("p.a.inner", "p.b"), ("p.a.inner", "p.a.x")), roots=["p"]
    )


def test_inside_of_another_room_may_not() -> None:
    imports = graph(("p.a.inner", "p.b.inner"))
    assert faults(RoomsContract, imports, roots=["p"]) == [("p.a.inner", "p.b.inner")]


def test_top_level_module_is_no_exception() -> None:
    assert faults(RoomsContract, graph(("p.app", "p.b.inner")), roots=["p"])


def test_only_the_named_room_may_import_the_library() -> None:
    imports = graph(("p.a.inner", "lib"), ("p.ab", "lib"))
    options = {"who": ["p.a"], "libraries": ["lib", "unused"], "why": "because"}
    assert faults(OnlyContract, imports, **options) == [("p.ab", "lib")]


def test_import_cycle_is_reported_once() -> None:
    circle = (("p.a.x", "p.a.y"), ("p.a.y", "p.a.z"), ("p.a.z", "p.a.x"), ("p.b", "p.a.x"))
    assert faults(CyclesContract, graph(*circle), roots=["p"]) == [("p.a.x", "p.a.y", "p.a.z")]


def test_room_that_is_entered_from_within_is_a_circle() -> None:
    imports = graph(("p.a", "p.a.x"), ("p.a.x", "p.a"))
    assert faults(CyclesContract, imports, roots=["p"]) == [("p.a", "p.a.x")]


def test_modules_in_a_line_are_no_circle() -> None:
    assert not faults(
        CyclesContract, graph(("p.a", "p.b"), ("p.b", "p.c"), ("p.a", "p.c")), roots=["p"]
    )
