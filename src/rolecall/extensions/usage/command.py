"""`rolecall usage`: what runs cost, by namespace, kind or CR."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from rolecall.cli.engine_choice import Here, add_place, place_or_relay
from rolecall.cli.parsers import Subparsers, command_parser
from rolecall.cli.spans import span
from rolecall.cli.table import Column, table
from rolecall.cli.terminal import say, screen_now
from rolecall.clock import SystemClock, time_text
from rolecall.documents import DurationError, parse_duration
from rolecall.errors import InputError
from rolecall.extensions.usage import (
    MOST_DAYS,
    CrOfRuns,
    Grouping,
    Usage,
    UsageRow,
    read_usage,
    total_of,
    usage_by,
)

_DAY_S = 86400.0
_FIGURES = ("crs", "runs", "failed", "seconds", "cpu_seconds", "requests", "objects")
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_CLUSTER = "(cluster)"
_EPILOG = f"""\
CPU is in seconds, of the play with all programs that it waited for. OBJECTS are those that CRs
own, as their last good runs saw them. Hours count whole; days do where they are longer ago than
yesterday. {MOST_DAYS} days are kept, and no longer than the folder of runs.

-o json prints {{"since", "until", "by", "rows": [...], "total": {{...}}}}.
-o csv is for spreadsheets: a name that one of them would take for a formula has a ' before it.
"""


@dataclass(frozen=True, slots=True)
class _Usage:
    """What was asked, and found."""

    by: Grouping
    since: datetime  # what is counted begins here
    until: datetime
    rows: Sequence[UsageRow]
    total: UsageRow


def add_parser(subparsers: Subparsers) -> None:
    parser = command_parser(
        subparsers,
        "usage",
        show_usage,
        "Shows what runs cost: their number, seconds, CPU seconds, requests to the API"
        " server, and the objects that CRs own; what costs most first.",
        examples={
            "rolecall usage": "the last 24 hours, by namespace",
            "rolecall usage --since 7d --by kind": "a week, by kind",
            "rolecall usage --by cr -o csv": "by CR, for a spreadsheet",
        },
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--since", metavar="TIME", default="24h", help="such as 90m, 24h or 30d (default: 24h)"
    )
    parser.add_argument(
        "--by",
        choices=[each.value for each in Grouping],
        default=Grouping.NAMESPACE.value,
        help="default: namespace",
    )
    parser.add_argument("-n", "--namespace", metavar="NS", help="only CRs of this namespace")
    parser.add_argument(
        "-o", "--output", choices=("table", "json", "csv"), default="table", help="default: table"
    )
    add_place(parser)


def show_usage(arguments: argparse.Namespace) -> int:
    asked_s = _seconds_of(arguments.since)
    here = place_or_relay(arguments)
    if isinstance(here, int):
        return here
    _note_missing_shards(here)
    now = SystemClock().now()
    since = now - timedelta(seconds=asked_s)
    used: dict[CrOfRuns, Usage] = {}
    began: datetime | None = None
    for root in here.roots:
        found, first = read_usage(root, since, here.server)
        if first is not None:
            began = min(began or first, first)
        for cr, each in found.items():
            if arguments.namespace in (None, cr.namespace):
                used[cr] = used.get(cr, Usage()) + each
    rows = usage_by(Grouping(arguments.by), used)
    usage = _Usage(Grouping(arguments.by), began or since, now, rows, total_of(rows))
    _print(usage, arguments.output)
    return 0


def _note_missing_shards(here: Here) -> None:
    """Where replicas divide the CRs, each has a ledger of its own runs."""
    shards = here.state["engine"].get("shards") if here.state else None
    if shards and shards["held"] < shards["count"]:
        say(
            f"these are the runs of one replica, which has {shards['held']} of {shards['count']} shards"
            " now; the metrics of all of them add up to the whole"
        )


def _print(usage: _Usage, output: str) -> None:
    if output == "json":
        print(json.dumps(_as_json(usage), indent=2))
    elif output == "csv":
        print(_as_csv(usage), end="")
    elif not usage.rows:
        print("no usage is kept of this time")
    else:
        say(
            f"since {time_text(usage.since)}, for {span((usage.until - usage.since).total_seconds())}"
        )
        print("\n".join(_as_table(usage)))


def _seconds_of(text: str) -> float:
    """Days as well, which Go's durations do not have."""
    try:
        if text.endswith("d") and text[:-1].isdecimal():
            seconds = int(text[:-1]) * _DAY_S
        else:
            seconds = parse_duration(text)
    except DurationError:
        seconds = 0.0
    if not 0 < seconds <= MOST_DAYS * _DAY_S:
        raise InputError(
            f"--since: `{text}` is not a duration of at most {MOST_DAYS} days",
            hint="use a number and a unit, such as `90m`, `24h` or `30d`",
        )
    return seconds


def _as_table(usage: _Usage) -> list[str]:
    names = [Column(part.upper(), least=8) for part in _shown_parts(usage.by)]
    figures = [Column(title) for title in ("RUNS", "FAILED")]
    more = [Column("SECONDS", may_go=3), Column("CPU"), Column("SHARE", may_go=2)]
    last = [Column("REQUESTS", may_go=1), Column("OBJECTS", may_go=1)]
    whole = usage.total.used.cpu_s
    rows = [[*_shown_names(usage.by, row), *_cells(row, whole)] for row in usage.rows]
    if len(rows) > 1:
        blank = [""] * (len(names) - 1)
        rows.append(["total", *blank, *_cells(usage.total, whole)])
    return table([*names, *figures, *more, *last], rows, screen_now())


def _shown_parts(by: Grouping) -> Sequence[str]:
    return {Grouping.CR: ("cr", "namespace"), Grouping.KIND: ("kind",)}.get(by, by.parts)


def _shown_names(by: Grouping, row: UsageRow) -> Sequence[str]:
    """As kubectl would have them."""
    if by is Grouping.NAMESPACE:
        return (row.names[0] or _CLUSTER,)
    api_version, kind, *place = row.names
    group = api_version.rpartition("/")[0]
    if by is Grouping.KIND:
        return (f"{kind}.{group}" if group else kind,)
    return (f"{kind}/{place[1]}", place[0] or _CLUSTER)


def _cells(row: UsageRow, whole_cpu_s: float) -> list[str]:
    used = row.used
    share = f"{100 * used.cpu_s / whole_cpu_s:.0f}%" if whole_cpu_s else ""
    figures = (used.runs, used.failed, f"{used.seconds:.1f}", f"{used.cpu_s:.1f}", share)
    return [str(each) for each in (*figures, used.requests, used.owned or 0)]


def _figures(row: UsageRow) -> dict[str, int | float]:
    used = row.used
    values = (row.crs, used.runs, used.failed, round(used.seconds, 3), round(used.cpu_s, 3))
    return dict(zip(_FIGURES, (*values, used.requests, used.owned or 0), strict=True))


def _as_json(usage: _Usage) -> dict[str, Any]:
    parts = usage.by.parts
    return {
        "since": time_text(usage.since),
        "until": time_text(usage.until),
        "by": usage.by.value,
        "rows": [
            {**dict(zip(parts, row.names, strict=True)), **_figures(row)} for row in usage.rows
        ],
        "total": _figures(usage.total),
    }


def _as_csv(usage: _Usage) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*usage.by.parts, *_FIGURES])
    for row in usage.rows:
        writer.writerow([*map(_harmless, row.names), *_figures(row).values()])
    return text.getvalue()


def _harmless(name: str) -> str:
    return f"'{name}" if name.startswith(_FORMULA) else name
