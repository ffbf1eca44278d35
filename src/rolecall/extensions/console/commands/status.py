"""`rolecall status`: what the engine does with each CR now, and what it will do next."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence

from rolecall.cli.cr_table import cr_rows
from rolecall.cli.engine_choice import (
    Here,
    add_output,
    add_place,
    merged_state,
    place_or_gather,
    place_or_relay,
)
from rolecall.cli.kind_words import CrWord, choose_cr, cr_word
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.terminal import Screen, say, screen_now
from rolecall.clock import SystemClock
from rolecall.extensions.console.commands.cr_details import details
from rolecall.extensions.console.commands.shard_table import show_shards
from rolecall.json_object import Json

_EPILOG = """\
STATE is running, waiting (for a worker), failed, ready, paused,
stopped (its last run was cancelled), or unknown (no run yet).
FOR and WHAT say how long, and which task runs, why it waits, what failed, or who paused it. With
KIND/NAME, `why` explains the state: the task, file and line of a failure, what a deletion waits for,
who paused it, or what stopped its last run.

With shards, REPLICA holds the CR; a CR without a holder, or whose replica did not answer, is unknown.
--shards shows the replicas instead, and the shards of each; SEEN is when the replica that answers last
saw it, and STATE is works, leaving (it ends, and hands its shards over) or silent (maybe dead).

-o json prints {"engine": {...} or null, "crs": [...]}; with -w, one such document a line. With --shards
it prints {"engine": {...}, "shards": {...} or null}.
"""
_HOME = "\x1b[H"
_CLEAR_LINE = "\x1b[K"
_CLEAR_REST = "\x1b[J"
_CLEAR_ALL = "\x1b[2J"


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "status",
        show_status,
        "Shows each CR: its state, current task, last outcome, and when and why it is"
        " looked at next.",
        examples={
            "rolecall status": "every CR",
            "rolecall status website/shop -n prod": "one CR",
            "rolecall status -w": "keep showing changes",
        },
        epilog=_EPILOG,
    )
    parser.add_argument("what", nargs="?", metavar="KIND[/NAME]", help="all CRs, unless named")
    add_output(parser)
    parser.add_argument("-w", "--watch", action="store_true", help="keep showing changes")
    parser.add_argument(
        "--shards", action="store_true", help="show which replica has which part of the CRs"
    )
    add_place(parser)


def show_status(arguments: argparse.Namespace) -> int:
    if arguments.shards:
        return show_shards(arguments)
    word = cr_word(arguments.what) if arguments.what else CrWord("")
    here = _asked(arguments, word)
    if isinstance(here, int):
        return here
    chosen = _Chosen(here, word, arguments.namespace)
    documents = here.running().states() if arguments.watch else iter([_document(here)])
    if arguments.output == "json":
        for document in documents:
            line = {**document, "crs": chosen.of(document["crs"])}
            print(json.dumps(line, indent=None if arguments.watch else 2), flush=True)
        return 0
    _draw(documents, chosen, Redraw() if arguments.watch else None)
    return 0


def _asked(arguments: argparse.Namespace, word: CrWord) -> Here | int:
    """One engine; about all CRs, or all of a kind, each of those that divide them."""
    if word.name or arguments.watch:
        here = place_or_relay(arguments)
        if arguments.watch and isinstance(here, Here) and len(here.dividing) > 1:
            replica = here.dividing[0][1]["engine"]["shards"]["replica"]
            say(
                f"{len(here.dividing)} engines divide the CRs; this is what `{replica}` sees of them"
            )
        return here
    found = place_or_gather(arguments, ("status",))
    return Here((), None, merged_state(found)) if isinstance(found, list) else found


class _Chosen:
    """The CRs that the user chose. A missing kind is an error; a missing CR only at the beginning."""

    def __init__(self, here: Here, word: CrWord, namespace: str) -> None:
        self._kind = here.kind(word.kind) if word.kind else None
        self._word, self._namespace = word, namespace
        self.is_one = bool(word.name)
        if self.is_one:
            choose_cr(word, namespace, self._of_kind(here.crs()))

    def of(self, crs: Sequence[Json]) -> list[Json]:
        found = [
            each
            for each in self._of_kind(crs)
            if self._namespace in ("", each["namespace"]) and self._word.name in ("", each["name"])
        ]
        return sorted(found, key=lambda cr: (cr["namespace"], cr["kind"], cr["name"]))

    def _of_kind(self, crs: Sequence[Json]) -> list[Json]:
        return [each for each in crs if self._kind is None or self._kind.is_of(each)]


def _document(here: Here) -> Json:
    return here.state or {"engine": None, "crs": here.crs()}


def _draw(documents: Iterator[Json], chosen: _Chosen, redraw: Redraw | None) -> None:
    for document in documents:
        screen, now = screen_now(), SystemClock().now()
        crs = chosen.of(document["crs"])
        if chosen.is_one:
            lines = [line for cr in crs for line in details(cr, screen, now)]
        else:
            lines = cr_rows(crs, screen, now)
        lines = lines or ["no CR"]
        if redraw is not None:
            redraw.draw(lines, screen)
        else:
            print("\n".join(lines))


class Redraw:
    """Redraws a terminal in place; without a terminal, it prints only the lines that are new."""

    def __init__(self) -> None:
        self._has_drawn = False
        self._last: set[str] = set()

    def draw(self, lines: Sequence[str], screen: Screen) -> None:
        if screen.is_terminal:
            self._over(lines, screen)
        else:
            for line in lines:
                if line not in self._last:
                    print(line, flush=True)
            self._last = set(lines)

    def _over(self, lines: Sequence[str], screen: Screen) -> None:
        room = max(1, screen.height - 1)
        shown = list(lines[:room])
        if len(lines) > room:
            shown[-1] = f"… and {len(lines) - room + 1} more"
        start = _HOME if self._has_drawn else _CLEAR_ALL + _HOME
        self._has_drawn = True
        text = "".join(f"{line}{_CLEAR_LINE}\n" for line in shown)
        print(f"{start}{text}{_CLEAR_REST}", end="", flush=True)
