"""Thousands of cases, the same each time; `make hostile` tries more, of other seeds."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.unit.hostile.campaign import try_many
from tests.unit.hostile.entries import ENTRY_POINTS

pytestmark = pytest.mark.slow

_SEED = 22
# Fewer: the generator makes only what is refused at once, and nothing of what follows is tried.
_LEAST_ACCEPTED = 0.05


@pytest.fixture(autouse=True)
def no_log() -> Iterator[None]:
    """Each refusal would be logged, thousands in all."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("divisor", [pytest.param(1, marks=pytest.mark.nightly), 4])
@pytest.mark.parametrize("name", list(ENTRY_POINTS))
def test_hostile_input_breaks_nothing(name: str, divisor: int) -> None:
    entry = ENTRY_POINTS[name]
    tally = try_many(entry, _SEED, range(entry.cases // divisor))
    found = [f"{one.symptom}\n  --replay {name} {one.seed}" for one in tally.findings.values()]
    assert not found, "\n".join(found)
    assert tally.accepted > _LEAST_ACCEPTED * tally.tried
