"""How two workers share the tests of all tiers."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from xdist.remote import Producer

from tests.fixtures.tiers import pytest_xdist_make_scheduler

TESTS = (
    *("tests/unit/test_a.py::one", "tests/unit/test_b.py::two", "tests/unit/test_c.py::three"),
    *("tests/play/test_d.py::four", "tests/e2e/test_e.py::five", "tests/e2e/test_f.py::six"),
    *("tests/real/test_g.py::seven", "tests/real/test_h.py::eight"),
)


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


def test_one_worker_takes_what_is_cheap_and_the_other_what_waits_until_they_meet() -> None:
    options = SimpleNamespace(loadscopereorder=True)
    config: Any = SimpleNamespace(option=options, getvalue=lambda _: ["2*popen"])
    shares = pytest_xdist_make_scheduler(config, Producer("shares", enabled=False))
    cheap, waiting = Worker("gw0"), Worker("gw1")
    for worker in (cheap, waiting):
        shares.add_node(worker)
        shares.add_node_collection(worker, TESTS)

    shares.schedule()
    assert cheap.given[:2] == list(TESTS[:2])
    # What shares the real nodes as a whole, and then the first of the tier before it.
    assert waiting.given == ["tests/real/test_g.py::seven", "tests/real/test_h.py::eight", TESTS[4]]

    while shares.has_pending:
        for worker in (cheap, waiting):
            for nodeid in worker.given:
                if not shares.assigned_work[worker][shares._split_scope(nodeid)][nodeid]:
                    shares.mark_test_complete(worker, TESTS.index(nodeid))
    assert sorted(cheap.given + waiting.given) == sorted(TESTS)
