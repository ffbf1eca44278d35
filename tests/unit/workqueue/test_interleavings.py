"""Random interleavings of everything that may happen to the queue, against a plain model of it."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from rolecall.workqueue import Cause, Key, Queue, QueueClosedError, Turn, Urgency
from tests.unit.workqueue.keys import APP, VOLUME, key, queue_of
from tests.unit.workqueue.virtual_clock import VirtualClock

KEYS = [key(str(number), gvk) for number in range(4) for gvk in (APP, VOLUME)]
LIMITS = {APP: 2, VOLUME: 1}
MAX_RUNS = 2
STEPS = 400
SEEDS = [*range(5), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(5, 30))]


class QueueAndWorkers:
    """The queue under test, workers that may die at any time, and what must be true of both."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.clock = VirtualClock()
        self.queue: Queue = queue_of(self.clock, max_runs=MAX_RUNS, per_kind=LIMITS)
        self.workers: list[asyncio.Task[tuple[Turn, float]]] = []
        self.held: list[Key] = []
        # Added since it was last handed out: such a key must come out (again).
        self.owed: set[Key] = set()
        # Why they were added since then, in order.
        self.reasons: dict[Key, list[tuple[Urgency, Cause]]] = {chosen: [] for chosen in KEYS}
        # And these must come out at that time or later; of those ahead a key has one at most.
        self.deadlines: dict[Key, set[float]] = {chosen: set() for chosen in KEYS}

    async def step(self) -> None:
        action = self.random.choice(
            [self.add, self.add_later, self.hurry, self.hire, self.fire, self.put_down]
        )
        await action()
        await self.clock.rest()
        self.collect()
        self.check()

    async def add(self) -> None:
        self.add_now(self.random.choice(KEYS), self.random.choice(list(Urgency)))

    def add_now(self, chosen: Key, urgency: Urgency) -> None:
        cause = Cause(f"reason {self.random.random()}")
        self.owed.add(chosen)
        self.reasons[chosen].append((urgency, cause))
        self.queue.add(chosen, urgency, cause)

    async def add_later(self) -> None:
        chosen = self.random.choice(KEYS)
        delay_s = self.random.uniform(0, 5)
        self.queue.add_after(chosen, delay_s, Urgency.PERIOD)
        now = self.clock.monotonic()
        ahead = {deadline for deadline in self.deadlines[chosen] if deadline > now}
        self.deadlines[chosen] -= ahead
        self.deadlines[chosen].add(min(ahead | {now + delay_s}))
        await self.clock.advance(self.random.uniform(0, 3))

    async def hurry(self) -> None:
        """Past what it waits for: a deadline ahead is none any more."""
        chosen, cause = self.random.choice(KEYS), Cause(f"reason {self.random.random()}")
        self.owed.add(chosen)
        self.reasons[chosen].append((Urgency.EDIT, cause))
        self.queue.add_at_once(chosen, cause)
        now = self.clock.monotonic()
        self.deadlines[chosen] = {at for at in self.deadlines[chosen] if at <= now}

    async def hire(self) -> None:
        self.workers.append(asyncio.create_task(self.take()))

    async def take(self) -> tuple[Turn, float]:
        return await self.queue.take(), self.clock.monotonic()

    async def fire(self) -> None:
        if self.workers:
            worker = self.workers.pop(self.random.randrange(len(self.workers)))
            if self.random.random() < 0.5:  # in the very moment in which it may be handed a key
                self.add_now(KEYS[0], Urgency.EDIT)
            worker.cancel()
            done = (await asyncio.gather(worker, return_exceptions=True))[0]
            assert isinstance(done, asyncio.CancelledError)

    async def put_down(self) -> None:
        if self.held:
            chosen = self.held.pop(self.random.randrange(len(self.held)))
            self.queue.done(chosen)

    def collect(self) -> None:
        for worker in [worker for worker in self.workers if worker.done()]:
            self.workers.remove(worker)
            turn, taken_at = worker.result()
            due = {deadline for deadline in self.deadlines[turn.key] if deadline <= taken_at}
            assert turn.key in self.owed or due, f"{turn.key} came out though it was not enqueued"
            self.check_cause(turn)
            self.owed.discard(turn.key)
            self.deadlines[turn.key] -= due
            self.held.append(turn.key)

    def check_cause(self, turn: Turn) -> None:
        reasons, self.reasons[turn.key] = self.reasons[turn.key], []
        if turn.urgency < Urgency.PERIOD:  # a period may be one that fell due
            first = min(reasons, key=lambda reason: reason[0])
            assert (turn.urgency, turn.cause) == first

    def check(self) -> None:
        assert len(self.held) == len(set(self.held)), "one key in two hands"
        assert len(self.held) <= MAX_RUNS
        for gvk, count in Counter(held.gvk for held in self.held).items():
            assert count <= LIMITS[gvk]

    async def finish(self) -> None:
        """Whatever is owed must come out once the workers do their work."""
        for _ in range(len(KEYS) * 4):
            while self.held:
                await self.put_down()
            await self.hire()
            await self.clock.advance(10.0)
            self.collect()
        assert not self.owed
        assert not any(self.deadlines.values())
        self.queue.close()
        ends = await asyncio.gather(*self.workers, return_exceptions=True)
        assert all(isinstance(end, QueueClosedError) for end in ends)


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_interleaving_loses_a_key_or_hands_it_out_twice(seed: int) -> None:
    world = QueueAndWorkers(seed)
    for _ in range(STEPS):
        await world.step()

    await world.finish()
