"""Three rules of ours for import-linter, beside its layers (see `.importlinter`).

`rooms`  other rooms import a room as a whole: the package, never a module inside it.
         New rooms are under the rule from their first import.
`cycles` no module imports itself over others, also not for its types alone: who reads one of a
         circle has to read them all.
`only`   one room alone may import a library, so that the rest does not depend on how it behaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

# Its modules are imported one by one, so that a command starts fast.
COMMAND_LINE = "rolecall.cli"


class RoomsContract(Contract):
    """No import from one room into the inside of another."""

    roots = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002  (not ours to choose)
        """Every import between two rooms ends at a package."""
        roots = [str(root) for root in _values(self.roots)]
        faults = sorted(
            (importer, imported)
            for root in roots
            for importer in graph.find_descendants(root)
            for imported in graph.find_modules_directly_imported_by(importer)
            if imported.partition(".")[0] in roots
            if _room(imported) not in (imported, _room(importer))
            if not (_is_command(importer) and _room(imported) == COMMAND_LINE)
        )
        return ContractCheck(kept=not faults, metadata={"faults": faults})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per import, with what to import instead."""
        for importer, imported in check.metadata["faults"]:
            output.print_error(f"{importer} imports {imported}", bold=False)
            output.print_error(f"  export it from {_room(imported)}", bold=False)


class CyclesContract(Contract):
    """No circle of imports between modules. (Layers see those between rooms alone.)"""

    roots = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002  (not ours to choose)
        """Every circle is shown once, by its shortest way."""
        roots = [str(root) for root in _values(self.roots)]
        circles = {
            tuple(_turned(way))
            for root in roots
            for importer in graph.find_descendants(root) | {root}
            for imported in graph.find_modules_directly_imported_by(importer)
            if imported.partition(".")[0] in roots
            if (way := graph.find_shortest_chain(imported, importer))
        }
        return ContractCheck(kept=not circles, metadata={"faults": sorted(circles)})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line per circle."""
        for circle in check.metadata["faults"]:
            output.print_error(" imports ".join((*circle, circle[0])), bold=False)
        output.print_error("  move what both need into a module below them", bold=False)


class OnlyContract(Contract):
    """Libraries that only the named rooms may import."""

    who = fields.ListField(subfield=fields.StringField())
    libraries = fields.ListField(subfield=fields.StringField())
    why = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002  (not ours to choose)
        """All importers of a library are of one of the rooms."""
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


def _turned(circle: Sequence[str]) -> Sequence[str]:
    """The same circle, begun at its first name."""
    first = circle.index(min(circle))
    return [*circle[first:], *circle[:first]]


def _is_command(module: str) -> bool:
    """Whether a module is a command of an extension, which prints as all commands do."""
    return ".extensions." in module and any(
        part.startswith("command") for part in module.split(".")[3:]
    )


def _room(module: str) -> str:
    """The direct child of its root that a module belongs to; each extension is a room of its own."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1:2] == ["extensions"] else 2])
