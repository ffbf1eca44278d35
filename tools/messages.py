"""Every message that rolecall can say, read from its code: the page docs/reference/messages.md.

    .venv/bin/python tools/write_reference.py          (writes it; a test fails while it differs)

A message is a text of the code that has words: a log line, an error, a fault in a file that somebody
wrote, a help text, or what goes into status, Events and onto the terminal. Doc strings, patterns and
what only a bug can show are none. To find too many is better than to miss one, so whatever is not
known to be something else counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (ROOT / "src" / "rolecall", ROOT / "dev" / "src" / "rolecall_dev")
# Files of projects that are made, and what Ansible's own documentation of modules holds.
NOT_CODE = frozenset({"templates", "__pycache__"})

_LEVELS = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "exception": "error",
    "log": "log",
}
_REPORTS = {"error": "fault", "warn": "warning", "warn_environment": "warning", "Problem": "fault"}
_HELPS = frozenset({"help", "description", "epilog", "title"})
_HELP_CALLS = frozenset({"Flag", "FlagGroup", "YamlKey", "MetricSpec", "Choice", "CommandModule"})
# What only a bug can raise, patterns, and names that programs read.
_SILENT = frozenset(
    {
        "AssertionError",
        "NotImplementedError",
        "RuntimeError",
        "TypeError",
        "compile",
        "create_task",
        "findall",
        "frozenset",
        "fullmatch",
        "glob",
        "rglob",
        "search",
        "strftime",
        "split",
    }
)
_LEAST_WORDS = 3
# Set apart by blanks: a path, a name or a setting is one word.
_WORD = re.compile(r"(?<!\S)\S*[A-Za-z]\S*")
_PATTERN = re.compile(r"\(\?|\\|\{%|^https?:|\{\{")
_SENTENCE = re.compile(r"^[\s(;:,-]*(?:warning: )?[A-Za-z`{'\"]")


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """One text, with `{placeholders}`."""

    room: str
    file: str
    kind: str
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class _Context:
    """The call and argument that a text stands in."""

    call: str = ""
    receiver: str = ""
    argument: str = ""
    hint: str = ""


def messages() -> list[Message]:
    """All of them, sorted, each once for each file."""
    found = {message for package in PACKAGES for message in _of_package(package)}
    return sorted(found)


def messages_of(source: str, room: str, file: str) -> Iterator[Message]:
    """Those of one module's code."""
    for context, text in _texts(ast.parse(source), _Context()):
        kind = _kind(context, text)
        if kind:
            yield Message(room, file, kind, _plain(text), _plain(context.hint))


def _of_package(package: Path) -> Iterator[Message]:
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package.parent)
        if NOT_CODE.isdisjoint(inside.parts):
            room = inside.parts[1].removesuffix(".py") if len(inside.parts) > 1 else ""
            yield from messages_of(path.read_text(), f"{inside.parts[0]}.{room}", str(inside))


def _texts(node: ast.AST, context: _Context) -> Iterator[tuple[_Context, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a doc string
        if (text := _text(child)) is not None:
            yield context, text
            continue
        yield from _texts(child, _inner(child, context))


def _inner(node: ast.AST, context: _Context) -> _Context:
    match node:
        case ast.Call(func=function, keywords=keywords):
            call, receiver = _names(function)
            said = next((_text(one.value) for one in keywords if one.arg == "hint"), None)
            return _Context(call, receiver, hint=said or "")
        case ast.keyword(arg=argument):
            return _Context(context.call, context.receiver, argument or "")
        case ast.Assign(targets=[ast.Name(id="DOCUMENTATION" | "EXAMPLES" | "RETURN")]):
            return _Context(argument="hint")  # what ansible-doc prints
        case ast.Compare() | ast.Subscript() | ast.Dict() | ast.stmt():
            return _Context()
    return context


def _names(function: ast.expr) -> tuple[str, str]:
    match function:
        case ast.Name(id=name):
            return name, ""
        case ast.Attribute(value=receiver, attr=name):
            return name, ast.unparse(receiver)
    return "", ""


def _text(node: ast.AST) -> str | None:
    """What an expression of texts says; None for any other."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(
                str(it.value) if isinstance(it, ast.Constant) else _placeholder(it) for it in values
            )
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, last = _text(left), _text(right)
            if first is not None or last is not None:
                return (first or _placeholder(left)) + (last or _placeholder(right))
    return None


def _placeholder(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return "{" + name.strip("_").lower() + "}"
        case ast.Call(func=ast.Attribute(attr="join"), args=[listed, *_]):
            return _placeholder(listed)
        case ast.Call(func=ast.Name(id="str" | "repr" | "sorted" | "map" | "len"), args=arguments):
            return _placeholder(arguments[-1])
        case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.FormattedValue(value=inner):
            return _placeholder(inner)
    return "{...}"


def _kind(context: _Context, text: str) -> str:
    words = len(_WORD.findall(text))
    if not words or context.argument == "hint" or context.call in _SILENT:
        return ""
    if context.receiver.endswith("logger") and context.call in _LEVELS and not context.argument:
        return _LEVELS[context.call]
    is_said = words > 1 and _SENTENCE.match(text) and not _PATTERN.search(text)
    return _kind_of_words(context, words) if is_said else ""


def _kind_of_words(context: _Context, words: int) -> str:
    if context.call.endswith("Error") or context.call == "exit":
        return "error"
    if context.call in _REPORTS and context.argument in {"", "what"}:
        return _REPORTS[context.call]
    if context.argument in _HELPS or context.call in _HELP_CALLS:
        return "help"
    return "text" if words >= _LEAST_WORDS else ""


def _plain(text: str) -> str:
    return " ".join(text.split())


_HEAD = (
    "# Messages",
    "",
    "<!-- Made by tools/write_reference.py; edit the code instead. -->",
    "",
    "All that rolecall says, by the part of it that says it, to look up a line of a log or a status.",
    "What stands in `{}` differs from case to case. `debug`, `info`, `warning` and `error` are lines",
    "of the log, or end the command that they are about; a `fault` is told with the file and line",
    "that it is in; a `text` is in status, in Events, on the terminal, or part of another message.",
    "What to do about the most frequent ones: [troubleshooting](../troubleshooting.md).",
)


def page() -> str:
    """The page, as it must be."""
    lines = list(_HEAD)
    room = ""
    for it in messages():
        if it.room != room:
            room = it.room
            lines += ["", f"## {room}", "", "| message | kind | file |", "| --- | --- | --- |"]
        hint = f"<br>hint: {_escaped(it.hint)}" if it.hint else ""
        lines.append(f"| {_escaped(it.text)}{hint} | {it.kind} | {it.file.split('/', 1)[1]} |")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    for mark in "\\<*_[|":
        text = text.replace(mark, f"\\{mark}")
    return text
