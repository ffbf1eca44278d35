"""An engine to look into."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.cli.fake_engine import FakeEngine, fake_engine


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    """Its socket answers."""
    with fake_engine() as found:
        yield found


@pytest.fixture
def ended_engine() -> Iterator[FakeEngine]:
    """Only what its runs left is there."""
    with fake_engine(answers=False) as found:
        yield found
