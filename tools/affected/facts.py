"""What the text of one Python file says: its imports, fixtures, texts, commands and marks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

# As in `rolecall plan` and `"rolecall", "plan"`; the word after it is looked up among the commands.
_IN_A_SENTENCE = re.compile(r"\brolecall ([a-z-]+)")
_YAML_KEY = re.compile(r"^[\s-]*(\w+):(?:\s|$)", re.MULTILINE)
_FLAG = re.compile(r"^--([a-z-]+)")


@dataclass
class Facts:
    """Of one file; texts are without docstrings."""

    imports: set[str] = field(default_factory=set)
    arguments: set[str] = field(default_factory=set)  # of functions, so also the fixtures they use
    fixtures: set[str] = field(default_factory=set)  # those that it defines
    texts: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)  # of mappings, keyword arguments and YAML
    flags: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)  # as `ROOT / "docs" / "guides"`

    def add(self, other: Facts) -> None:
        """Join what another file says; what it defines stays its own."""
        for name in ("imports", "texts", "keys", "flags", "commands", "paths", "arguments"):
            getattr(self, name).update(getattr(other, name))


@cache
def facts_of(path: Path) -> Facts:
    """Read a file."""
    tree = ast.parse(path.read_text())
    facts = Facts()
    docstrings = set(_docstrings(tree))
    for node in ast.walk(tree):
        _add_definition(facts, node)
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                _add_text(facts, text)
            case ast.Call():
                facts.keys.update(each.arg for each in node.keywords if each.arg)
                _add_commands(facts, node.args, follows=_is_rolecall(node.func))
            case ast.Dict():
                facts.keys.update(each for each in map(_text, node.keys) if each)
            case ast.List() | ast.Tuple():
                _add_commands(facts, node.elts, follows=False)
            case ast.BinOp(op=ast.Div()) if below := _below_root(node):
                facts.paths.add(below)
    return facts


def _add_definition(facts: Facts, node: ast.AST) -> None:
    match node:
        case ast.Import():
            facts.imports.update(alias.name for alias in node.names)
        case ast.ImportFrom(module=str(module)):
            facts.imports.update(f"{module}.{alias.name}" for alias in node.names)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            facts.arguments.update(each.arg for each in node.args.args)
            if any("fixture" in ast.dump(each) for each in node.decorator_list):
                facts.fixtures.add(node.name)
        case ast.Attribute():
            facts.attributes.add(node.attr)


def _docstrings(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            yield id(body[0].value)


def _add_text(facts: Facts, text: str) -> None:
    facts.texts.add(text)
    facts.arguments.add(text)  # as in `usefixtures("engine")`
    facts.commands.update(_IN_A_SENTENCE.findall(text))
    if "\n" in text:
        facts.keys.update(_YAML_KEY.findall(text))
    if found := _FLAG.match(text):
        facts.flags.add(found[1])


def _add_commands(facts: Facts, values: list[ast.expr], *, follows: bool) -> None:
    """A word that follows `rolecall` in a command line, or is first in a call of such a function."""
    for value in values:
        text = _text(value)
        if follows and text:
            facts.commands.add(text)
        if isinstance(value, ast.List) and follows:
            _add_commands(facts, value.elts, follows=True)
        follows = text == "rolecall" or _is_rolecall(value)


def _below_root(node: ast.expr) -> str:
    """The path of `ROOT / "docs" / "guides"`; empty where it is something else."""
    match node:
        case ast.BinOp(left=ast.Name(id="ROOT"), right=right):
            return _text(right)
        case ast.BinOp(left=left, right=right) if (above := _below_root(left)) and _text(right):
            return f"{above}/{_text(right)}"
    return ""


def _is_rolecall(node: ast.expr) -> bool:
    """A program or function of that name, or the `main` of our command line."""
    name = {ast.Name: "id", ast.Attribute: "attr"}.get(type(node), "")
    return str(getattr(node, name, "")).lower() in ("rolecall", "main")


def _text(node: ast.expr | None) -> str:
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]  # the start of an f-string, as in f"--leader-election-id={name}"
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
