"""`rolecall stop`: ends a run that hangs."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from rolecall.cli.engine_choice import add_output, add_place, place_or_relay
from rolecall.cli.kind_words import named_cr
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.terminal import say
from rolecall.extensions.console.commands.person import person_at
from rolecall.plain_text import plain

_EPILOG = """\
The run ends as cancelled: `Running` in status and `rolecall runs` say who stopped it. It is not
retried: the next run begins at the period, after an edit, or with `rolecall reconcile`, and changes of
the CR's objects begin none before. To prevent that as well, run `rolecall pause` first.

-o json prints {"key", "run", "task", "place"}.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "stop",
        stop_run,
        "Stops the current run of a CR, such as one that hangs.",
        examples={
            "rolecall stop website/shop": "the current run",
            "rolecall stop website/shop --run 3f2a": "only if it is this run",
        },
        epilog=_EPILOG,
    )
    parser.add_argument("what", metavar="KIND/NAME", help="such as website/shop")
    parser.add_argument(
        "--run",
        metavar="ID",
        dest="run_id",
        default="",
        help="only this run: its id, or its first characters",
    )
    parser.add_argument("--by", help=argparse.SUPPRESS)  # who asks, for a command in a pod
    add_output(parser)
    add_place(parser)


def stop_run(arguments: argparse.Namespace) -> int:
    word = named_cr(arguments.what)
    by = arguments.by or person_at(os.environ)
    here = place_or_relay(arguments, [*arguments.typed, f"--by={by}"])
    if isinstance(here, int):
        return here
    cr = here.cr(word, arguments.namespace)
    asked: dict[str, Any] = {each: cr[each] for each in ("kind", "namespace", "name")}
    stopped = here.to_ask_for(cr).stop({**asked, "run": arguments.run_id, "by": by})
    if arguments.output == "json":
        print(json.dumps(stopped, indent=2))
        return 0
    task = f", at task `{stopped['task']}`" if stopped["task"] else ""
    print(plain(f"{stopped['key']}: run {stopped['run']} is stopped{task}"))
    say(
        plain(
            f"the next one begins at the period, after an edit, or with `rolecall reconcile {word}`"
        )
    )
    return 0
