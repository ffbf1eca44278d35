"""Runs a story to its end: the same seed is the same story, and an error that is only logged counts."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Coroutine
from typing import Any
from unittest.mock import patch

from rolecall.extensions.shards import membership
from tests.unit.extensions.shards.model.model_world import ModelWorld
from tests.unit.extensions.shards.model.virtual_loop import run_virtually

Story = Callable[[ModelWorld], Coroutine[Any, Any, None]]


class _Bugs(logging.Handler):
    """What the loops of a replica survived."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(logging.Formatter().format(record))


def report(seed: object, make: Callable[[], ModelWorld], story: Story) -> ModelWorld:
    """Raises what must not be, with how it came to it."""
    random.seed(str(seed))
    world, bugs, logger = make(), _Bugs(), logging.getLogger("rolecall.extensions.shards")
    logger.addHandler(bugs)
    try:
        with patch.object(membership, "fresh_tenure", lambda: f"{random.getrandbits(40):010x}"):
            run_virtually(story(world))
        assert not bugs.found, "\n".join(bugs.found)
    except AssertionError as failure:
        failure.add_note(f"seed {seed}\n{world.story()}")
        raise
    finally:
        logger.removeHandler(bugs)
    return world
