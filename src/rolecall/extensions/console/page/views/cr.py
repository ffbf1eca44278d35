"""One object: values in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecall.extending import Act
from rolecall.extensions.console.page import places
from rolecall.extensions.console.page.rows import CrRow
from rolecall.extensions.console.page.views.rendering import Html, PageLayout, page, render
from rolecall.history import KeptRun
from rolecall.json_object import Json, as_map
from rolecall.workqueue import Key


@dataclass(frozen=True, slots=True)
class OwnedObject:
    """Something that the CR's runs made, as it is now."""

    kind: str
    namespace: str
    name: str
    health: str  # a word or two; empty: not known
    is_well: bool | None
    task: str  # that wrote it last
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class CrPage:
    key: Key
    row: CrRow | None
    cr: Json | None  # live; None: it is not there
    runs: Sequence[KeptRun] = ()
    owned: Sequence[OwnedObject] = ()
    changes: Sequence[tuple[str, Any, Any]] | None = None  # path, then and now; None: not known
    may_change: bool = False
    may_read_log: bool = False
    problems: Sequence[str] = field(default_factory=tuple)
    acts: Sequence[Act] = ()  # of handlers
    unseen: int = 0  # objects that were not looked at, because there are so many


def cr(shown: CrPage, layout: PageLayout) -> Html:
    above = [("Objects", "/crs")]
    values = _cr_values(shown, layout)
    return page("cr", str(shown.key), live="/events", above=above, **values)


def cr_parts(shown: CrPage, layout: PageLayout) -> Html:
    """What changes while one looks."""
    return render("cr_parts", **_cr_values(shown, layout))


def _cr_values(shown: CrPage, layout: PageLayout) -> dict[str, Any]:
    cr = shown.cr or {}
    found = as_map(cr.get("status")).get("conditions")
    return {
        "shown": shown,
        "layout": layout,
        "here": places.of_cr(shown.key),
        "metadata": as_map(cr.get("metadata")),
        "conditions": [each for each in found if isinstance(each, dict)]
        if isinstance(found, list)
        else [],
    }
