"""`rolecall status --shards`: which replica has which part of the CRs, as one of them sees it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import datetime
from itertools import count, groupby

from rolecall.cli.engine_choice import Here, place_or_relay
from rolecall.cli.spans import moment, since
from rolecall.cli.table import Column, table
from rolecall.cli.terminal import Screen, say, screen_now
from rolecall.clock import SystemClock
from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall.plain_text import plain

# A replica renews its Lease every two seconds; one that did not twice may be dead.
_SILENT_S = 5.0
_COLUMNS = (
    Column("REPLICA", least=12),
    Column("WEIGHT", may_go=3),
    Column("SHARDS"),
    Column("RUNS/MIN", may_go=1),
    Column("SEEN", may_go=2),
    Column("STATE"),
    Column("WHICH", least=8, may_go=4),
)


def show_shards(arguments: argparse.Namespace) -> int:
    if arguments.what or arguments.watch:
        raise InputError(
            "`--shards` shows replicas, and was asked for together with a CR, a kind or `-w`",
            hint="`rolecall status KIND/NAME` says which replica has one",
        )
    here = place_or_relay(arguments)
    if isinstance(here, int):
        return here
    shards = here.running().shards()
    if arguments.output == "json":
        engine = here.state["engine"] if here.state else None
        print(json.dumps({"engine": engine, "shards": shards}, indent=2))
    elif shards is None:
        print(_undivided(here))
    else:
        now, screen = SystemClock().now(), screen_now()
        why_not = shards[
            "why_not"
        ]  # then others may work in another way, and nothing is known of gaps
        gaps = [] if why_not else _gaps(shards, now)
        print("\n".join([*_table(shards, screen, now), *gaps]))
        if why_not:
            say(plain(f"no shard is taken: {why_not}"))
    return 0


def _undivided(here: Here) -> str:
    leads = here.state is None or here.state["engine"].get("leads")
    role = (
        "this engine has all CRs" if leads else "this engine does not lead, and another has all CRs"
    )
    return f"no shards: {role}; `rolecall run --shards` divides them among replicas"


def _table(shards: Json, screen: Screen, now: datetime) -> list[str]:
    rows = [_row(member, now) for member in shards["members"]]
    return table(_COLUMNS, rows, screen) if rows else ["no replica is known to live"]


def _row(member: Json, now: datetime) -> Sequence[str]:
    own = " (asked)" if member["self"] else ""
    seen = since(member["seen"], now)
    return (
        f"{member['replica']}{own}",
        str(member["weight"]),
        str(len(member["shards"])),
        f"{member['runs_per_minute']:g}",
        f"{seen} ago" if seen else "",
        _state(member, now),
        _numbers(member["shards"]),
    )


def _state(member: Json, now: datetime) -> str:
    seen = moment(member["seen"])
    if seen is not None and (now - seen).total_seconds() > _SILENT_S:
        return "silent"
    return "leaving" if member["leaving"] else "works"


def _gaps(shards: Json, now: datetime) -> list[str]:
    """The shards without a holder, each with the time since it lost its holder."""
    unheld = shards["unheld"]
    if not unheld:
        return [f"each of the {shards['count']} shards has a replica"]
    parts = [
        f"{_numbers([gap['shard'] for gap in gaps])} for {age}"
        for age, gaps in groupby(unheld, key=lambda gap: since(gap["since"], now))
    ]
    has = "shard has" if len(unheld) == 1 else "shards have"
    return [
        f"{len(unheld)} of {shards['count']} {has} no replica, so their CRs wait: {'; '.join(parts)}"
    ]


def _numbers(shards: Sequence[int]) -> str:
    """Such as `0-3,7`."""
    places = count()
    groups = groupby(shards, key=lambda shard: shard - next(places))
    runs = [list(group) for _, group in groups]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
