"""All mutants of a module: where each is, what it changes, and a name that outlives moved lines."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType

from tools.mutants.changes import is_for_people, is_left_out, replacements

IS_FUNCTION = 0x1  # CO_OPTIMIZED: neither a module nor the body of a class


@dataclass(frozen=True)
class Name:
    """What a mutant is called where people argue about it."""

    where: str  # status/writer.py::StatusWriter.write
    before: str
    after: str
    # Which one of those that read the same, from 1 on.
    number: int = 1


@dataclass(frozen=True)
class Mutant:
    path: Path
    name: Name
    # Of the statement's head: a test that ran one of these lines may notice.
    first_line: int
    last_line: int
    code: CodeType


@dataclass(frozen=True)
class Place:
    """A node, where it hangs, and what is around it."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    statement: ast.AST
    owner: str

    def put(self, node: ast.AST) -> None:
        """Have another node there."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants_of(path: Path, room: Path) -> Iterator[Mutant]:
    """Each mutant of one module that is other code at all, in the order of the text."""
    text = path.read_text()
    module = ast.parse(text)
    original = compile(module, str(path), "exec", dont_inherit=True)
    seen: Counter[Name] = Counter()
    for place in places(module, module, ""):
        for other in replacements(place.node):
            mutant = made(place, other, module, path)
            where = f"{path.relative_to(room.parent)}::{place.owner}".removesuffix("::")
            name = replace(mutant.name, where=where)
            seen[name] += 1
            if mutant.code != original:
                yield replace(mutant, name=replace(name, number=seen[name]))


def made(place: Place, other: ast.AST, module: ast.Module, path: Path) -> Mutant:
    """The mutant with another node in a place, which is as before afterwards."""
    before = head(place.statement)
    ast.fix_missing_locations(ast.copy_location(other, place.node))
    place.put(other)
    try:
        after = head(other if place.node is place.statement else place.statement)
        code = compile(module, str(path), "exec", dont_inherit=True)
    finally:
        place.put(place.node)
    first, last = lines(place.statement)
    return Mutant(path, Name("", before, after), first, last, code)


def places(node: ast.AST, statement: ast.AST, owner: str) -> Iterator[Place]:
    """Every node that may be changed below one."""
    for field, value in ast.iter_fields(node):
        if is_left_out(node, field):
            continue
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if not isinstance(child, ast.AST) or is_for_people(child, node):
                continue
            around = child if isinstance(child, ast.stmt | ast.excepthandler) else statement
            within = owned(child, owner)
            yield Place(
                node, field, index if isinstance(value, list) else None, child, around, within
            )
            yield from places(child, around, within)


def owned(node: ast.AST, owner: str) -> str:
    """The class or function that a node is or stands in."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{owner}.{node.name}".removeprefix(".")
    return owner


def head(statement: ast.AST) -> str:
    """A statement as one would write it, without what is indented below it."""
    bare = copy.copy(statement)
    for block in ("body", "orelse", "finalbody", "handlers", "decorator_list"):
        if isinstance(getattr(bare, block, None), list):
            setattr(bare, block, [])
    if isinstance(bare, ast.Match):
        bare.cases = []
    return ast.unparse(bare).strip()


def lines(statement: ast.AST) -> tuple[int, int]:
    first = getattr(statement, "lineno", 1)
    last = getattr(statement, "end_lineno", first)
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        last = max(first, body[0].lineno - 1)
    return first, last


def functions(code: CodeType) -> Iterator[CodeType]:
    """The outermost functions of a module's code: those of a class, too, but not what is in them."""
    for constant in code.co_consts:
        if not isinstance(constant, CodeType):
            continue
        if constant.co_flags & IS_FUNCTION:
            yield constant
        else:
            yield from functions(constant)


def identity(code: CodeType) -> tuple[str, str, int]:
    """By what a function's code is found in another compilation of the same text."""
    return code.co_filename, code.co_qualname, code.co_firstlineno
