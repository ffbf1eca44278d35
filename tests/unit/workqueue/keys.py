"""Keys and queues for tests, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rolecall.gvk import Gvk
from rolecall.settings import QueueSettings
from rolecall.workqueue import Key, Limits, Queue
from tests.unit.workqueue.virtual_clock import VirtualClock

APP = Gvk("demo.example.com", "v1", "App")
VOLUME = Gvk("demo.example.com", "v1", "DemoVolume")


def key(name: str, gvk: Gvk = APP) -> Key:
    return Key(gvk, "default", name)


def queue_of(
    clock: VirtualClock,
    *,
    max_runs: int = 1,
    per_kind: Mapping[Gvk, int] | None = None,
    jitter: float = 0.0,
) -> Queue:
    limits = Limits(max_runs, per_kind or {APP: max_runs, VOLUME: max_runs})
    return Queue(clock, limits, replace(QueueSettings(), jitter=jitter))


async def take_name(queue: Queue) -> str:
    """Take a key, put it down at once, and return its name."""
    turn = await queue.take()
    queue.done(turn.key)
    return turn.key.name


def waiting(queue: Queue) -> int:
    """How many keys wait, over kinds and urgencies."""
    return sum(sum(lanes.values()) for lanes in queue.snapshot().depth.values())
