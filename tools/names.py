"""A public name means one thing: no class or constant of the engine is defined in two places.

    .venv/bin/python -m tools.names          (part of `make check`)

Functions may repeat where they are local to a module (`main`, `add_parser`), but not where a room
exports them: who reads `write_kubeconfig` should not have to look up of which room. A Protocol and
what implements it have two names, too, since both are read in the same file sooner or later.
Names that begin with an underscore are their module's own. A type variable means nothing by itself.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = tuple(ROOT / folder / "src" for folder in (".", "base", "warm", "dev"))
# The collections that roles use: Ansible names what is in them, and so does the Go operator.
NOT_OURS = "collections"


def places(source: Path) -> Iterator[tuple[str, str]]:
    """Each public name below a folder, with the place that defines it."""
    for path in sorted(source.rglob("*.py")):
        inside = path.relative_to(source)
        if NOT_OURS in inside.parts:
            continue
        exported = exports(path.parent / "__init__.py")
        for name, line in definitions(ast.parse(path.read_text()), exported):
            yield name, f"{inside}:{line}"


def definitions(module: ast.Module, exported: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Classes and constants of a module, and those of its functions that its room exports."""
    for node in module.body:
        for name in names_of(node, exported):
            if not name.startswith("_"):
                yield name, node.lineno


def names_of(node: ast.stmt, exported: frozenset[str]) -> list[str]:
    match node:
        case ast.ClassDef(name=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name] if name in exported and not is_overload(node) else []
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"))):
            return []
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it only declares another signature of a function."""
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list)


def exports(package: Path) -> frozenset[str]:
    """What `__all__` of a package says."""
    if not package.exists():
        return frozenset()
    for node in ast.parse(package.read_text()).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return frozenset(ast.literal_eval(value))
    return frozenset()


def faults(found: Mapping[str, list[str]]) -> list[str]:
    """One line for each name of two meanings."""
    return [
        f"{name} is defined in {' and in '.join(where)}; give each a name of its own"
        for name, where in sorted(found.items())
        if len(where) > 1
    ]


def found(*sources: Path) -> dict[str, list[str]]:
    collected = defaultdict(list)
    for source in sources:
        for name, place in places(source):
            collected[name].append(place)
    return collected


def main() -> int:
    lines = faults(found(*SOURCES))
    print("\n".join(lines))
    return len(lines)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
