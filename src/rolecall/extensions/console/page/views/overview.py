"""What the operator does: values in, text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rolecall.extensions.console.page.rows import Counts
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page, render

_MOST_RUNNING = 100


@dataclass(frozen=True, slots=True)
class Replica:
    """The engine that shows the page."""

    version: str
    host: str
    began: str
    works: bool
    leader: str  # where one works alone
    part: str  # which part of the objects it has; empty: all of them, if it works
    server: str
    runs_a_minute: float


def overview(counts: Counts, replica: Replica, layout: PageLayout) -> Html:
    return page("overview", "Overview", layout, live="/events", **_overview_values(counts, replica))


def overview_parts(counts: Counts, replica: Replica) -> Html:
    """What changes while one looks."""
    return render("overview_parts", **_overview_values(counts, replica))


def _overview_values(counts: Counts, replica: Replica) -> dict[str, Any]:
    return {
        "kinds": sorted(counts.by_kind.items(), key=lambda pair: pair[0].kind),
        "running": counts.running[:_MOST_RUNNING],
        "waiting": counts.by_urgency.most_common(),
        "replica": replica,
    }
