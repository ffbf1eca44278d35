"""A world of replicas for each test, whose tasks end with it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from rolecall.errors import LeadershipLostError
from tests.unit.election.replicas import Replicas


@pytest.fixture
async def world() -> AsyncIterator[Replicas]:
    world = Replicas()
    yield world
    for replica in world.replicas:
        replica.task.cancel()
        with contextlib.suppress(asyncio.CancelledError, LeadershipLostError):
            await replica.task
