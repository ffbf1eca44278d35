"""All objects: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rolecall.extensions.console.page.rows import CrRow, Query
from rolecall.extensions.console.page.views.rendering import (
    Html,
    PageLayout,
    encoded,
    page,
    render,
)

CR_WINDOW = 100


@dataclass(frozen=True, slots=True)
class Window:
    """Some of the rows that a query found."""

    query: Query
    rows: Sequence[CrRow]
    start: int
    total: int
    problem: str = ""  # why nothing could be found

    @property
    def found(self) -> str:
        return "1 object" if self.total == 1 else f"{self.total:,} objects"


def crs(window: Window, kinds: Sequence[str], layout: PageLayout) -> Html:
    values: dict[str, Any] = {
        "window": window,
        "query": window.query,
        "kinds": kinds,
        "words": encoded(asdict(window.query)),
        "size": CR_WINDOW,
    }
    return page("crs", "Objects", layout, live="/events", **values)


def cr_rows(window: Window) -> Html:
    """The rows alone, for the script."""
    return render("cr_rows", window=window)
