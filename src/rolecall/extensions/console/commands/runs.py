"""`rolecall runs`: the runs of a CR, why each began, what it came to, what it read and wrote."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import datetime

from rolecall.cli.engine_choice import add_output, add_place, place_or_relay
from rolecall.cli.kind_words import named_cr
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.spans import seconds_text, since
from rolecall.cli.table import Column, table
from rolecall.cli.terminal import Colour, screen_now
from rolecall.clock import SystemClock
from rolecall.history import KeptRun
from rolecall.json_object import Json

_OUTCOMES = {
    "running": Colour.CYAN,
    "succeeded": Colour.GREEN,
    "failed": Colour.RED,
    "cancelled": Colour.YELLOW,
}
_COLUMNS = (
    Column("RUN", least=8),
    Column("AGE"),
    Column("WHY", least=10),
    Column("OUTCOME", colour=_OUTCOMES.get),
    Column("TOOK", may_go=1),
    Column("CHANGED", least=7, may_go=2),
    Column("FAILED", least=10),
)
_HANDLER_COLUMNS = (
    Column("HANDLER", least=8),
    Column("AGE"),
    Column("OUTCOME", colour=_OUTCOMES.get),
    Column("TOOK", may_go=1),
    Column("FAILURES", may_go=2),
    Column("WHY", least=10),
)
_EPILOG = """\
`rolecall logs KIND/NAME --run RUN` prints the output of one; the first characters of RUN are enough.

--record shows what one run read and wrote: each task with its requests, what they changed, and what was
asked outside of any task. --timeline and --html show the same on one axis. Exit code 1: the run has no
record.

-o json prints {"kind", "namespace", "name", "runs": [...]}, each run as in its run.json; with --record
{"kind", "namespace", "name", "run", "record", "why_none"}, the record as in its record.json.
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "runs",
        show_runs,
        "Lists the runs of a CR that are kept, newest first: when and why each began, its"
        " outcome, the tasks that changed something, and the one that failed.",
        examples={
            "rolecall runs website/shop": "the runs of a CR",
            "rolecall runs website/shop --record": "what the newest run read and wrote",
            "rolecall runs website/shop --html run.html": "the timeline of the newest run as a page",
        },
        epilog=_EPILOG,
    )
    parser.add_argument("what", metavar="KIND/NAME", help="such as website/shop")
    _add_record(parser)
    add_output(parser)
    add_place(parser)


def _add_record(parser: argparse.ArgumentParser) -> None:
    section = parser.add_argument_group("what a run read and wrote")
    section.add_argument("--record", action="store_true", help="tasks with their requests")
    section.add_argument("--timeline", action="store_true", help="the same on one axis")
    section.add_argument(
        "--html", metavar="FILE", help="the timeline as a page of one file; `-`: to stdout"
    )
    section.add_argument(
        "--run",
        metavar="ID",
        dest="run_id",
        help="id of the run, or its first characters; default: the newest that has ended",
    )


def show_runs(arguments: argparse.Namespace) -> int:
    if arguments.record or arguments.timeline or arguments.html or arguments.run_id:
        from rolecall.extensions.console.commands.run_record import show_record  # noqa: PLC0415 - not for a list of runs

        return show_record(arguments)
    word = named_cr(arguments.what)
    here = place_or_relay(arguments)
    if isinstance(here, int):
        return here
    cr = here.cr(word, arguments.namespace)
    runs = here.runs(cr)
    if arguments.output == "json":
        named = {key: cr[key] for key in ("kind", "namespace", "name")}
        print(json.dumps({**named, "runs": [each.as_json() for each in runs]}, indent=2))
    elif not runs and not cr.get("handlers"):
        print(f"no run of {word} is kept")
    else:
        now = SystemClock().now()
        rows = [_row(each, now) for each in runs]
        lines = table(_COLUMNS, rows, screen_now()) if rows else []
        if acts := cr.get("handlers"):
            lines += [*([""] if rows else []), *_handlers(acts, now)]
        print("\n".join(lines))
    return 0


def _handlers(acts: Sequence[Json], now: datetime) -> list[str]:
    """The last call of each handler."""
    rows = [
        (
            act["name"],
            since(act["at"], now),
            act["outcome"],
            "" if act["outcome"] == "running" else seconds_text(act["seconds"]),
            str(act["failures"]) if act["failures"] else "",
            act["why"],
        )
        for act in acts
    ]
    return table(_HANDLER_COLUMNS, rows, screen_now())


def _row(run: KeptRun, now: datetime) -> Sequence[str]:
    changed = [_task_name(each) for each in run.changed_tasks]
    return (
        run.run,
        since(run.began, now),
        f"{run.cause} (finalizer)" if run.is_finalizer else run.cause,
        run.outcome,
        since(run.began, now) if run.outcome == "running" else seconds_text(run.seconds),
        f"{len(changed)}: {', '.join(changed)}" if changed else "0",
        _failed(run),
    )


def _task_name(changed: str) -> str:
    """Without its file and line, which stand before it."""
    return changed.partition(": ")[2] or changed


def _failed(run: KeptRun) -> str:
    task = run.failed_task
    if task is None:
        return run.reason if run.outcome != "succeeded" else ""
    place = f" ({task.place})" if task.place else ""
    return f"{task.name}{place}: {task.message}".rstrip(": ")
