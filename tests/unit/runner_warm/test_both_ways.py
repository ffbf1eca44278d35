"""What a proof makes of the runs that it compares."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall.runner import Ending, RunResult
from rolecall.runner.warm.proof.both_ways import Assignment, BothWays
from rolecall.runner.warm.proof.groups import CaseGroup, GroupOutcome


class Compared(BothWays):
    """Runs nothing: each warm run ends as the test wants, each stock run well."""

    def __init__(self, folder: Path, endings: list[Ending]) -> None:
        super().__init__(Assignment("mark", folder), self._at_once)
        self.endings = endings
        self.count = 0

    async def _at_once(self, _run: str) -> None:
        pass

    async def _outcome(self, _group: CaseGroup, way: str, _folder: Path) -> GroupOutcome:
        ending = Ending.FINISHED
        if way == "warm":
            ending = self.endings[min(self.count, len(self.endings) - 1)]
            self.count += 1
        return GroupOutcome(RunResult("run", ending, 0), way=way)


async def test_all_equal_is_a_proof(tmp_path: Path) -> None:
    verdict = await Compared(tmp_path, [Ending.FINISHED]).verdict()
    assert not verdict.against and verdict.cases >= 30


async def test_difference_by_chance_is_none(tmp_path: Path) -> None:
    endings = [Ending.NO_RECAP, Ending.NO_RECAP, Ending.FINISHED]
    assert not (await Compared(tmp_path, endings).verdict()).against


async def test_difference_that_comes_back_is_one(tmp_path: Path) -> None:
    compared = Compared(tmp_path, [Ending.NO_RECAP])
    verdict = await compared.verdict()
    assert "the run's ending" in verdict.against and not verdict.is_unfinished
    assert compared.count == 3


@pytest.mark.parametrize("ending", [Ending.KILLED, Ending.TIMED_OUT, Ending.CANCELLED])
async def test_run_that_was_cut_short_proves_nothing(tmp_path: Path, ending: Ending) -> None:
    verdict = await Compared(tmp_path, [ending]).verdict()
    assert verdict.is_unfinished and ending.value in verdict.against
