"""One object: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from rolecall.extending import Act
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.rows import CrRow
from rolecall.extensions.console.page.views.asks import PatchRight
from rolecall.extensions.console.page.views.condition_words import drift_in, shown_conditions
from rolecall.extensions.console.page.views.owned import OwnedTree, age
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page, render
from rolecall.extensions.console.page.views.run_strip import run_strip
from rolecall.history import KeptRun
from rolecall.json_object import Json, as_map
from rolecall.status import conditions_of
from rolecall.workqueue import Key

# Its engine only observes a CR with it, as one whose watch says so.
_MODE = "rolecall.dev/mode"


@dataclass(frozen=True, slots=True)
class CrPage:
    key: Key
    row: CrRow | None
    cr: Json | None  # live; None: it is not there
    runs: Sequence[KeptRun] = ()
    owned: OwnedTree = field(default_factory=OwnedTree)
    changes: Sequence[tuple[str, Any, Any]] | None = None  # path, then and now; None: not known
    may_change: bool = False
    may_read_log: bool = False
    problems: Sequence[str] = field(default_factory=tuple)
    acts: Sequence[Act] = ()  # of handlers
    right: PatchRight = field(default_factory=PatchRight)  # that actions take
    now: datetime | None = None


def cr(shown: CrPage, layout: PageLayout) -> Html:
    above = [("Objects", "/crs")]
    values = _cr_values(shown, layout)
    return page("cr", str(shown.key), live="/events", above=above, **values)


def cr_parts(shown: CrPage, layout: PageLayout) -> Html:
    """What changes while one looks."""
    return render("cr_parts", **_cr_values(shown, layout))


def _cr_values(shown: CrPage, layout: PageLayout) -> dict[str, Any]:
    cr = shown.cr or {}
    metadata = as_map(cr.get("metadata"))
    conditions = conditions_of(cr)
    return {
        "shown": shown,
        "layout": layout,
        "here": places.of_cr(shown.key),
        "metadata": metadata,
        "conditions": shown_conditions(conditions),
        "drift": drift_in(conditions),
        "is_observed": as_map(metadata.get("annotations")).get(_MODE) == "observe",
        "strip": run_strip(shown.key, shown.runs, shown.now, may_read_log=shown.may_read_log),
        "age_of": partial(age, now=shown.now),
    }
