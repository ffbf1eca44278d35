"""The reference page of all commands, from their parsers.

Why not argparse's own help: it differs between releases of Python, and a test compares the page.
What: docs/reference/commands.md. How: `python -m tools.write_reference`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rolecall.cli import Purpose, commands, parser_for
from rolecall.cli.parsers import parsers_in

_MADE = "<!-- Made by tools/write_reference.py; edit the code instead. -->"
_IN_A_PAGE_OF_ITS_OWN = {"run": "Its flags are in [flags](flags.md)."}


def commands_page() -> str:
    """Every command with its arguments, by what people want."""
    lines = [
        "# Commands",
        "",
        _MADE,
        "",
        "`rolecall` alone lists them by purpose; `--help` after one says this in the terminal.",
    ]
    for purpose in Purpose:
        for name, command in commands().items():
            if command.purpose is purpose:
                lines += _command(name, parsers_in(parser_for([name]))[name])
    return "\n".join(lines) + "\n"


def _command(name: str, parser: argparse.ArgumentParser) -> list[str]:
    lines = ["", f"## rolecall {name}", "", _sentence(parser.description or "")]
    if name in _IN_A_PAGE_OF_ITS_OWN:
        return [*lines, "", _IN_A_PAGE_OF_ITS_OWN[name], *_help_end(parser)]
    lines += [*_arguments(parser), *_help_end(parser)]
    for verb, inner in parsers_in(parser).items():
        lines += ["", f"### rolecall {name} {verb}", "", _sentence(inner.description or "")]
        lines += [*_arguments(inner), *_help_end(inner)]
    return lines


def _help_end(parser: argparse.ArgumentParser) -> list[str]:
    return ["", "```text", *parser.epilog.strip().splitlines(), "```"] if parser.epilog else []


def _arguments(parser: argparse.ArgumentParser) -> list[str]:
    rows = list(_rows(parser))
    return ["", "| argument | meaning |", "| --- | --- |", *rows] if rows else []


def _rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction | argparse._HelpAction):
            continue
        if action.help == argparse.SUPPRESS:
            continue
        cells = (f"`{_name(action)}`", _meaning(action, parser))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _name(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return value
    return ", ".join(action.option_strings) + (f" {value}" if action.nargs != 0 else "")


def _value(action: argparse.Action) -> str:
    if action.metavar is not None:
        return action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar)
    if action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


def _meaning(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    facts = {**vars(action), "prog": parser.prog}
    return (action.help or "") % facts


def _sentence(text: str) -> str:
    return " ".join(text.split())
