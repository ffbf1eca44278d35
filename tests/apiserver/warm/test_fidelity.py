"""Whatever a play does to the API server, it does the same when it runs warm, word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rolecall.runner.warm.proof.groups import CaseGroup
from rolecall_dev.localcluster import Cluster
from tests.apiserver.warm.surroundings import ApiServer, inputs_of_requests
from tests.fixtures.stock_runs import RECORD_STOCK, STOCK_RUN
from tests.play.fidelity.harness import MOST_REPEATED, Both, groups
from tests.play.fidelity.recorded import Recorded

# A minute and a half; whatever changes the runner or the proxy brings it into CI.
pytestmark = pytest.mark.nightly

_HERE = Path(__file__).parent
_GROUPS = groups(_HERE / "cases")
_CASES = [(group, case) for group in _GROUPS for case in group.cases]


@pytest.fixture(scope="module")
def both(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    """All chosen groups, run both ways."""
    folder = tmp_path_factory.mktemp("fidelity")
    recorded = Recorded(_HERE / "recorded", inputs_of_requests())
    is_recording = bool(request.config.getoption(RECORD_STOCK))
    both = Both(folder, recorded, ApiServer(cluster, folder), is_recording=is_recording)
    try:
        both.run_chosen(request.session.items, _GROUPS)
        yield both
    finally:
        both.close()


@pytest.mark.parametrize(
    ("group", "case"), _CASES, ids=[f"{group.name}-{case}" for group, case in _CASES]
)
def test_case_looks_the_same_both_ways(both: Both, group: CaseGroup, case: str) -> None:
    outcomes = both.outcomes(group)
    assert case in outcomes["stock"].slices, "the stock run did not get as far as this case"
    assert outcomes["warm"].part(case) == outcomes["stock"].part(case)


@pytest.mark.parametrize("group", _GROUPS, ids=[group.name for group in _GROUPS])
def test_world_is_the_same_after_both_ways(
    both: Both, group: CaseGroup, record_property: Callable[[str, object], None]
) -> None:
    outcomes = both.outcomes(group)
    record_property(STOCK_RUN, both.anew.get(group.name, ""))
    stock, warm = outcomes["stock"], outcomes["warm"]
    assert (stock.way, warm.way) == ("stock", "warm")
    assert stock.world and warm.world == stock.world
    assert warm.tree == stock.tree
    assert warm.ending == stock.ending
    for part in ("head", "tail"):
        assert warm.part(part) == stock.part(part)


def test_no_module_took_the_stock_way(both: Both) -> None:
    found = [both.outcomes(group)["warm"].modules for group in _GROUPS]
    ways = {module: ways for modules in found for module, ways in modules.items()}
    assert len(ways) > 20
    assert {module for module, taken in ways.items() if "stock" in taken} == set()


def test_few_groups_were_equal_only_the_second_time(both: Both) -> None:
    assert len(both.repeated) <= MOST_REPEATED, both.repeated
