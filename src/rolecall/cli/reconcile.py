"""`rolecall reconcile`: the engine takes up a CR now, as if it had been edited."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from rolecall.cli.engine_choice import Here, add_output, add_place, place_or_relay
from rolecall.cli.help_text import HelpText
from rolecall.cli.kind_words import cr_word
from rolecall.cli.terminal import say
from rolecall.errors import InputError
from rolecall.plain_text import plain

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_EPILOG = """\
Ends the wait of a CR for its period, or after a failure; one that is paused stays paused.

-o json prints {"keys": [...], "paused": [...]}: the CRs that will be
reconciled, and those of them that are paused.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "reconcile",
        help="reconcile a CR now, or all of them",
        description="Reconciles a CR at once, as after an edit.",
        epilog=_EPILOG,
        formatter_class=HelpText,
        allow_abbrev=False,
    )
    parser.add_argument("what", nargs="?", metavar="KIND/NAME", help="or KIND, with --all")
    parser.add_argument("--all", action="store_true", help="every CR, or every one of the kind")
    add_output(parser)
    add_place(parser)
    parser.set_defaults(run=ask_for_reconcile)


def ask_for_reconcile(arguments: argparse.Namespace) -> int:
    word = cr_word(arguments.what) if arguments.what else None
    if (word is not None and bool(word.name)) == arguments.all:
        raise InputError("name one CR as KIND/NAME, or use --all", hint="also: KIND --all")
    here = place_or_relay(arguments)
    if isinstance(here, int):
        return here
    engine = here.running()
    answer = engine.reconcile(_request(here, arguments))
    if arguments.output == "json":
        print(json.dumps(answer, indent=2))
        return 0
    keys, paused = answer.get("keys", []), set(answer.get("paused", []))
    for key in keys:
        print(
            plain(
                f"{key}: paused, so nothing runs"
                if key in paused
                else f"{key}: will be reconciled now"
            )
        )
    if paused:
        say("`rolecall resume KIND/NAME` ends a pause")
    if not keys:
        print("no CR")
    return 0


def _request(here: Here, arguments: argparse.Namespace) -> dict[str, Any]:
    word = cr_word(arguments.what) if arguments.what else None
    if word is None:
        return {"all": True}
    if arguments.all:
        return {"kind": here.kind(word.kind).kind, "all": True}
    cr = here.cr(word, arguments.namespace)
    return {"kind": cr["kind"], "namespace": cr["namespace"], "name": cr["name"]}
