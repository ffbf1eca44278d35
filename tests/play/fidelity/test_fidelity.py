"""Whatever a play does, it does the same when it runs warm: events, results, files, exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rolecall.runner.warm.proof.groups import CaseGroup
from tests.fixtures.stock_runs import RECORD_STOCK, STOCK_RUN
from tests.play.fidelity.harness import MOST_REPEATED, Both, groups
from tests.play.fidelity.recorded import Recorded

_GROUPS = groups()
# Groups of settings and arguments take a host of their own, or a stock run: `make test` keeps one each.
_IN_MAKE_TEST = frozenset(
    {
        *("errors", "handlers_includes", "hosts", "loops", "missing_role"),
        *("modules", "own_cfg", "plugins", "repeated", "variables"),
    }
)


def _param(group: CaseGroup, *case: str) -> Any:
    marks = () if group.name in _IN_MAKE_TEST else pytest.mark.nightly
    return pytest.param(group, *case, marks=marks, id="-".join((group.name, *case)))


@pytest.fixture(scope="session")
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """All chosen groups, run both ways by hosts that live through all of it."""
    recorded = Recorded(Path(__file__).parent / "recorded")
    is_recording = bool(request.config.getoption(RECORD_STOCK))
    both = Both(tmp_path_factory.mktemp("fidelity"), recorded, is_recording=is_recording)
    try:
        both.run_chosen(request.session.items, _GROUPS)
        yield both
    finally:
        both.close()


@pytest.mark.parametrize(
    ("group", "case"), [_param(group, case) for group in _GROUPS for case in group.cases]
)
def test_case_looks_the_same_both_ways(both: Both, group: CaseGroup, case: str) -> None:
    outcomes = both.outcomes(group)
    assert case in outcomes["stock"].slices, "the stock run did not get as far as this case"
    assert outcomes["warm"].part(case) == outcomes["stock"].part(case)


@pytest.mark.parametrize("group", [_param(group) for group in _GROUPS])
def test_run_ends_the_same_both_ways(
    both: Both, group: CaseGroup, record_property: Callable[[str, object], None]
) -> None:
    outcomes = both.outcomes(group)
    record_property(STOCK_RUN, both.anew.get(group.name, ""))
    stock, warm = outcomes["stock"], outcomes["warm"]
    assert warm.way == group.data.get("way", "warm"), "it was not run the way that was expected"
    in_order = list if not group.data.get("unordered") else sorted
    for part in ("head", "tail"):
        assert in_order(warm.part(part)) == in_order(stock.part(part))
    assert warm.ending == stock.ending
    assert warm.tree == stock.tree


def test_few_groups_were_equal_only_the_second_time(both: Both) -> None:
    assert len(both.repeated) <= MOST_REPEATED, both.repeated
