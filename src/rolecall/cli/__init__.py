"""The command line: one module for each command, errors printed the same way for all of them.

The engine brings what its image needs: looking at an operator, acting on it, running it. Other
distributions add commands by the entry point group `rolecall.commands`, whose entries name tables like
`ENGINE_COMMANDS`; `rolecall-dev` is one.

The module of a command offers `add_parser(subparsers)`, which adds its argparse parser by
`command_parser`, with a function from parsed arguments to an exit code. No other is imported than that
of the command that was typed: `rolecall cluster` must not pay for the engine's imports.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from rolecall import __version__
from rolecall.cli.cr_table import CR_STATES, began, cr_row, cr_rows
from rolecall.cli.parsers import (
    CommandModule,
    Purpose,
    Subparsers,
    by_purpose,
    command_parser,
    with_examples,
)
from rolecall.cli.terminal import RELAYED_VARIABLE, Screen, end_with_caller, silence_stdout
from rolecall.errors import InputError, RolecallError

if TYPE_CHECKING:
    from rolecall.settings import Settings

__all__ = [
    "CR_STATES",
    "ENGINE_COMMANDS",
    "CommandModule",
    "Purpose",
    "Screen",
    "Subparsers",
    "add_engine_choice",
    "began",
    "command_parser",
    "commands",
    "cr_row",
    "cr_rows",
    "main",
    "parser_for",
    "settings_of",
    "variables_with_cluster",
    "with_examples",
]

_FOR_DEVELOPERS = "commands for developers come with `pip install 'rolecall[dev]'`"
_FOR_ONE = "`rolecall COMMAND --help` explains each"
# Called by the shell's completion only, so it is not in the help.
_COMPLETE = "__complete"
# As a shell reports a program that SIGPIPE ended, and one that Ctrl-C did.
_READER_WENT, _INTERRUPTED = 141, 130


def _command(module: str, summary: str, purpose: Purpose) -> CommandModule:
    return CommandModule(f"{__name__}.{module}", summary, purpose)


ENGINE_COMMANDS = {
    "run": _command("run", "run the operator of this folder", Purpose.RUN),
    "completion": _command(
        "completion", "print a script for completion in the shell", Purpose.OTHER
    ),
    "version": _command("version", "print what is installed, and how runs start", Purpose.OTHER),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the console script."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(typed)
        sys.stdout.flush()
    except RolecallError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return _READER_WENT
    return code


def _run(typed: Sequence[str]) -> int:
    _require_system()
    if typed[:1] == [_COMPLETE]:
        from rolecall.cli.completion import complete  # noqa: PLC0415 - not for other commands

        return complete(typed[1:], commands, parser_for)
    if RELAYED_VARIABLE in os.environ:
        end_with_caller()
    parser = parser_for(typed)
    if not typed:
        parser.print_help()
        return 0
    try:
        parsed = parser.parse_args(typed)
    except SystemExit:
        sys.stdout.flush()  # a help text whose reader went
        raise
    parsed.typed = list(typed)
    return int(parsed.run(parsed))


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
        raise InputError(f"`{first}` is not a command; {_hint(first, known)}")
    parser = _Parser(prog="rolecall", usage="rolecall COMMAND ...", allow_abbrev=False)
    parser.whole_help = by_purpose(known, _endings(known))
    parser.add_argument("--version", action="version", version=f"rolecall {__version__}")
    subparsers = parser.add_subparsers(
        title="commands",
        metavar="COMMAND",
        required=True,
        prog="rolecall",
        parser_class=argparse.ArgumentParser,
    )
    if first in known:
        importlib.import_module(known[first].module).add_parser(subparsers)
    else:
        for name, command in known.items():
            subparsers.add_parser(name, help=command.summary)
    return parser


class _Parser(argparse.ArgumentParser):
    """Shows the commands by what they are for, which argparse cannot."""

    whole_help = ""

    def format_help(self) -> str:
        return f"{self.format_usage()}\n{self.whole_help}\n"


def commands() -> Mapping[str, CommandModule]:
    """Every command that is installed; an extension that was deleted has none."""
    from rolecall.settings import load_point  # noqa: PLC0415 - not for those of the engine

    found = map(load_point, entry_points(group="rolecall.commands"))
    tables = (ENGINE_COMMANDS, *filter(None, found))
    return {name: command for table in tables for name, command in table.items()}


def _endings(known: Mapping[str, CommandModule]) -> list[str]:
    return [_FOR_ONE, *([_FOR_DEVELOPERS] if _is_alone(known) else [])]


def _hint(word: str, known: Mapping[str, CommandModule]) -> str:
    near = get_close_matches(word, known, n=1)
    hints = [f"did you mean `{near[0]}`?"] if near else []
    if _is_alone(known):
        hints.append(_FOR_DEVELOPERS)
    return " ".join(hints) or "`rolecall` lists all"


def _is_alone(known: Mapping[str, CommandModule]) -> bool:
    """Whether the commands for developers are not installed, as in a pod."""
    return not any(command.module.startswith("rolecall_dev.") for command in known.values())


def settings_of(words: Sequence[str], environment: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """What `rolecall run` takes from flags and variables, and its warnings."""
    from rolecall.cli.flag_parser import choose  # noqa: PLC0415 - not for commands that ask nothing
    from rolecall.cli.settings_from import settings_from  # noqa: PLC0415

    return settings_from(choose(words, environment), environment)


def variables_with_cluster(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment; where it names no cluster, with that of this machine's engine."""
    from rolecall.cli.engine_choice import with_local_cluster  # noqa: PLC0415 - as above

    return dict(with_local_cluster(environ))


def add_engine_choice(parser: argparse.ArgumentParser) -> None:
    """The flags by which a person says which engine is meant."""
    from rolecall.cli.engine_choice import add_place  # noqa: PLC0415 - as above

    add_place(parser)
