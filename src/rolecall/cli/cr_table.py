"""The CRs of an engine as a table, as `rolecall status` and `rolecall top` show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rolecall.cli.spans import since, until
from rolecall.cli.table import Column, table
from rolecall.cli.terminal import Colour, Screen
from rolecall.json_object import Json

# What an engine says of a CR, in the order in which the page counts them.
CR_STATES = ("running", "waiting", "failed", "paused", "stopped", "unknown", "ready")
STATE_COLOURS = {
    "running": Colour.CYAN,
    "waiting": Colour.YELLOW,
    "failed": Colour.RED,
    "ready": Colour.GREEN,
    "paused": Colour.PURPLE,
    "stopped": Colour.YELLOW,
}
_COLUMNS = (
    Column("NAMESPACE", least=6, may_go=2),
    Column("CR", least=12),
    Column("STATE", colour=STATE_COLOURS.get),
    Column("FOR", may_go=1),
    Column("WHAT", least=10),
    Column("LAST", least=9, may_go=4),
    Column("NEXT", least=8, may_go=3),
)
_REPLICA = Column("REPLICA", least=8, may_go=5)


def cr_rows(crs: Sequence[Json], screen: Screen, now: datetime) -> list[str]:
    """Where CRs are divided, with who has each."""
    rows = [cr_row(cr, now) for cr in crs]
    if any(cr.get("shard") is not None for cr in crs):
        having = [[*row, cr.get("replica") or "-"] for row, cr in zip(rows, crs, strict=True)]
        return table((*_COLUMNS, _REPLICA), having, screen)
    return table(_COLUMNS, rows, screen) if rows else []


def cr_row(cr: Json, now: datetime) -> Sequence[str]:
    name = f"{cr['kind'].lower()}/{cr['name']}"
    last = cr.get("last") or {}
    ended = since(last.get("ended"), now)
    reported = f"{last.get('outcome')} {ended} ago" if ended else str(last.get("outcome") or "")
    return (
        cr["namespace"] or "-",
        name,
        cr["state"],
        since(began(cr), now),
        _what(cr),
        reported,
        next_text(cr, now),
    )


def _what(cr: Json) -> str:
    match cr["state"]:
        case "running":
            text = str(cr.get("task") or cr.get("cause") or "")
            return f"[waits] {text}" if cr.get("waits_since") else text
        case "waiting":
            return " ".join(filter(None, (urgency(cr), cr.get("cause"))))
        case "failed":
            reason = str((cr.get("last") or {}).get("reason") or "")
            return f"[being deleted] {reason}" if cr.get("deleted") else reason
        case "paused":
            return pause_text(cr)
        case _:
            return ""


def began(cr: Json) -> object:
    """Since when it is as it is."""
    match cr["state"]:
        case "running":
            return cr.get("task_since") or cr.get("began")
        case "waiting":
            return cr.get("waiting_since")
        case "paused":
            return (cr.get("pause") or {}).get("since")
        case _:
            return (cr.get("last") or {}).get("ended")


def urgency(cr: Json) -> str:
    return f"[{cr['urgency']}]" if cr.get("urgency") else ""


def next_text(cr: Json, now: datetime) -> str:
    when = until(cr.get("next_at"), now)
    return f"{when}: {cr['next_why']}" if when and cr.get("next_why") else when


def pause_text(cr: Json) -> str:
    """By whom, since when and why, as far as the annotations say."""
    note = cr.get("pause") or {}
    text = note.get("by") or "the annotation `rolecall.dev/paused`"
    if note.get("since"):
        text += f" since {note['since']}"
    return f"{text}: {note['because']}" if note.get("because") else text
