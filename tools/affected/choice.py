"""Choose nightly test files for what a commit touched, within a budget of seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tools.affected.map import Map
from tools.affected.rooms import room_of
from tools.affected.tests import helpers_of, nightly_files
from tools.placement import Seconds

BUDGET_S = 600.0
# Tests that only pass through a touched room fill the budget up to this part.
PASSING_PART = 0.5
# Of nightly tests that were never measured; those of real nodes start nodes first.
UNKNOWN_S = 30.0
UNKNOWN_REAL_S = 120.0


@dataclass
class Choice:
    """What runs now, what would not fit, and what each took into account."""

    budget_s: float
    seconds: float = 0.0
    chosen: dict[str, str] = field(default_factory=dict)  # file: why
    left: dict[str, str] = field(default_factory=dict)

    def offer(self, file: str, why: str, seconds: float) -> None:
        """Take it where it fits."""
        if file in self.chosen or file in self.left:
            return
        if self.seconds + seconds <= self.budget_s:
            self.chosen[file] = why
            self.seconds += seconds
        else:
            self.left[file] = why


def choose(
    paths: Iterable[str], mapped: Map, seconds: Mapping[str, Seconds], budget_s: float = BUDGET_S
) -> Choice:
    """First tests that changed themselves, then those about touched rooms, then all with an engine.

    Each room in turn offers its most specific test that is left.
    """
    touched = sorted({room_of(path) for path in paths} - {""})
    queues = [(room, _files_of_tests(room)) for room in touched if room.startswith("tests/")]
    choice = Choice(budget_s)
    _offer_by_turns(queues, choice, seconds)
    _offer_by_turns([(room, mapped.about(room)) for room in touched], choice, seconds)
    choice.budget_s = budget_s * PASSING_PART
    for file in mapped.passing(touched):
        choice.offer(file, "all of the engine", nightly_seconds(file, seconds))
    choice.budget_s = budget_s
    return choice


def _offer_by_turns(
    queues: Sequence[tuple[str, list[str]]], choice: Choice, seconds: Mapping[str, Seconds]
) -> None:
    for number in range(max((len(files) for _, files in queues), default=0)):
        for room, files in queues:
            if number < len(files):
                file = files[number]
                choice.offer(file, room, nightly_seconds(file, seconds))


def nightly_seconds(file: str, seconds: Mapping[str, Seconds]) -> float:
    """What its nightly tests take."""
    unknown = UNKNOWN_REAL_S if file.startswith("tests/real/") else UNKNOWN_S
    return seconds.get(file, Seconds()).nightly or unknown


def _files_of_tests(path: str) -> list[str]:
    """A test file itself, or those that a helper of tests serves."""
    name = path.rpartition("/")[2]
    if name.startswith("test_") and name.endswith(".py"):
        return [path] if path in nightly_files() else []
    return [file for file in nightly_files() if path in helpers_of(file)]
