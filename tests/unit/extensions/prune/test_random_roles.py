"""Random roles over random histories: nothing is deleted that the next run would make again.

A role here is a list of steps whose conditions look at the CR's spec: it makes an object by name, makes
one with a name of its own unless a list shows one, or only reads. The world is a dict; what a run asks
for and is answered becomes its record.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pytest

from rolecall.extensions.prune import Inventory, would_prune
from rolecall.record import RecordedRequest, meets_selector
from tests.unit.extensions.prune.worlds import (
    INFO,
    asked,
    inventory,
    looked,
    missing,
    touched,
    watch,
)

World = dict[str, dict[str, str]]  # names and labels
Ask = Callable[[RecordedRequest], None]
FLAGS = "abcd"


@dataclass(frozen=True)
class Step:
    """What is done while the flag is in the spec."""

    what: str  # make, make_generated, read, remove
    name: str
    flag: str

    def run(self, world: World, ask: Ask) -> None:
        match self.what:
            case "make":
                self._make(world, ask)
            case "make_generated":
                self._make_unless_listed(world, ask)
            case "read":
                ask(looked(self.name, INFO) if self.name in world else missing(self.name))
            case "remove":
                self._remove(world, ask)

    def _make(self, world: World, ask: Ask) -> None:
        if self.name in world:
            ask(looked(self.name))
            return
        ask(missing(self.name))
        world[self.name] = {"app": self.name}
        ask(asked("create", self.name))

    def _make_unless_listed(self, world: World, ask: Ask) -> None:
        selector = f"app=generated-{self.name}"
        ask(asked("list", query=f"labelSelector={selector.replace('=', '%3D')}"))
        if not any(meets_selector(labels, selector) for labels in world.values()):
            fresh = f"{self.name}-{len(world)}{len(self.flag)}"
            world[fresh] = {"app": f"generated-{self.name}"}
            ask(asked("create", fresh))

    def _remove(self, world: World, ask: Ask) -> None:
        if self.name in world:
            ask(looked(self.name))
            del world[self.name]
            ask(asked("delete", self.name))


def random_role(chance: random.Random) -> list[Step]:
    """A step each for some objects; no two steps disagree about one."""
    weights = [5, 2, 1, 1]
    kinds = ["make", "make_generated", "read", "remove"]
    return [
        Step(chance.choices(kinds, weights)[0], f"{kind}{number}", chance.choice(FLAGS))
        for number, kind in enumerate(chance.choices("xyz", k=8))
    ]


def requests_of(role: Iterable[Step], spec: set[str], world: World) -> list[RecordedRequest]:
    """Run a role over a world."""
    requests: list[RecordedRequest] = []
    for step in role:
        if step.flag in spec:
            step.run(world, requests.append)
    return [replace(each, number=number) for number, each in enumerate(requests)]


def pruned(old: Inventory, requests: list[RecordedRequest], world: World) -> list[str]:
    """Delete from the world as the engine would; returns what went."""
    gone = []
    for candidate in would_prune(old, touched(*requests), watch()):
        labels = world.get(candidate.entry.name)
        is_listed = labels is not None and any(
            meets_selector(labels, place.label_selector) for place in candidate.lists
        )
        if labels is not None and not candidate.kept and not is_listed:
            del world[candidate.entry.name]
            gone.append(candidate.entry.name)
    return gone


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_next_run_makes_nothing_of_what_was_deleted(seed: int) -> None:
    chance = random.Random(seed)
    role, world, kept = random_role(chance), World(), Inventory("cr")
    for _ in range(12):
        spec = set(chance.sample(FLAGS, chance.randrange(len(FLAGS) + 1)))
        requests = requests_of(role, spec, world)
        gone = pruned(kept, requests, world)
        kept = inventory(*requests, old=kept)
        again = requests_of(role, spec, world)
        made = {each.name for each in again if each.verb == "create"}
        assert not made, f"deleted {gone}, and made {made} again"
        wanted = {step.name for step in role if step.what == "make" and step.flag in spec}
        unwanted = {step.name for step in role if step.what == "make"} - wanted
        read = {step.name for step in role if step.what == "read"}
        assert wanted <= world.keys()
        assert not (unwanted - read) & world.keys()
