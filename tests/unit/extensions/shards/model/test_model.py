"""What holds for shards, whatever happens: at most one writer, and a holder for each shard in time.

`ROLECALL_MODEL=N` plays N times as much. What is promised, and not, is at `dice.py`.
"""

from __future__ import annotations

import itertools
import os

import pytest

from tests.unit.extensions.shards.model.dice import play_seed
from tests.unit.extensions.shards.model.mutants import MUTANTS, Mutant
from tests.unit.extensions.shards.model.scopes import FAULTS, GAPS_S, play_scope

pytestmark = pytest.mark.slow

WIDER = max(int(os.environ.get("ROLECALL_MODEL", "1")), 1)
_SEEDS = 60
_SLICES = 12  # of all pairs of faults, as many are played as there are slices asked for
# A replica without shards that finds no Lease at its very first look takes it, as at an installation;
# docs/decisions/0029 describes it. One that had looked before waits.
_NOT_PROMISED = ({"delete the mode", "delete all"}, "a leader")
_TRIES = 8  # a story has some chance in it: who is first, and how long calls take


def _pairs() -> list[tuple[float, str, str]]:
    """Each fault after each other one, at each distance; spread, so that a slice has of all."""
    deletions, leader = _NOT_PROMISED
    promised = [
        (gap_s, early, late)
        for gap_s, early, late in itertools.product(GAPS_S, FAULTS, FAULTS)
        if not (early in deletions and late == leader)
    ]
    return [pair for number, pair in enumerate(promised) if number * 7 % _SLICES < WIDER]


@pytest.mark.nightly
@pytest.mark.parametrize("first", FAULTS)
def test_each_fault_after_each_other_leaves_one_writer_and_a_holder_in_time(first: str) -> None:
    play_scope([(0.0, first)])
    for gap_s, early, late in _pairs():
        if early == first:
            play_scope([(0.0, early), (gap_s, late)])


@pytest.mark.parametrize(
    "tens",
    [
        pytest.param(tens, marks=[pytest.mark.nightly] if tens > 1 else [])
        for tens in range(_SEEDS * WIDER // 10)
    ],
)
def test_dice_leave_one_writer_and_a_holder_in_time(tens: int) -> None:
    for seed in range(10):
        play_seed(tens * 10 + seed)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_model_notices_that_a_rule_is_broken(mutant: Mutant) -> None:
    for seed in range(_TRIES):
        play_scope(mutant.story, seed, within_s=mutant.within_s)
        with mutant.breaks():
            try:
                play_scope(mutant.story, seed, within_s=mutant.within_s)
            except AssertionError:
                return
    pytest.fail(f"no test noticed that this is broken: {mutant.rule}")
