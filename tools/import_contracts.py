"""Two rules of ours for import-linter, beside its layers (see `.importlinter`).

`rooms`  a room is entered by its door: other rooms import the package, never a module inside it.
         New rooms are under the rule from their first import.
`only`   one room alone may import a library, so that the rest does not depend on how it behaves.
"""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class RoomsContract(Contract):
    """No import from one room into the inside of another."""

    root = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002  (not ours to choose)
        """Every import between two rooms ends at a door."""
        root = str(self.root)
        faults = sorted(
            (importer, imported)
            for importer in graph.find_descendants(root)
            for imported in graph.find_modules_directly_imported_by(importer)
            if _is_inside(imported, root) and _room(imported, root) != _room(importer, root)
        )
        return ContractCheck(kept=not faults, metadata={"faults": faults})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per import, with what to import instead."""
        for importer, imported in check.metadata["faults"]:
            output.print_error(f"{importer} imports {imported}", bold=False)
            output.print_error(f"  export it from {_room(imported, str(self.root))}", bold=False)


class OnlyContract(Contract):
    """Libraries that only the named rooms may import."""

    who = fields.ListField(subfield=fields.StringField())
    libraries = fields.ListField(subfield=fields.StringField())
    why = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002  (not ours to choose)
        """Everyone who imports a library is of one of the rooms."""
        allowed = tuple(str(room) for room in _values(self.who))
        faults = sorted(
            (importer, library)
            for library in (str(name) for name in _values(self.libraries))
            if library in graph.modules
            for importer in graph.find_modules_that_directly_import(library)
            if not any(importer == room or importer.startswith(f"{room}.") for room in allowed)
        )
        return ContractCheck(kept=not faults, metadata={"faults": faults})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per import, and why it is not wanted."""
        for importer, library in check.metadata["faults"]:
            output.print_error(f"{importer} imports {library}", bold=False)
        output.print_error(f"  {self.why}", bold=False)


def _values(field: Any) -> list[Any]:
    """At run time a field holds its value; its declared type is the field."""
    return list(field)


def _room(module: str, root: str) -> str:
    """The direct child of the root that a module belongs to."""
    return ".".join(module.split(".")[: root.count(".") + 2])


def _is_inside(module: str, root: str) -> bool:
    """Whether it is a module inside a room, not a room."""
    return module.startswith(f"{root}.") and module != _room(module, root)
