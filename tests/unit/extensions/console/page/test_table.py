"""Rows of all CRs while a user looks: changes are numbered, and a table without readers begins anew."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.extensions.console.control.engine import SITE, Known, World, key
from tests.unit.extensions.console.page.serving import ALL, Shown, shown
from tests.unit.workqueue.virtual_clock import VirtualClock

from rolecall.extending import HeldRun, LastRuns
from rolecall.extensions.console.page.feed import ChangeFeed
from rolecall.extensions.console.page.ports import PagePorts
from rolecall.extensions.console.page.rows import (
    CrRow,
    Live,
    PlaceRows,
    SeenRows,
)
from rolecall.extensions.console.page.table import Table
from rolecall.gvk import Gvk
from rolecall.history import KeptRun
from rolecall.workqueue import Cause, Key, Urgency, Waiting


class Town:
    """A table of some CRs, on a clock that stands still."""

    def __init__(self, root: Path) -> None:
        self.world, self.clock, self.feed = World(root), VirtualClock(), ChangeFeed()
        engine = replace(self.world.ports, clock=self.clock)
        absent = cast(Any, None)
        ports = PagePorts(engine, self.world.last_runs, root, absent, absent)
        self.table = Table(ports, self.feed)
        for name in "abc":
            self.world.known[key(name)] = Known()

    async def later(self, seconds: float = 20.0) -> None:
        """So much later, when what is kept is not fresh any more."""
        await self.clock.advance(seconds)


@pytest.fixture
async def town(tmp_path: Path) -> Any:
    yield Town(tmp_path)
    await asyncio.get_running_loop().shutdown_default_executor()


async def test_changed_new_and_deleted_rows_are_reported_once(town: Town) -> None:
    rows = await town.table.rows()
    assert sorted(rows.by_key) == [key("a"), key("b"), key("c")]
    position = town.feed.number
    await town.later()
    town.world.known[key("a")] = Known(generation=2)
    town.world.known[key("d")] = Known()
    del town.world.known[key("b")]
    await town.table.rows()
    assert town.feed.since(position) == {key("a"), key("b"), key("d")}
    position = town.feed.number
    await town.later()
    await town.table.rows()
    assert town.feed.since(position) == set()


async def test_rows_are_made_once_for_many_who_look_at_the_same_time(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Key] = []

    def is_known(_runs: LastRuns, key: Key) -> bool:
        made.append(key)
        return True

    monkeypatch.setattr(LastRuns, "is_known", is_known)
    await asyncio.gather(*(town.table.rows() for _ in range(20)))
    assert len(made) == 3


async def test_table_without_readers_for_a_minute_is_dropped_and_begins_anew(town: Town) -> None:
    following = asyncio.ensure_future(town.table.run())
    await town.table.rows()
    before = town.feed.position
    for _ in range(70):
        await town.clock.advance(1)
        await asyncio.sleep(0.001)
    town.world.known[key("a")] = Known(generation=2)
    assert town.feed.number_at(before) is None
    number = town.feed.number
    await town.table.rows()
    assert town.feed.number_at(town.feed.position) == number == town.feed.number
    following.cancel()
    await asyncio.wait([following])


async def test_changes_are_followed_after_a_recent_look(town: Town) -> None:
    following = asyncio.ensure_future(town.table.run())
    await town.table.rows()
    number = town.feed.number
    town.world.known[key("a")] = Known(generation=2)
    for _ in range(40):
        await town.clock.advance(1)
        await asyncio.sleep(0.001)
    assert town.feed.since(number) == {key("a")}
    following.cancel()
    await asyncio.wait([following])


async def test_long_words_of_plays_do_not_fill_the_memory(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.world.waiting.append(Waiting(key("a"), Urgency.EDIT, Cause("x" * 100_000), 0.0, 0))
    run = HeldRun.of(KeptRun("1", outcome="failed", reason="y" * 100_000))
    assert len(run) < 5000
    monkeypatch.setattr(LastRuns, "held", lambda *_: run)
    rows = await town.table.rows()
    assert rows.by_key[key("a")].cause == "x" * 300
    assert rows.by_key[key("b")].last_reason == "y" * 300


def row(name: str, state: str = "ready", namespace: str = "shop", kind: Gvk = SITE) -> CrRow:
    live = Live(0.0, "edit", urgency="edit") if state in ("running", "waiting") else None
    return CrRow(Key(kind, namespace, name), state, 1, live)


GADGET = Gvk("demo.example.com", "v1", "Gadget")
ROWS = [
    row("web-1"),
    row("web-2", "failed"),
    row("db", "running", "bank"),
    row("web-1", "waiting", kind=GADGET),
]


def seen() -> SeenRows:
    places: dict[tuple[Gvk, str], PlaceRows] = {}
    for each in ROWS:
        where = each.key.gvk, each.key.namespace
        places.setdefault(where, PlaceRows(*where)).add(each)
    return SeenRows(list(places.values()), frozenset(places))


def test_counts_are_of_the_rows_and_of_kinds_without_any() -> None:
    other = Gvk("demo.example.com", "v1", "Other")
    counts = seen().counts([SITE, other])
    assert counts.by_kind[SITE] == {"ready": 1, "failed": 1, "running": 1}
    assert counts.by_kind[GADGET] == {"waiting": 1}
    assert counts.by_kind[other] == {}
    assert (counts.by_urgency, counts.running) == ({"edit": 1}, [ROWS[2]])


@pytest.fixture
async def page(tmp_path: Path) -> Any:
    async with shown(tmp_path) as page:
        page.cluster.knows("anna", *ALL)
        page.has(*(f"n{number:03}" for number in range(250)))
        yield page


def names(text: str) -> list[str]:
    return [part.partition("<")[0] for part in text.split('">Website ')[1:]]


async def asks(page: Shown, query: str) -> list[str]:
    return names((await page.asks(f"/crs?{query}", token="token-of-anna")).text)


async def test_pages_of_a_list_have_each_row_once(page: Shown) -> None:
    got = [name for start in (0, 100, 200) for name in await asks(page, f"from={start}")]
    assert got == [f"n{number:03}" for number in range(250)]
    first = (await page.asks("/crs?name=n0", token="token-of-anna")).text
    assert 'href="/crs?name=n0&amp;from=100"' not in first and 'rel="next"' not in first
    middle = (await page.asks("/crs?from=100", token="token-of-anna")).text
    assert "from=0" in middle and "from=200" in middle


@pytest.mark.parametrize(
    ("query", "first", "count"),
    [
        ("from=10&count=5", "n010", 5),
        ("from=249&count=5", "n249", 1),
        ("from=250", "", 0),
        ("from=99999999999999999999", "n000", 100),
        ("from=-1&count=-1", "n000", 100),
        ("from=%C2%B2&count=%C2%B2", "n000", 100),
        ("count=100000", "n000", 250),
        ("from=1e1", "n000", 100),
    ],
)
async def test_window_is_what_was_asked_for_within_bounds(
    page: Shown, query: str, first: str, count: int
) -> None:
    got = await asks(page, query)
    assert (got[0] if got else "", len(got)) == (first, count)


async def test_no_window_is_larger_than_five_hundred(page: Shown) -> None:
    page.has(*(f"m{number:03}" for number in range(300)))
    assert len(await asks(page, "fragment=1&count=99999999")) == 500


def test_reader_without_the_right_to_the_log_does_not_see_how_many_tasks_began() -> None:
    place = PlaceRows(SITE, "shop", [row("a")._replace(live=Live(0.0, "", tasks=7))])
    seen = SeenRows([place]), SeenRows([place], frozenset([(SITE, "shop")]))
    assert [next(iter(rows)).tasks for rows in seen] == [0, 7]
