"""A new engine shows the last day from the runs that earlier ones left on disk."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.extensions.console.control.engine import SITE, Known, World
from tests.unit.extensions.console.page.trends.ended import (
    NOON,
    Watched,
    ended,
    record,
    site,
)

from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.trends import TrendSpan, TrendsUpkeep, upkeep
from rolecall.gvk import Gvk
from rolecall.history import KeptRun, Process, kept_cr, this_process, write_run
from rolecall.record import RecordedTask, RunRecord, write_record
from rolecall.workqueue import Key

SERVER = "https://10.0.0.1:6443"


class Restarted(Watched):
    """An engine that begins at noon, with what earlier ones kept."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root, self.world, self.runs_kept = root, World(root), 0

    def kept(
        self, name: str, minutes_ago: float, outcome: str = "succeeded", **fields: Any
    ) -> Path:
        """A run that ended so long before noon."""
        key = fields.pop("key", site(name))
        self.world.known[key] = Known()
        return self.left(key, NOON - timedelta(minutes=minutes_ago), outcome, **fields)

    def left(
        self, key: Key, when: datetime, outcome: str, kept: RunRecord | None = None, **fields: Any
    ) -> Path:
        self.runs_kept += 1
        folder = kept_cr(self.root, key.gvk, key.namespace, key.name).artifacts
        folder /= str(self.runs_kept)
        folder.mkdir(parents=True)
        values: dict[str, Any] = {"began": when, "ended": when, "cause": "edit", "seconds": 2.0}
        run = KeptRun(folder.name, outcome=outcome, server=SERVER, folder=folder)
        values |= {"engine": this_process(), **fields}
        write_run(replace(run, **values))
        if kept is not None:
            write_record(folder, kept)
        os.utime(folder, (when.timestamp(), when.timestamp()))
        return folder

    async def looks(self) -> None:
        """A person looks at the page, and kept runs are read."""
        self.seen()
        engine = replace(self.world.ports, clock=self.clock)
        absent = cast(Any, None)
        ports = PagePorts(engine, self.world.last_runs, self.root, absent, absent)
        following = asyncio.ensure_future(TrendsUpkeep(ports, self.trends).run())
        while self.trends.is_reading:
            assert not following.done(), following.exception()
            await asyncio.sleep(0.001)
        following.cancel()
        await asyncio.wait([following])


@pytest.fixture
async def restarted(tmp_path: Path) -> Any:
    yield Restarted(tmp_path)
    await asyncio.get_running_loop().shutdown_default_executor()


async def test_kept_runs_are_counted_when_they_ended(restarted: Restarted) -> None:
    restarted.kept("a", 30.5, "failed", seconds=8.0)
    restarted.kept("b", 30.5, seconds=8.0)
    restarted.kept("b", 600.5, seconds=100.0)
    restarted.kept("c", 60 * 25)
    assert restarted.seen().is_reading and not any(restarted.runs())
    await restarted.looks()
    hour, day = restarted.seen(), restarted.seen(TrendSpan.DAY)
    assert not hour.is_reading
    assert [(each.runs, each.failed) for each in hour.all if each.runs] == [(2, 1)]
    assert hour.all[28].runs == 2
    assert hour.all[28].median_s == pytest.approx(8.0, rel=0.1)
    assert [each.runs for each in day.all if each.runs] == [1, 2]


async def test_runs_of_this_engine_are_not_counted_twice(restarted: Restarted) -> None:
    restarted.kept("a", 5)
    restarted.minutes_pass(10)
    restarted.ends(ended(site("a")))
    restarted.left(site("a"), restarted.clock.now(), "succeeded")
    await restarted.looks()
    assert sum(restarted.runs()) == sum(restarted.runs(TrendSpan.DAY)) == 2


async def test_cr_that_failed_before_fails_until_its_next_run(restarted: Restarted) -> None:
    restarted.kept("a", 40.5, "failed")
    restarted.kept("a", 20.5)
    restarted.kept("b", 10.5, "failed")
    restarted.kept("lost", 5.5, "running", engine=Process("gone", 1, "x"), ended=None)
    await restarted.looks()
    assert restarted.failing() == [0] * 18 + [1] * 21 + [0] * 9 + [1] * 12
    restarted.minutes_pass(3)
    restarted.ends(ended(site("b")))
    restarted.minutes_pass(1)
    assert restarted.failing()[-5:] == [1, 1, 1, 1, 0]


async def test_cr_that_ran_since_is_as_its_turn_left_it(restarted: Restarted) -> None:
    restarted.kept("a", 10.5, "failed")
    restarted.minutes_pass(5)
    restarted.ends(ended(site("a")))
    restarted.left(site("a"), restarted.clock.now(), "succeeded")
    restarted.minutes_pass(5)
    await restarted.looks()
    assert restarted.failing()[-12:] == [1] * 7 + [0] * 5


async def test_gone_cr_does_not_fail_any_more(restarted: Restarted) -> None:
    restarted.kept("gone", 10.5, "failed")
    del restarted.world.known[site("gone")]
    restarted.kept("here", 10.5)
    await restarted.looks()
    assert restarted.failing()[-5:] == [0] * 5
    assert sum(restarted.runs()) == 2


async def test_other_kinds_and_clusters_and_runs_that_did_not_end_are_left_out(
    restarted: Restarted,
) -> None:
    restarted.kept("a", 3.5)
    restarted.kept("a", 2.5, server="https://another:6443")
    restarted.kept("a", 1.5, "running")
    other = Key(Gvk("demo.example.com", "v1", "Other"), "shop", "a")
    restarted.left(other, NOON - timedelta(minutes=1), "succeeded")
    (restarted.root / "demo.example.com/v1/Website/shop/a/artifacts/empty").mkdir()
    await restarted.looks()
    places = [(SITE, "shop"), (other.gvk, "shop")]
    assert sum(each.runs for each in restarted.seen(places=places).all) == 1


async def test_tasks_and_causes_of_the_last_hour_come_from_records(restarted: Restarted) -> None:
    restarted.kept("a", 20, kept=record(("build 1", 3.0)), cause="period")
    restarted.kept("a", 90, kept=record(("old 2", 3.0)), cause="START")
    await restarted.looks()
    seen = restarted.seen()
    assert [(each.name, each.total_s) for each in seen.slowest] == [("build 1", 3.0)]
    assert [(each.name, each.total_s) for each in seen.noisiest] == [("period", 2.0)]


async def test_odd_files_are_no_obstacle(restarted: Restarted) -> None:
    (restarted.kept("a", 5) / "run.json").write_text("[")
    odd = RecordedTask(cast(Any, 1), cast(Any, 5), cast(Any, 5), "", cast(Any, "x"))
    restarted.kept("b", 5, kept=replace(record(), tasks=(odd,)))
    restarted.kept("c", 5, seconds=float("inf"))
    restarted.kept("d", 5, seconds=float("nan"))
    await restarted.looks()
    assert sum(restarted.runs()) == 3
    assert restarted.seen().slowest == []


async def test_since_is_where_kept_runs_begin(restarted: Restarted) -> None:
    assert restarted.seen(TrendSpan.DAY).since == NOON
    restarted.kept("new", 100, cause="creation")
    await restarted.looks()
    restarted.minutes_pass(1)
    assert restarted.seen(TrendSpan.DAY).since == NOON - timedelta(hours=23, minutes=45)


async def test_since_is_the_oldest_run_of_a_cr_whose_first_runs_are_not_kept(
    restarted: Restarted,
) -> None:
    restarted.kept("a", 100.0, cause="period")
    restarted.kept("a", 50.0, cause="period")
    elsewhere = site("b", "elsewhere")
    restarted.kept("b", 70.0, cause="creation", key=elsewhere)
    await restarted.looks()
    ago = timedelta(minutes=100)
    assert restarted.seen(TrendSpan.DAY).since == NOON - ago
    of_other = restarted.seen(TrendSpan.DAY, [(SITE, "elsewhere")]).since
    assert of_other < NOON - timedelta(hours=23), "another place says nothing of this one"


async def test_newest_runs_are_read_where_there_are_too_many(
    restarted: Restarted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_MOST_RUNS", 10)
    for number in range(30):
        restarted.kept(f"site-{number}", number + 1.5, cause="creation")
    await restarted.looks()
    assert restarted.runs()[-13:] == [0] + [1] * 10 + [0] * 2
    assert restarted.seen().since == NOON - timedelta(minutes=11.5)
