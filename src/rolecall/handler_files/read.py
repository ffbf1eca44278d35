"""One file of handlers, read as a syntax tree: nothing of it is imported or run.

What is written plainly is found: `@kopf.on.create(...)` over a function, under whatever name kopf was
imported. Handlers that a loop registers are not; they work, and are named when they run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rolecall.handler_files.kinds import AskedKind, asked_kind

REVIEWING = ("validate", "mutate")  # asked by the API server before an object is stored
_EVERYTHING = "kopf.EVERYTHING"
# What decorators are called where they are imported by themselves, and in `kopf.on`.
_SHORT = {f"kopf.{name}": f"kopf.on.{name}" for name in ("daemon", "index", "timer")}


@dataclass(frozen=True, slots=True)
class KopfHandler:
    """One decorator over one function."""

    file: Path
    line: int  # of the decorator
    decorator: str  # `create`, `timer` ...
    function: str
    id: str
    kind: AskedKind | None = None  # None: it names none, or it cannot be read from the text
    is_of_all: bool = False  # of every kind
    # Of `validate` and `mutate`; empty: nothing that can be read from the text.
    operations: tuple[str, ...] = ()
    subresource: str = ""
    ignores_failures: bool = False


@dataclass(frozen=True, slots=True)
class HandlerFile:
    """What was found in one file."""

    file: Path
    handlers: tuple[KopfHandler, ...] = ()
    imports: tuple[tuple[int, str], ...] = ()  # lines and modules
    calls: tuple[tuple[int, str], ...] = ()  # what of kopf is called or set, beside decorators
    condition_lines: tuple[int, ...] = ()  # where `patch.status["conditions"]` is written
    fault: tuple[int, str] | None = None  # line, and why it cannot be read


def read_handlers(file: Path) -> HandlerFile:
    """Read one file; a file that cannot be read has a fault."""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except OSError as error:
        return HandlerFile(file, fault=(1, f"cannot be read: {error.strerror}"))
    except SyntaxError as error:
        return HandlerFile(file, fault=(error.lineno or 1, f"is not Python: {error.msg}"))
    except ValueError as error:  # a null byte
        return HandlerFile(file, fault=(1, f"is not Python: {error}"))
    reader = _Reader(file)
    reader.visit(tree)
    return HandlerFile(
        file,
        tuple(reader.handlers),
        tuple(reader.imports),
        tuple(reader.calls),
        tuple(reader.condition_lines),
    )


@dataclass(slots=True)
class _Reader(ast.NodeVisitor):
    file: Path
    handlers: list[KopfHandler] = field(default_factory=list)
    imports: list[tuple[int, str]] = field(default_factory=list)
    calls: list[tuple[int, str]] = field(default_factory=list)
    condition_lines: list[int] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)  # local names, and what they stand for
    _inside: list[str] = field(default_factory=list)

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self.imports.append((node.lineno, each.name))
            self._names[each.asname or each.name.partition(".")[0]] = (
                each.name if each.asname else each.name.partition(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module:
            self.imports.append((node.lineno, node.module))
            for each in node.names:
                self._names[each.asname or each.name] = f"{node.module}.{each.name}"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()

    def visit_Call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        if name.startswith("kopf."):
            self.calls.append((node.lineno, name))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._dotted(node)
        if isinstance(node.ctx, ast.Store) and name.startswith("settings."):
            self.calls.append((node.lineno, name))
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        is_conditions = isinstance(node.slice, ast.Constant) and node.slice.value == "conditions"
        if is_conditions and self._dotted(node.value) == "patch.status":
            self.condition_lines.append(node.lineno)
        self.generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        name = ".".join([*self._inside, node.name])
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                found = self._dotted(decorator.func)
                found = _SHORT.get(found, found)
                if found.startswith("kopf.on."):
                    self.handlers.append(self._handler(decorator, found, name))
                for child in ast.iter_child_nodes(decorator):
                    self.visit(child)
        self._inside += [node.name, "<locals>"]
        for child in node.body:
            self.visit(child)
        del self._inside[-2:]

    def _handler(self, node: ast.Call, found: str, function: str) -> KopfHandler:
        texts = ((each.arg, _text(each.value)) for each in node.keywords)
        named = {name: text for name, text in texts if name and text is not None}
        args = [text for value in node.args if (text := _text(value)) is not None]
        is_plain = len(args) == len(node.args)
        of_field = named.get("field", "")
        handler_id = named.get("id") or function
        return KopfHandler(
            self.file,
            node.lineno,
            found.removeprefix("kopf.on."),
            function,
            f"{handler_id}/{of_field}" if of_field else handler_id,
            asked_kind(args, named) if is_plain else None,
            any(self._dotted(value) == _EVERYTHING for value in node.args),
            **_of_webhook(node),
        )

    def _dotted(self, node: ast.expr) -> str:
        """`kopf.on.create`, whatever the names are here; empty for what is no name."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and (before := self._dotted(node.value)):
            return f"{before}.{node.attr}"
        return ""


def _text(node: ast.expr) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined]


def _of_webhook(node: ast.Call) -> dict[str, Any]:
    said = {each.arg: each.value for each in node.keywords}
    operations = said.get("operations", said.get("operation"))
    rows = (
        operations.elts if isinstance(operations, ast.List | ast.Tuple | ast.Set) else [operations]
    )
    ignores = said.get("ignore_failures")
    return {
        "operations": tuple(text for row in rows if row is not None and (text := _text(row))),
        "subresource": _text(said["subresource"]) or "" if "subresource" in said else "",
        "ignores_failures": isinstance(ignores, ast.Constant) and ignores.value is True,
    }
