"""`rolecall reconcile`: the engine takes up a CR now, as if it had been edited."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from rolecall.cli.engine_choice import (
    Here,
    add_output,
    add_place,
    place_or_gather,
    place_or_relay,
)
from rolecall.cli.kind_words import cr_word
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.terminal import say
from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall.plain_text import plain

_EPILOG = """\
Ends the wait of a CR for its period, or after a failure; one that is paused stays paused.

-o json prints {"keys": [...], "paused": [...]}: the CRs that will be
reconciled, and those of them that are paused.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "reconcile",
        ask_for_reconcile,
        "Reconciles a CR at once, as after an edit.",
        examples={
            "rolecall reconcile website/shop": "one CR",
            "rolecall reconcile website --all": "every CR of a kind",
        },
        epilog=_EPILOG,
    )
    parser.add_argument("what", nargs="?", metavar="KIND/NAME", help="or KIND, with --all")
    parser.add_argument("--all", action="store_true", help="every CR, or every one of the kind")
    add_output(parser)
    add_place(parser)


def ask_for_reconcile(arguments: argparse.Namespace) -> int:
    word = cr_word(arguments.what) if arguments.what else None
    if (word is not None and bool(word.name)) == arguments.all:
        raise InputError("name one CR as KIND/NAME, or use --all", hint="also: KIND --all")
    answer = _asked(arguments)
    if isinstance(answer, int):
        return answer
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


def _asked(arguments: argparse.Namespace) -> Json | int:
    """What the engines say: the one that has the CR, or each of those that divide them."""
    if not arguments.all:
        here = place_or_relay(arguments)
        if isinstance(here, int):
            return here
        cr = here.cr(cr_word(arguments.what), arguments.namespace)
        wanted = {"kind": cr["kind"], "namespace": cr["namespace"], "name": cr["name"]}
        return here.to_ask_for(cr).reconcile(wanted)
    found = place_or_gather(arguments)
    if isinstance(found, Here):
        request = _all_of(found, arguments.what)
        found = [engine.reconcile(request) for engine in found.all_to_ask()]
    return found if isinstance(found, int) else _together(found)


def _together(answers: Sequence[Json]) -> Json:
    keys, paused = (
        [each for answer in answers for each in answer.get(field, ())]
        for field in ("keys", "paused")
    )
    return {**answers[0], "keys": sorted(keys), "paused": sorted(paused)}


def _all_of(here: Here, kind: str | None) -> dict[str, Any]:
    return {"kind": here.kind(kind).kind, "all": True} if kind else {"all": True}
