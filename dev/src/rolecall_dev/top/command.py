"""The command line of `rolecall top`."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from rolecall.cli import Subparsers, add_engine_choice, command_parser
from rolecall.errors import InputError

_EPILOG = """\
Shows the table of `rolecall status` and refreshes it; `?` lists the keys. Pause and resume use your
kubeconfig, as `rolecall pause` does.

Needs a terminal, and `pip install 'rolecall-dev[top]'`.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "top",
        show_top,
        "Shows all CRs live on the whole screen; keys open a CR, its runs and logs, and reconcile,"
        " pause, resume or stop it.",
        examples={
            "rolecall top": "every CR",
            "rolecall top website -n prod": "one kind in one namespace",
            "rolecall top --operator web-system/web": "one of several operators of a cluster",
        },
        epilog=_EPILOG,
    )
    parser.add_argument("what", nargs="?", metavar="KIND[/NAME]", help="all CRs, unless named")
    parser.add_argument("-n", "--namespace", metavar="NS", default="", help="namespace of the CRs")
    add_engine_choice(parser)


def show_top(arguments: argparse.Namespace) -> int:
    if find_spec("textual") is None:
        raise InputError(
            "`rolecall top` needs Textual, which is not installed:"
            " `pip install 'rolecall-dev[top]'` installs it"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("`rolecall top` needs a terminal", hint="`rolecall status -w` needs none")
    from rolecall_dev.top.app import TopApp  # noqa: PLC0415 - an extra, which may be missing
    from rolecall_dev.top.operator import ChildCommands  # noqa: PLC0415 - not for `--help`

    TopApp(ChildCommands(words_of_place(arguments), words_of_crs(arguments))).run()
    return 0


def words_of_place(arguments: argparse.Namespace) -> list[str]:
    """The flags that choose the engine, for further commands."""
    named = {"--artifacts-dir": arguments.artifacts_dir, "--operator": arguments.operator}
    return [f"{flag}={value}" for flag, value in named.items() if value]


def words_of_crs(arguments: argparse.Namespace) -> list[str]:
    """The CRs to show."""
    place = [f"--namespace={arguments.namespace}"] if arguments.namespace else []
    return [*([arguments.what] if arguments.what else []), *place]
