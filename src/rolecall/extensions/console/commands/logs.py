"""`rolecall logs`: the output of a run of a CR or of its handlers, and with `-f` what comes later."""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Sequence
from operator import itemgetter

from rolecall.cli.engine_choice import Here, add_output, add_place, place_or_relay, run_called
from rolecall.cli.kind_words import CrWord, named_cr
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.spans import seconds_text
from rolecall.cli.terminal import say, screen_now
from rolecall.errors import InputError
from rolecall.extensions.console.commands.play_colours import PlayColours
from rolecall.history import KeptRun, read_run
from rolecall.json_object import Json
from rolecall.plain_text import plain

# Between looks at a file that grows; a person does not see the difference.
_PAUSE_S = 0.2
# More do not begin between two looks.
_NEWEST = 5
_EPILOG = """\
Without --run, --failed or --handlers: the current run, else the newest. -f follows new runs too.

-o json prints one {"run": ..., "line": ...} for each line, or with --handlers
{"handler": ..., "at": ..., "line": ...}.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "logs",
        show_logs,
        "Prints the output of a run, in the colours of ansible-playbook on a terminal.",
        examples={
            "rolecall logs website/shop": "the current run, else the newest",
            "rolecall logs website/shop --failed": "the newest run that failed",
            "rolecall logs website/shop -f": "follow this run and new ones",
        },
        epilog=_EPILOG,
    )
    parser.add_argument("what", metavar="KIND/NAME", help="such as website/shop")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--run", metavar="ID", dest="run_id", help="id of the run, or its first characters"
    )
    which.add_argument("--failed", action="store_true", help="the newest run that failed")
    which.add_argument(
        "--handlers", action="store_true", help="the newest lines of its kopf handlers"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="print what comes later, too")
    add_output(parser)
    add_place(parser)


def show_logs(arguments: argparse.Namespace) -> int:
    word = named_cr(arguments.what)
    here = place_or_relay(arguments)
    if isinstance(here, int):
        return here
    cr = here.cr(word, arguments.namespace)
    if arguments.handlers:
        _print_handlers(here, cr, follows=arguments.follow, is_json=arguments.output == "json")
        return 0
    runs = here.runs(cr)
    chosen = _choose(runs, word, arguments)
    if chosen is None and not arguments.follow:
        raise InputError(f"no run of `{word}` is kept")
    printer = _Printer(is_json=arguments.output == "json")
    follows = arguments.follow and here.engine is not None
    if chosen is not None:
        _print_run(chosen, printer, follows=follows)
    if follows:
        _print_next(here, cr, chosen, printer)
    return 0


def _choose(runs: Sequence[KeptRun], word: CrWord, arguments: argparse.Namespace) -> KeptRun | None:
    if arguments.run_id:
        return run_called(runs, arguments.run_id, word)
    if arguments.failed:
        failed = next((each for each in runs if each.outcome == "failed"), None)
        if failed is None:
            raise InputError(f"no failed run of `{word}` is kept")
        return failed
    return runs[0] if runs else None


class _Printer:
    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json
        self._colours = PlayColours(screen_now())

    def begin(self, run: KeptRun) -> None:
        began = f", began {run.began:%Y-%m-%d %H:%M:%S} UTC" if run.began else ""
        say(plain(f"run {run.run}{began}" + (f": {run.cause}" if run.cause else "")))
        self._colours = PlayColours(screen_now())

    def line(self, run: KeptRun, text: str) -> None:
        if self._is_json:
            print(json.dumps({"run": run.run, "line": text}), flush=True)
        else:
            print(self._colours.line(text), flush=True)

    def end(self, run: KeptRun) -> None:
        reason = f": {run.reason}" if run.reason else ""
        took = seconds_text(run.seconds)
        say(plain(f"run {run.run} {run.outcome}{took and f' after {took}'}{reason}"))


def _print_run(run: KeptRun, printer: _Printer, *, follows: bool) -> None:
    """What it printed; `follows`: until it has ended."""
    printer.begin(run)
    has_ended = run.outcome != "running" or not follows
    kept = b""
    while follows and run.outcome == "running" and not run.stdout.exists():
        _pause()
        run = read_run(run.folder)
    if not run.stdout.exists():
        say("it printed nothing")
        return
    with run.stdout.open("rb") as file:
        while True:
            # Looked at before reading: what a run printed is there when it says that it ended.
            lines = (kept + file.read()).split(b"\n")
            kept = lines.pop()
            for line in lines:
                printer.line(run, line.decode(errors="replace").rstrip("\r"))
            if has_ended:
                break
            _pause()
            run = read_run(run.folder)
            has_ended = run.outcome != "running"
    if kept:
        printer.line(run, kept.decode(errors="replace"))
    if run.outcome != "running":
        printer.end(run)


def _print_next(here: Here, cr: Json, after: KeptRun | None, printer: _Printer) -> None:
    """Print each run that begins later, until the user stops the command."""
    seen = {after.run} if after else set()
    began = after.began if after else None
    while True:
        for run in reversed(here.runs(cr, _NEWEST)):
            if not run.has_file:
                continue  # its folder is there, and what is to be said of it will be in a moment
            if run.run not in seen and run.began and (began is None or run.began > began):
                seen.add(run.run)
                began = run.began
                _print_run(run, printer, follows=True)
        _pause()


def _print_handlers(here: Here, cr: Json, *, follows: bool, is_json: bool) -> None:
    """The newest lines of its handlers; the engine keeps a few thousand for all CRs."""
    place = {field: cr[field] for field in ("api_version", "kind", "namespace", "name")}
    engine, last = here.engine_of_handlers(place), 0
    for state in engine.states() if follows else [engine.state()]:
        crs = (each for each in state["crs"] if place.items() <= each.items())
        acts = [act for each in crs for act in each["handlers"]]
        lines = [(line["number"], line, act["name"]) for act in acts for line in act["lines"]]
        for number, line, handler in sorted(lines, key=itemgetter(0)):
            if number > last:
                last = number
                _print_handler_line(handler, line, is_json=is_json)
    if not last:
        say("its handlers logged nothing lately")


def _print_handler_line(handler: str, line: Json, *, is_json: bool) -> None:
    if is_json:
        print(json.dumps({"handler": handler, "at": line["at"], "line": line["text"]}), flush=True)
    else:
        print(plain(f"{line['at']} {handler}: {line['text']}"), flush=True)


def _pause() -> None:
    threading.Event().wait(_PAUSE_S)
