"""When a schedule was due last, which nothing in Kubernetes tells."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

_NAMES = "SUN MON TUE WED THU FRI SAT", " JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"
_RANGES = (0, 59), (0, 23), (1, 31), (1, 12), (0, 6)
_DAYS = 5 * 366  # a leap year comes at least so often, but for 1900 and 2100


def etcdcluster_due(schedule: str, now: float) -> str:
    """The last moment up to `now` (seconds since 1970) that cron's `schedule` names, in UTC."""
    fields = schedule.split()
    minutes, hours, days, months, weekdays = map(_numbers, fields, _RANGES)
    is_either = fields[2][0] not in "*?" and fields[4][0] not in "*?"
    end = datetime.fromtimestamp(now, UTC)
    for back in range(_DAYS):
        day = end - timedelta(days=back)
        fits = (day.day in days, day.isoweekday() % 7 in weekdays)
        if day.month not in months or not (any(fits) if is_either else all(fits)):
            continue
        for hour in sorted(hours, reverse=True):
            for minute in sorted(minutes, reverse=True):
                moment = day.replace(hour=hour, minute=minute, second=0, microsecond=0)
                if moment <= end:
                    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return ""


def _numbers(field: str, limits: tuple[int, int]) -> set[int]:
    """What one field of cron stands for."""
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        low = limits[0] if first in ("*", "?") else _number(first)
        high = limits[1] if first in ("*", "?") or (step and not last) else _number(last or first)
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _number(text: str) -> int:
    names = next((each.split(" ") for each in _NAMES if text.upper() in each.split(" ")), None)
    return names.index(text.upper()) if names else int(text)


class FilterModule:
    """How Ansible finds the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Names and functions."""
        return {"etcdcluster_due": etcdcluster_due}
