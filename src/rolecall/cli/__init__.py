"""The command line: one module for each command, errors printed the same way for all of them.

The engine brings `run` and `version`. Other distributions add commands by the entry point group
`rolecall.commands`, whose entries name tables like `ENGINE_COMMANDS`; `rolecall-dev` is one.

The module of a command offers `add_parser(subparsers)`, which adds its argparse parser and sets `run`,
a function from parsed arguments to an exit code. No other is imported than that of the command that was
typed: `rolecall cluster` must not pay for the engine's imports.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, NamedTuple

from rolecall import __version__
from rolecall.errors import InputError, RolecallError

if TYPE_CHECKING:
    from rolecall.settings import Settings

_FOR_DEVELOPERS = "commands for developers come with `pip install 'rolecall[dev]'`"


class CommandModule(NamedTuple):
    """Where the parser of a command is, and its line in the help."""

    module: str
    summary: str


ENGINE_COMMANDS = {
    "run": CommandModule("rolecall.cli.run", "run the operator of this folder"),
    "version": CommandModule("rolecall.cli.version", "print what is installed, and how runs start"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the console script."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _require_system()
        parsed = parser_for(typed).parse_args(typed)
        return int(parsed.run(parsed))
    except RolecallError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _require_system() -> None:
    if sys.platform == "win32":
        raise InputError(
            "Ansible does not run on Windows by itself, so neither does rolecall",
            hint="start it in WSL: there it is a Linux like any other",
        )


def parser_for(typed: Sequence[str]) -> argparse.ArgumentParser:
    """A parser that knows the typed command in full and the others by name."""
    first = typed[0] if typed else ""
    known = ENGINE_COMMANDS if first in ENGINE_COMMANDS else commands()
    if first and not first.startswith("-") and first not in known:
        raise InputError(f"`{first}` is no command here; {_hint(known)}")
    parser = argparse.ArgumentParser(
        prog="rolecall",
        description="Runs Kubernetes operators written in Ansible.",
        epilog=None if len(known) > len(ENGINE_COMMANDS) else _FOR_DEVELOPERS,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rolecall {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    if first in known:
        importlib.import_module(known[first].module).add_parser(subparsers)
    else:
        for name, command in known.items():
            subparsers.add_parser(name, help=command.summary)
    return parser


def commands() -> Mapping[str, CommandModule]:
    """Every command that is installed."""
    tables = [entry.load() for entry in entry_points(group="rolecall.commands")]
    return {
        name: command for table in (*tables, ENGINE_COMMANDS) for name, command in table.items()
    }


def _hint(known: Mapping[str, CommandModule]) -> str:
    is_alone = len(known) == len(ENGINE_COMMANDS)
    return _FOR_DEVELOPERS if is_alone else "`rolecall --help` lists all"


def settings_of(words: Sequence[str], environment: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """What `rolecall run` takes from flags and variables, and what a person should be told of them."""
    from rolecall.cli.flag_parser import choose  # noqa: PLC0415 - not for commands that ask nothing
    from rolecall.cli.settings_from import settings_from  # noqa: PLC0415

    return settings_from(choose(words, environment), environment)
