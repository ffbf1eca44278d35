"""Fixtures of this folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import World


@pytest.fixture(autouse=True)
async def no_threads_left() -> AsyncIterator[None]:
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
