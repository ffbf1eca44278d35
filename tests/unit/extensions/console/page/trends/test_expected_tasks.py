"""How many tasks a run in flight will have, by the newest good run of its CR."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.extensions.console.control.engine import NOON, SITE, World
from tests.unit.extensions.console.page.trends.ended import record, site

from rolecall.extensions.console.page.trends import ExpectedTasks, expected_tasks
from rolecall.history import kept_cr
from rolecall.record import RunRecord, read_record, write_record

TWO = record(("a 1", 1.0), ("b 2", 1.0))


class Runs:
    """Runs of CRs on disk."""

    def __init__(self, root: Path) -> None:
        self.root, self.world, self.expected = root, World(root), ExpectedTasks(root)

    def keep(self, name: str, run: str, kept: RunRecord | None, **fields: Any) -> None:
        began = NOON + timedelta(minutes=int(run))
        self.world.keep(name, **{"run": run, "began": began, "outcome": "succeeded"} | fields)
        if kept is not None:
            write_record(kept_cr(self.root, SITE, "shop", name).artifacts / run, kept)

    async def of(self, **running: str) -> dict[str, int]:
        found = await self.expected.of((site(name), run) for name, run in running.items())
        return {key.name: count for key, count in found.items()}


@pytest.fixture
async def runs(tmp_path: Path) -> AsyncIterator[Runs]:
    yield Runs(tmp_path)
    await asyncio.get_running_loop().shutdown_default_executor()


async def test_newest_good_run_says_how_many_tasks_come(runs: Runs) -> None:
    runs.keep("a", "1", record(("old 1", 1.0)))
    runs.keep("a", "2", TWO)
    runs.keep("a", "3", record(), outcome="failed")
    runs.keep("a", "4", record(), is_finalizer=True)
    runs.keep("a", "5", None, outcome="running", ended=None)
    assert await runs.of(a="5") == {"a": 2}


async def test_cr_without_a_good_run_or_a_record_is_left_out(runs: Runs) -> None:
    runs.keep("failed", "1", TWO, outcome="failed")
    runs.keep("unrecorded", "1", None)
    assert await runs.of(failed="2", unrecorded="2", unknown="2") == {}


async def test_files_are_read_once_for_each_run_in_flight(runs: Runs) -> None:
    runs.keep("a", "1", TWO)
    assert await runs.of(a="2") == {"a": 2}
    runs.keep("a", "2", record())
    assert await runs.of(a="2") == {"a": 2}
    assert await runs.of(a="3") == {"a": 0}


async def test_few_crs_are_remembered(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_tasks, "_MOST", 3)
    for number in range(10):
        await runs.of(**{f"site{number}": "1"})
    assert len(runs.expected._counts) == 3


def test_record_is_read_without_its_requests(runs: Runs) -> None:
    runs.keep("a", "1", TWO)
    folder = kept_cr(runs.root, SITE, "shop", "a").artifacts / "1"
    file = folder / "record.json"
    file.write_text(file.read_text().replace('"requests": []', '"requests": [{"is": "not read'))
    assert read_record(folder) is None
    read = read_record(folder, with_requests=False)
    assert read is not None
    assert (read.tasks, read.requests) == (TWO.tasks, ())
