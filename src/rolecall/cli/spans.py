"""How long something has been, and when it will be, in as few letters as people need."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

_UNITS = ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s"))


def moment(text: object) -> datetime | None:
    """A time in RFC 3339; None where it is none."""
    if isinstance(text, datetime):
        return text
    with contextlib.suppress(ValueError):
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
        return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)
    return None


def span(seconds: float) -> str:
    """Such as `8s`, `3m20s`, `2h5m`, `4d`; the second unit is left out where the first is large."""
    whole = max(0, round(seconds))
    for unit, letter, part, part_letter in _UNITS:
        if whole >= unit:
            count, rest = divmod(whole, unit)
            parts = rest // part if count < 10 else 0
            return f"{count}{letter}" + (f"{parts}{part_letter}" if parts else "")
    return f"{whole}s"


def since(text: object, now: datetime) -> str:
    """How long ago; empty where no time is known."""
    then = moment(text)
    return span((now - then).total_seconds()) if then else ""


def until(text: object, now: datetime) -> str:
    """`in 5s`, or `now` where it is due."""
    then = moment(text)
    if then is None:
        return ""
    seconds = (then - now).total_seconds()
    return f"in {span(seconds)}" if seconds >= 1 else "now"


def seconds_text(seconds: object) -> str:
    """How long a run took; tenths where it was short."""
    if not isinstance(seconds, int | float):
        return ""
    return f"{seconds:.1f}s" if seconds < 10 else span(seconds)
