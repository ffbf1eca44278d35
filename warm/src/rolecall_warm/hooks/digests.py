"""A digest of each function that the hooks rely on: of its code, so that comments may change.

Nothing is imported to take one: the files are found and parsed. What is taken from the syntax tree is
what runs: no comments, no docstrings, no annotations of functions, and nothing that one Python's parser
writes down and another's does not. Rejected: hashing bytecode, which differs with each Python.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_KNOWN = Path(__file__).with_name("digests.json")
_VERSION = re.compile(r"^__version__ *= *['\"]([^'\"]+)", re.MULTILINE)
# Where a name is in the source, not what it does.
_PLACES = frozenset(
    {"lineno", "col_offset", "end_lineno", "end_col_offset", "type_comment", "kind"}
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef)


def known_digests() -> dict[str, dict[str, str]]:
    """By label: the digests that were read, each with the ansible-cores that have it."""
    known: dict[str, dict[str, str]] = json.loads(_KNOWN.read_text(encoding="utf-8"))
    return known


def version_of_core() -> str:
    """The version of the installed ansible-core; empty where there is none."""
    path = file_of("ansible.release")
    found = _VERSION.search(path.read_text(encoding="utf-8")) if path else None
    return found[1] if found else ""


def digests_of(labels: Iterable[str]) -> dict[str, str]:
    """The digest behind each `module:name`; empty where that is gone."""
    found = {}
    for label in labels:
        module, _, name = label.partition(":")
        node = _node(_tree(module), name)
        found[label] = "" if node is None else digest_of(node)
    return found


def digest_of(node: ast.AST) -> str:
    """Sixteen letters that stand for what this piece of code does."""
    return hashlib.sha256("\n".join(_said(node)).encode()).hexdigest()[:16]


def file_of(module: str) -> Path | None:
    """The file of a module, found without importing anything, not even the packages around it."""
    package, *below = module.split(".")
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder, *below)
        for candidate in (path.with_suffix(".py"), path / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None


@functools.cache
def _tree(module: str) -> ast.Module | None:
    path = file_of(module)
    if path is None:
        return None
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError:  # written for another Python than this one
        return None


def _node(tree: ast.AST | None, name: str) -> ast.AST | None:
    node = tree
    for part in name.split("."):
        node = next(
            (
                child
                for child in getattr(node, "body", ())
                if isinstance(child, _DOCUMENTED) and child.name == part
            ),
            None,
        )
    return node


def _said(value: Any) -> Iterator[str]:
    if isinstance(value, ast.AST):
        yield f"({type(value).__name__}"
        for name, field in ast.iter_fields(value):
            if _counts(value, name, field):
                yield name
                yield from _said(_without_docstring(value) if name == "body" else field)
        yield ")"
    elif isinstance(value, list):
        for item in value:
            yield from _said(item)
        yield ";"
    else:
        yield repr(value)


def _counts(node: ast.AST, name: str, field: Any) -> bool:
    """Whether a part of the tree is about what happens."""
    if name in _PLACES or field is None or field == []:
        return False
    if isinstance(node, ast.arg) and name == "annotation":
        return False
    return not (isinstance(node, _FUNCTIONS) and name in ("returns", "type_params"))


def _without_docstring(node: Any) -> Any:
    body = node.body
    if not isinstance(node, _DOCUMENTED) or not isinstance(body, list):
        return body
    match body[0]:
        case ast.Expr(value=ast.Constant(value=str())):
            return body[1:]
    return body
