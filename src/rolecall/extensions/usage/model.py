"""What runs of one CR cost within some time, and how a line of the ledger says so.

Readers forgive, as with `run.json`: a line that cannot be understood, of a full disk or of another
release, is as if it were not there.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple


class CrOfRuns(NamedTuple):
    """Whose runs they were."""

    api_version: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The sum over some runs, none of which may be in two of them."""

    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    requests: int = 0
    owned: int | None = None  # objects that the CR owned at the end; None: nothing is known of it

    def __add__(self, later: Usage) -> Usage:
        return Usage(
            self.runs + later.runs,
            self.failed + later.failed,
            self.seconds + later.seconds,
            self.cpu_s + later.cpu_s,
            self.requests + later.requests,
            self.owned if later.owned is None else later.owned,
        )


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What runs of a CR used that ended within an hour, or within a day where that was folded."""

    at: datetime  # the beginning of the hour or day
    hours: int
    cr: CrOfRuns
    used: Usage
    server: str = ""  # of the cluster; empty: unknown, as in lines of earlier releases

    def written(self) -> str:
        used = self.used
        values: dict[str, Any] = {
            "at": self.at.strftime("%Y-%m-%dT%HZ"),
            "hours": self.hours,
            "server": self.server,
            **self.cr._asdict(),
            "runs": used.runs,
            "failed": used.failed,
            "seconds": round(used.seconds, 3),
            "cpu_s": round(used.cpu_s, 3),
            "requests": used.requests,
            "owned": used.owned,
        }
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def line_of(text: str | bytes) -> LedgerLine | None:
    """None of what is no line of a ledger."""
    try:
        values = json.loads(text)
        at = datetime.strptime(values["at"], "%Y-%m-%dT%HZ").replace(tzinfo=UTC)
        cr = CrOfRuns(*(str(values[name]) for name in CrOfRuns._fields))
        seconds, cpu_s = float(values["seconds"]), float(values["cpu_s"])
        owned = values["owned"]
        used = Usage(
            int(values["runs"]),
            int(values["failed"]),
            seconds,
            cpu_s,
            int(values["requests"]),
            None if owned is None else int(owned),
        )
        is_number = math.isfinite(seconds + cpu_s)
        server = str(values.get("server") or "")
        return LedgerLine(at, int(values["hours"]), cr, used, server) if is_number else None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
