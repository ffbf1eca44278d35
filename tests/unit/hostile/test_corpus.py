"""What broke something once does so no more, and a check that cannot fail is none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.unit.hostile import entry_point
from tests.unit.hostile.campaign import try_many, try_one
from tests.unit.hostile.corpus import FOLDER, kept_cases, read_case
from tests.unit.hostile.entries import ENTRY_POINTS
from tests.unit.hostile.entry_point import Check, EntryPoint, make_case, must


@pytest.mark.parametrize(
    "path", kept_cases(), ids=lambda path: str(Path(path).relative_to(FOLDER).with_suffix(""))
)
def test_what_broke_something_once_does_so_no_more(path: Path) -> None:
    name, case = read_case(path)
    finding = try_one(ENTRY_POINTS[name], case)
    assert finding is None, finding


@contextmanager
def _breaks_at_a_seven(_folder: Path) -> Iterator[Check]:
    def check(case: Any) -> bool:
        must(7 not in case, "no sevens")
        return True

    yield check


_SEVENS = EntryPoint(
    "sevens", lambda dice: [dice.number(0, 9) for _ in range(20)], _breaks_at_a_seven, cases=1
)


def test_a_broken_promise_is_found_made_smaller_and_can_be_tried_again() -> None:
    (finding,) = try_many(_SEVENS, 1, range(20)).findings.values()
    assert finding.case == [7]
    seed, _, number = finding.seed.partition("/")
    assert 7 in make_case(_SEVENS, int(seed), int(number))


@contextmanager
def _never_ends(_folder: Path) -> Iterator[Check]:
    yield lambda _: all(True for _ in itertools.count())


def test_a_case_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_point, "CPU_LIMIT_S", 0.05)
    finding = try_one(EntryPoint("endless", lambda _: 0, _never_ends, cases=1), 0)
    assert finding is not None
    assert finding.symptom.startswith("HungError")
