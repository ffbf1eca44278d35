"""Stories of replicas that divide shards, on virtual time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from tests.unit.extensions.shards.model.model_world import HELD_WITHIN_S, ModelWorld
from tests.unit.extensions.shards.model.replica import Replica
from tests.unit.extensions.shards.model.stories import report

Story = Callable[[ModelWorld], Coroutine[Any, Any, None]]


def reported(story: Story, count: int = 8, **more: Any) -> ModelWorld:
    return report(story.__name__, lambda: ModelWorld(count, **more), story)


async def begun(world: ModelWorld, *names: str) -> list[Replica]:
    """Replicas that have all shards, each what is for it."""
    replicas = [world.start(name) for name in names]
    await world.settle(2 * HELD_WITHIN_S)
    await world.pass_time(5.0)
    return replicas


async def passed_until(
    world: ModelWorld, is_so: Callable[[], bool], within_s: float = 60.0
) -> float:
    began = world.now
    while not is_so():
        assert world.now < began + within_s, world.story()
        await world.pass_time(0.02)
    return world.now - began


def held(replica: Replica, world: ModelWorld) -> set[int]:
    return {shard for shard, key in world.keys.items() if replica.election.hand_for(key)}
