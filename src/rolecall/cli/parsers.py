"""What all commands share: their parser, and their line in `rolecall --help`, by what people want."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


EXAMPLES = "Examples:"


class Purpose(Enum):
    """What a command is for; the value heads it in the help."""

    LOOK = "look at a running operator"
    ACT = "change what it does"
    RUN = "run an operator, or a role"
    WRITE = "write an operator"
    PACK = "package an operator"
    CLUSTER = "clusters for tests"
    OTHER = "other"


class CommandModule(NamedTuple):
    """Where the parser of a command is, its line in the help, and what it is for."""

    module: str
    summary: str
    purpose: Purpose = Purpose.OTHER


def by_purpose(known: Mapping[str, CommandModule], endings: Sequence[str]) -> str:
    """All commands under what they are for."""
    width = max(map(len, known))
    lines = ["Runs Kubernetes operators written in Ansible."]
    for purpose in Purpose:
        rows = [
            f"    {name:<{width}}  {command.summary}"
            for name, command in known.items()
            if command.purpose is purpose
        ]
        if rows:
            lines += ["", f"  {purpose.value}:", *rows]
    return "\n".join([*lines, "", *endings])


class HelpText(argparse.HelpFormatter):
    """Wraps paragraphs of one line; those of several lines, such as examples, stay as written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join(
            "\n".join(indent + line for line in each.splitlines())
            if "\n" in each
            else fill(each, width, indent)
            for each in paragraphs
        )


def command_parser(
    subparsers: Subparsers,
    name: str,
    run: Callable[[argparse.Namespace], int],
    description: str,
    *,
    examples: Mapping[str, str],
    **options: Any,
) -> argparse.ArgumentParser:
    """The parser of a command; `run` takes the parsed arguments and returns the exit code."""
    options = {"formatter_class": HelpText, "allow_abbrev": False, **options}
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name, description=description, **options
    )
    parser.set_defaults(run=run)
    return with_examples(parser, examples)


def with_examples(
    parser: argparse.ArgumentParser, examples: Mapping[str, str]
) -> argparse.ArgumentParser:
    """The parser, whose help ends with these commands; each has a few words of explanation."""
    parser.formatter_class = HelpText
    width = max(map(len, examples))
    lines = [f"  {command:<{width}}  # {meaning}" for command, meaning in examples.items()]
    parser.epilog = "\n".join(
        [*([f"{parser.epilog.rstrip()}\n"] if parser.epilog else []), EXAMPLES, *lines]
    )
    return parser


def parsers_in(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Those of its commands, or of a command's verbs, by name."""
    return {
        name: inner
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, inner in action.choices.items()
    }
