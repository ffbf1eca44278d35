"""Which modules of a package can be reached from some of them, as their imports say.

A name that is taken from a room counts for the module that defines it, not for all that
the package offers: otherwise nothing that is exported could ever be found idle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

Sources = Mapping[str, str]  # module -> its text; packages by their own name


def reach(sources: Sources, begin: Iterable[str]) -> set[str]:
    """These, what they import, and so on; of a package its `__init__` alone."""
    reached: set[str] = set()
    ahead = set(begin) & set(sources)
    while ahead:
        module = ahead.pop()
        reached.add(module)
        if module in begin or not _is_package(sources, module):
            ahead |= set(_imports(sources, module)) - reached
        ahead |= {module.rpartition(".")[0]} & set(sources) - reached
    return reached


def _imports(sources: Sources, module: str) -> Iterator[str]:
    for taken_from, name in _names(sources[module]):
        yield from _behind(sources, taken_from, name)


def _behind(sources: Sources, package: str, name: str) -> Iterator[str]:
    """The modules that a name of a package brings."""
    if package not in sources:
        return
    yield package
    if f"{package}.{name}" in sources:
        yield f"{package}.{name}"
    elif _is_package(sources, package):
        for taken_from, offered in _names(sources[package]):
            if offered == name:
                yield from _behind(sources, taken_from, offered)


def _is_package(sources: Sources, module: str) -> bool:
    return any(other.startswith(f"{module}.") for other in sources)


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Where from and what, but for imports that only the type checker sees."""
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=str(package), names=names):
                yield from ((package, alias.name) for alias in names)
        waiting.extend(ast.iter_child_nodes(node))
