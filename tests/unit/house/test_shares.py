"""How workers share the tests of all tiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from xdist.remote import Producer

from tests.fixtures.tiers import pytest_xdist_make_scheduler

TESTS = (
    *("tests/unit/test_a.py::one", "tests/unit/test_b.py::two", "tests/unit/test_c.py::three"),
    *("tests/play/test_d.py::four", "tests/e2e/test_e.py::five", "tests/e2e/test_f.py::six"),
    *("tests/real/test_etcdcluster.py::seven", "tests/real/test_etcdcluster_backup.py::eight"),
    *("tests/real/test_g.py::nine", "tests/real/test_h.py::ten"),
)
ETCD, OTHERS = list(TESTS[6:8]), list(TESTS[8:])


@dataclass(eq=False)
class Worker:
    """What a scheduler sees of one: its name, and what it is given."""

    name: str
    given: list[str] = field(default_factory=list)
    shutting_down: bool = False

    @property
    def gateway(self) -> Any:
        return SimpleNamespace(id=self.name)

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += [TESTS[index] for index in indices]

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.mark.parametrize(
    ("count", "begin"),
    [
        # What shares one cluster of real nodes as a whole, and then the next of that tier.
        (2, [TESTS[:2], [*ETCD, *OTHERS]]),
        (3, [TESTS[:2], [*ETCD, TESTS[4]], [*OTHERS, TESTS[5]]]),
    ],
)
def test_one_worker_takes_what_is_cheap_and_the_others_what_waits_until_they_meet(
    count: int, begin: list[Sequence[str]]
) -> None:
    options = SimpleNamespace(loadscopereorder=True)
    config: Any = SimpleNamespace(option=options, getvalue=lambda _: [f"{count}*popen"])
    shares = pytest_xdist_make_scheduler(config, Producer("shares", enabled=False))
    workers = [Worker(f"gw{number}") for number in range(count)]
    for worker in workers:
        shares.add_node(worker)
        shares.add_node_collection(worker, TESTS)

    shares.schedule()
    for worker, expected in zip(workers, begin, strict=True):
        assert worker.given == list(expected)

    while shares.has_pending:
        for worker in workers:
            for nodeid in worker.given:
                if not shares.assigned_work[worker][shares._split_scope(nodeid)][nodeid]:
                    shares.mark_test_complete(worker, TESTS.index(nodeid))
    assert sorted(nodeid for worker in workers for nodeid in worker.given) == sorted(TESTS)
