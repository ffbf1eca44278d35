"""Rows of made-up worlds, for what must hold of each."""

from __future__ import annotations

from random import Random

from rolecall.cli import CR_STATES
from rolecall.extending import HeldRun
from rolecall.extensions.console.page.choosing import Choosing, ChosenRows
from rolecall.extensions.console.page.rows import (
    CrRow,
    Live,
    NextRun,
    PlaceRows,
    Query,
    SeenRows,
)
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.workqueue import Key

KINDS = [Gvk("demo.example.com", "v1", kind) for kind in ("Website", "Gadget")]
NAMESPACES = ["", "shop", "bank", "team-a"]
REASONS = [
    "Pod {name}-7d9f8b-x2x8q is not ready",
    "HTTP 404 of {name}",
    "HTTP 500 of {name}",
    "  the disk\tis full\ud800 = 12345 ! ",
]


def random_row(dice: Random, key: Key) -> CrRow:
    state, last, live = dice.choice(CR_STATES), None, None
    if dice.random() < 0.8:
        is_tried_again = state in ("running", "waiting") and dice.random() < 0.3
        outcome = "failed" if state == "failed" or is_tried_again else "succeeded"
        reason = dice.choice(REASONS).format(name=key.name) if outcome == "failed" else ""
        run = KeptRun("7", outcome=outcome, reason=reason, cause=dice.choice(["edit", "period"]))
        last = HeldRun.of(run)
    if state in ("running", "waiting"):
        live = Live(dice.random() * 1e9, dice.choice(["edit", "retry 2"]), urgency="edit")
    follows = NextRun(dice.random() * 1e9, "period") if dice.random() < 0.3 else None
    return CrRow(key, state, 1, live, last, follows)


def random_world(dice: Random, size: int = 200) -> SeenRows:
    """Of a reader who may list all, and read some logs."""
    places: dict[tuple[Gvk, str], PlaceRows] = {}
    for number in range(size):
        where = dice.choice(KINDS), dice.choice(NAMESPACES)
        key = Key(*where, f"{dice.choice(['web', 'db'])}-{number:04}")
        places.setdefault(where, PlaceRows(*where)).add(random_row(dice, key))
    for place in places.values():
        place.rows.sort(key=lambda row: row.key.name)
    with_log = frozenset(each for each in places if dice.random() < 0.6)
    ordered = sorted(places.values(), key=lambda each: (each.gvk, each.namespace))
    return SeenRows(ordered, with_log)


def chosen(seen: SeenRows, query: Query, labelled: frozenset[Key] | None = None) -> ChosenRows:
    choosing = Choosing(seen, query, labelled)
    for _ in choosing.steps():
        pass
    return choosing.chosen
