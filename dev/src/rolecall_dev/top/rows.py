"""Which CRs are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from rolecall.cli import CR_STATES, began, cr_row
from rolecall.json_object import Json
from rolecall.plain_text import plain

# Failures first.
_STATES = sorted(CR_STATES, key=lambda state: state != "failed")


class CrPlace(NamedTuple):
    """Which CR it is, as long as it exists."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def word(self) -> str:
        """As commands take it; with the group, since another one may have such a kind."""
        group = self.api_version.rpartition("/")[0]
        return f"{self.kind.lower()}{f'.{group}' if group else ''}/{self.name}"

    @property
    def words(self) -> list[str]:
        """The same with its namespace."""
        return [self.word, *([f"--namespace={self.namespace}"] if self.namespace else [])]

    def __str__(self) -> str:
        return plain(f"{self.kind} {'/'.join(filter(None, (self.namespace, self.name)))}")


def place_of(cr: Json) -> CrPlace:
    return CrPlace(*(str(cr[field]) for field in CrPlace._fields))


def _by_kind(cr: Json) -> tuple[str, ...]:
    return (cr["namespace"], cr["kind"], cr["name"])


def _by_name(cr: Json) -> tuple[str, ...]:
    return (cr["name"], *_by_kind(cr))


def _by_state(cr: Json) -> tuple[Any, ...]:
    state = cr["state"]
    return (_STATES.index(state) if state in _STATES else len(_STATES), *_by_kind(cr))


def _by_age(cr: Json) -> tuple[Any, ...]:
    """The longest first; those without a time last."""
    since = str(began(cr) or "")
    return (not since, since, *_by_kind(cr))


# In the order in which a key goes through them; the first is that of `rolecall status`.
SORTS: Mapping[str, Callable[[Json], tuple[Any, ...]]] = {
    "kind": _by_kind,
    "for": _by_age,
    "state": _by_state,
    "name": _by_name,
}


def chosen(crs: Sequence[Json], wanted: str, sort: str, now: datetime) -> list[Json]:
    """Those of which a cell contains the text, whatever the case of its letters."""
    text = wanted.casefold()
    found = [
        cr for cr in crs if not text or any(text in cell.casefold() for cell in cr_row(cr, now))
    ]
    return sorted(found, key=SORTS[sort])


def counts(crs: Sequence[Json]) -> str:
    """How many there are, and of each state."""
    states = [cr["state"] for cr in crs]
    parts = [f"{states.count(state)} {state}" for state in _STATES if state in states]
    return f"{len(crs)} CR{'' if len(crs) == 1 else 's'}" + (
        f": {', '.join(parts)}" if parts else ""
    )
