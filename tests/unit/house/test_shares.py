"""How workers and shards share the tests of all tiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tools import placement, test_all
from tools.mutants.__main__ import ROOMS
from tools.ready import Machine
from xdist.remote import Producer

from tests.fixtures.shares import pytest_xdist_make_scheduler

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
def test_first_worker_begins_with_the_first_tier_and_the_others_with_the_last(
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


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_shards_are_disjoint_complete_and_balanced(count: int) -> None:
    seconds = placement.read_seconds()
    files = placement.test_files()
    weights = {
        scope: sum(seconds.get(file, placement.Seconds()).all for file in together)
        for scope, together in placement.scopes(files).items()
    }
    dealt = placement.shards(weights, count)
    assert sorted(name for names in dealt for name in names) == sorted(weights)
    taken = [sum(weights[name] for name in names) for names in dealt]
    longest = max(weights.values())
    assert max(taken) <= max(sum(weights.values()) / count * 1.02, longest)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_shards_of_everything_are_disjoint_and_complete(count: int) -> None:
    works = [test_all.work_of(number, count) for number in range(1, count + 1)]
    everything = sorted([*placement.test_files(), *test_all.PARTS])
    assert sorted(name for work in works for name in work) == everything


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "2/", "a/b", "-1/4", "2/4/8", " 1/2", "1/0"])
def test_bad_shard_is_refused_in_one_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert test_all.main([f"--shard={text}"]) == 2
    assert capsys.readouterr().err == (
        f"error: SHARD must be a number and a count such as 2/4, not `{text}`\n"
    )


def test_table_lists_what_was_not_run_with_reasons(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    skips = '<testcase><skipped message="no strace"/></testcase>' * 2
    report.write_text(f"<testsuites><testsuite>{skips}<testcase/></testsuite></testsuites>")
    machine = Machine(lacks={"tests/real/": "needs root"})
    left = test_all.not_run(machine, report, test_all.work_of(2, 4))
    said = "\n".join(test_all.table([test_all.Part("tests", 1, 12.0)], left))
    assert re.search(r"^tests +12 s   FAILED \(1\)$", said, re.MULTILINE)
    assert re.search(r"^not run: tests/real/ +needs root$", said, re.MULTILINE)
    assert re.search(
        r"^not run: \d+ files and parts +they are in other shards$", said, re.MULTILINE
    )
    assert re.search(r"^not run: 2 tests, reason \d +no strace$", said, re.MULTILINE)


def test_mutants_are_of_another_room_each_day() -> None:
    rooms = {test_all.room_of_day(date(2026, 11, day)) for day in range(1, 8)}
    assert rooms == set(ROOMS)


def test_files_with_a_shared_engine_stay_together() -> None:
    own = [file for file in placement.test_files() if file.startswith("tests/e2e/own/")]
    assert placement.scopes(own) == {"tests/e2e/own": own}


def test_seconds_leave_out_files_that_are_short_or_gone(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    short, long, gone = ("tests/test_short.py", "tests/test_long.py", "tests/test_gone.py")
    for file in (short, long):
        (tmp_path / file).touch()
    seconds = placement.Seconds(12.3, 60.0)
    measured = {short: placement.Seconds(0.4, 0.0), long: seconds, gone: seconds}
    placement.write_seconds(measured, tmp_path)
    assert placement.read_seconds(tmp_path) == {long: seconds}
