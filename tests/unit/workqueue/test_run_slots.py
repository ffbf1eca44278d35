"""A run that waits leaves its slot to others, and takes one again before it goes on."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Set as AbstractSet

import pytest

from rolecall.gvk import Gvk
from rolecall.settings import QueueSettings
from rolecall.workqueue import Key, Limits, Queue, Urgency
from rolecall.workqueue.run_slots import MAX_WOKEN
from tests.unit.workqueue.keys import APP, VOLUME, key
from tests.unit.workqueue.virtual_clock import VirtualClock

MANY = 20
STEPS = 400


class Runs:
    """Keys in hand as their runs see it: computing, waiting, or in line for a slot."""

    def __init__(
        self,
        max_runs: int,
        max_waiting: int,
        set_kinds: AbstractSet[Gvk] = frozenset(),
        per_kind: int = MANY,
    ) -> None:
        self.clock = VirtualClock()
        limits = Limits(
            max_runs,
            {APP: per_kind, VOLUME: per_kind},
            max_waiting=max_waiting,
            set_kinds=set_kinds,
        )
        self.queue = Queue(self.clock, limits, QueueSettings())
        self.computing: list[Key] = []
        self.waiting: list[Key] = []
        self.in_line: list[Key] = []
        self.workers = [asyncio.create_task(self._work()) for _ in range(max_runs + max_waiting)]

    async def _work(self) -> None:
        while True:
            self.computing.append((await self.queue.take()).key)

    async def add(self, *names: str, gvk: Gvk = APP, urgency: Urgency = Urgency.EDIT) -> None:
        for name in names:
            self.queue.add(key(name, gvk), urgency)
        await self.clock.rest()

    async def wait(self, chosen: Key) -> None:
        (self.computing if chosen in self.computing else self.in_line).remove(chosen)
        self.waiting.append(chosen)
        self.queue.leave_slot(chosen)
        await self.clock.rest()

    async def wake(self, chosen: Key) -> None:
        self.waiting.remove(chosen)
        self.in_line.append(chosen)
        self.queue.want_slot(chosen, lambda: self._goes_on(chosen))
        await self.clock.rest()

    async def end(self, chosen: Key) -> None:
        for runs in (self.computing, self.waiting, self.in_line):
            if chosen in runs:
                runs.remove(chosen)
        self.queue.done(chosen)
        await self.clock.rest()

    def _goes_on(self, chosen: Key) -> None:
        self.in_line.remove(chosen)
        self.computing.append(chosen)

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.computing]

    async def close(self) -> None:
        for worker in self.workers:
            worker.cancel()
        await asyncio.gather(*self.workers, return_exceptions=True)


async def test_twenty_runs_that_wait_need_two_slots() -> None:
    runs = Runs(max_runs=2, max_waiting=MANY)
    await runs.add(*map(str, range(MANY)))
    while runs.computing:
        assert len(runs.computing) <= 2
        await runs.wait(runs.computing[0])
    assert len(runs.waiting) == MANY
    assert runs.queue.snapshot().waiting == {APP: MANY}
    await runs.add("edited")
    assert runs.names == ["edited"]
    await runs.close()


async def test_runs_that_wake_together_go_on_two_at_a_time_in_the_order_of_their_waking() -> None:
    runs = Runs(max_runs=2, max_waiting=MANY)
    await runs.add("a", "b", "c", "d")
    while runs.computing:
        await runs.wait(runs.computing[0])
    for chosen in [key(name) for name in "dbca"]:
        await runs.wake(chosen)
    assert runs.names == ["d", "b"]
    await runs.end(key("d"))
    assert runs.names == ["b", "c"]
    await runs.end(key("b"))
    assert runs.names == ["c", "a"]
    await runs.close()


async def test_key_begins_among_runs_that_wake_again_and_again() -> None:
    runs = Runs(max_runs=1, max_waiting=MANY)
    await runs.add("a", "b", "c", "d", "e", "f")
    while runs.computing:
        await runs.wait(runs.computing[0])
    for chosen in [*runs.waiting]:
        await runs.wake(chosen)
    await runs.add("edited")
    before = 0
    while runs.names != ["edited"]:
        awake = runs.computing[0]
        await runs.wait(awake)
        await runs.wake(awake)
        before += 1
    assert before <= MAX_WOKEN
    await runs.close()


async def test_above_the_most_that_may_wait_a_run_keeps_its_slot() -> None:
    runs = Runs(max_runs=2, max_waiting=1)
    await runs.add("a", "b", "c", "d")
    await runs.wait(key("a"))
    assert runs.names == ["b", "c"]
    await runs.wait(key("b"))
    assert runs.names == ["c"], "`b` waits and keeps its slot"
    await runs.wake(key("b"))
    assert runs.names == ["c", "b"], "it had its slot all the time"
    await runs.wait(key("b"))
    await runs.end(key("a"))
    assert runs.names == ["c", "d"], "`b` may leave its slot now"
    await runs.close()


async def test_no_run_leaves_its_slot_where_none_may_wait() -> None:
    runs = Runs(max_runs=1, max_waiting=0)
    await runs.add("a", "b")
    await runs.wait(key("a"))
    assert runs.names == []
    await runs.wake(key("a"))
    assert runs.names == ["a"]
    await runs.close()


async def test_explicit_limit_of_a_kind_counts_waiting_runs() -> None:
    runs = Runs(max_runs=4, max_waiting=MANY, set_kinds={APP}, per_kind=1)
    await runs.add("a", "b")
    await runs.add("v", "w", gvk=VOLUME)
    assert runs.names == ["a", "v"]
    await runs.wait(key("a"))
    await runs.wait(key("v", VOLUME))
    assert runs.names == ["w"], "`b` must not begin beside `a`"
    await runs.wake(key("v", VOLUME))
    assert runs.names == ["w"], "one of that kind computes at a time"
    await runs.wake(key("a"))
    assert runs.names == ["w", "a"]
    await runs.close()


async def test_run_that_ends_while_it_waits_or_stands_in_line_takes_no_slot_along() -> None:
    runs = Runs(max_runs=1, max_waiting=MANY)
    await runs.add("a", "b", "c")
    await runs.wait(key("a"))
    await runs.wait(key("b"))
    await runs.wake(key("a"))
    await runs.end(key("a"))
    await runs.end(key("b"))
    await runs.end(key("c"))
    seen = runs.queue.snapshot()
    assert (seen.in_hand[APP], seen.waiting[APP], runs.in_line) == (0, 0, [])
    await runs.add("d", "e")
    assert runs.names == ["d"]
    await runs.close()


async def test_run_that_wakes_goes_on_after_the_queue_was_closed() -> None:
    runs = Runs(max_runs=1, max_waiting=MANY)
    await runs.add("a", "b")
    await runs.wait(key("a"))
    await runs.wake(key("a"))
    runs.queue.close()
    await runs.end(key("b"))
    assert runs.names == ["a"]
    await runs.close()


async def test_waking_twice_and_waiting_again_in_line_do_no_harm() -> None:
    runs = Runs(max_runs=1, max_waiting=MANY)
    await runs.add("a", "b")
    await runs.wait(key("a"))
    await runs.wake(key("a"))
    await runs.wait(key("a"))
    await runs.end(key("b"))
    assert runs.names == [], "it waits again, and gets no slot"
    await runs.wake(key("a"))
    assert runs.names == ["a"]
    await runs.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
async def test_no_interleaving_gives_out_too_many_slots_or_forgets_a_run(seed: int) -> None:
    chance = random.Random(seed)
    runs = Runs(max_runs=3, max_waiting=4, set_kinds={VOLUME}, per_kind=2)
    keys = [(str(number), gvk) for number in range(6) for gvk in (APP, VOLUME)]
    for _ in range(STEPS):
        match chance.choice(["add", "wait", "wake", "end"]):
            case "add":
                name, gvk = chance.choice(keys)
                await runs.add(name, gvk=gvk, urgency=chance.choice(list(Urgency)))
            case "wait" if runs.computing + runs.in_line:
                await runs.wait(chance.choice(runs.computing + runs.in_line))
            case "wake" if runs.waiting:
                await runs.wake(chance.choice(runs.waiting))
            case "end" if runs.computing + runs.waiting + runs.in_line:
                await runs.end(chance.choice(runs.computing + runs.waiting + runs.in_line))
        check(runs)
    while runs.computing or runs.waiting or runs.in_line:
        for chosen in [*runs.waiting]:
            await runs.wake(chosen)
        assert runs.computing, "all stand in line, and none goes on"
        await runs.end(runs.computing[0])
        check(runs)
    await runs.close()


def check(runs: Runs) -> None:
    seen = runs.queue.snapshot()
    left = sum(seen.waiting.values())
    assert left <= 4
    assert len(runs.computing) <= 3
    assert sum(seen.in_hand.values()) - left <= 3
    computing = Counter(each.gvk for each in runs.computing)
    assert computing[APP] <= 2
    assert seen.in_hand.get(VOLUME, 0) <= 2
    held = runs.computing + runs.waiting + runs.in_line
    assert len(held) == len(set(held)) == sum(seen.in_hand.values())
