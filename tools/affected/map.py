"""The map from rooms to test files with nightly tests about them, checked in as tests/rooms.json.

Each list begins with the most specific file, the one that is about the fewest rooms;
real nodes come last, since they take minutes to start. Under `engine` are
the files that have an engine at work, and so run through every room that the engine has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from tools.affected.rooms import Rooms
from tools.affected.tests import NIGHTLY_TIERS, facts_with_helpers, nightly_files
from tools.placement import ROOT

PATH = ROOT / "tests" / "rooms.json"
_ENGINE = "engine"


@dataclass(frozen=True)
class Map:
    """Test files by room, and those with an engine."""

    by_room: dict[str, list[str]]
    engine: list[str]
    rooms_of_engine: frozenset[str]

    def about(self, room: str) -> list[str]:
        """Tests that are about a room, the most specific first."""
        return self.by_room.get(room, [])

    def passing(self, rooms: Iterable[str]) -> list[str]:
        """Tests that pass through one of these rooms, as all that run the engine do."""
        return self.engine if self.rooms_of_engine & set(rooms) else []

    def text(self) -> str:
        """As it is checked in."""
        return (
            json.dumps({_ENGINE: self.engine, **dict(sorted(self.by_room.items()))}, indent=1)
            + "\n"
        )


@cache
def made_map() -> Map:
    """From the code as it is."""
    rooms = Rooms()
    named: dict[str, set[str]] = {}
    engine = []
    for file in nightly_files():
        facts = facts_with_helpers(file)
        named[file] = rooms.named_by(facts)
        # The tiers of browser and nodes are about the page, the image and the roles.
        if not file.startswith(NIGHTLY_TIERS) and rooms.runs_engine(facts):
            engine.append(file)

    def order(file: str) -> tuple[bool, int, str]:
        return file.startswith("tests/real/"), len(named[file]), file

    by_room: dict[str, list[str]] = {}
    for file in sorted(named, key=order):
        for room in named[file]:
            by_room.setdefault(room, []).append(file)
    return Map(by_room, sorted(engine, key=order), frozenset(rooms.of_engine))
