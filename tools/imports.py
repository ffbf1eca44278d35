"""Which module uses which, from the code alone: a name that a room exports leads to who defines it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path


class Package:
    """The modules of a package, and of more that belong to it, by their dotted names."""

    def __init__(self, folder: Path, *more: Path) -> None:
        self.root = folder.name
        self.files = {name: path for each in (folder, *more) for name, path in _modules(each)}
        self._trees: dict[str, ast.Module] = {}

    def uses(self, module: str) -> frozenset[str]:
        """The modules of this package that define what a module imports."""
        return self._uses[module]

    def strings(self, module: str) -> frozenset[str]:
        """The texts that stand in a module."""
        nodes = ast.walk(self._tree(module))
        texts = (node.value for node in nodes if isinstance(node, ast.Constant))
        return frozenset(text for text in texts if isinstance(text, str))

    def _tree(self, module: str) -> ast.Module:
        """Read once: a room's `__init__` is asked for each name that comes from it."""
        if module not in self._trees:
            self._trees[module] = ast.parse(self.files[module].read_text())
        return self._trees[module]

    @cached_property
    def _uses(self) -> dict[str, frozenset[str]]:
        return {
            module: frozenset(self._origin(*name) for name in self._imported(module)) - {module}
            for module in self.files
        }

    def _imported(self, module: str) -> Iterator[tuple[str, str]]:
        """Each imported name with the module that it is imported from."""
        for node in ast.walk(self._tree(module)):
            if isinstance(node, ast.ImportFrom) and node.module in self.files:
                yield from ((str(node.module), alias.name) for alias in node.names)

    def _origin(self, module: str, name: str) -> str:
        """The module that defines it; `__init__` modules pass on what they import."""
        if f"{module}.{name}" in self.files:
            return f"{module}.{name}"
        if self.files[module].name == "__init__.py":
            for node in self._tree(module).body:
                if isinstance(node, ast.ImportFrom) and node.module in self.files:
                    for alias in node.names:
                        if name == (alias.asname or alias.name):
                            return self._origin(str(node.module), alias.name)
        return module


def _modules(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path
