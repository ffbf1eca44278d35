"""What the page of one replica says of objects that another one has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.extensions.console.control.engine import World, key
from tests.unit.extensions.console.page.serving import ALL, Answer, Shown, place, shown

_TOKEN = "token-of-anna"


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    world = World(tmp_path)
    world.divide(mine=[0, 2], theirs=[3], unheld={1: 20.0})
    async with shown(tmp_path, world=world) as page:
        page.cluster.knows("anna", *ALL, ("patch", "websites", "shop"))
        page.has(*(f"cr-{number}" for number in range(4)))
        yield page


async def reconciled(page: Shown, name: str) -> Answer:
    reported = {"form_token": await page.form_token(token=_TOKEN)}
    return await page.asks(f"{place(name)}/reconcile", reported, token=_TOKEN)


async def test_overview_says_what_this_replica_has(page: Shown) -> None:
    text = (await page.asks("/", None, token=_TOKEN)).text
    assert "2 of 4 shards, among 2 replicas" in text
    assert "This replica has 2 of 4 shards." in text
    assert "Leader" not in text


async def test_object_of_another_replica_says_whose_it_is(page: Shown) -> None:
    texts = [
        (await page.asks(place(f"cr-{number}"), None, token=_TOKEN)).text for number in range(4)
    ]
    own, unheld, _, theirs = texts
    assert 'class="notice"' not in own
    assert "This object belongs to another shard: shard 1 of 4 has no holder now." in unheld
    assert "This object belongs to another shard: `web-1` has shard 3 of 4." in theirs


async def test_reconcile_is_refused_with_the_name_of_who_has_it(page: Shown) -> None:
    theirs, unheld = await reconciled(page, "cr-3"), await reconciled(page, "cr-1")
    assert (theirs.code, "`web-1` has shard 3 of 4" in theirs.text) == (409, True)
    assert (unheld.code, "shard 1 of 4 has no holder now" in unheld.text) == (409, True)
    assert page.world.asked == []
    assert (await reconciled(page, "cr-0")).code == 303
    assert [each for each, _ in page.world.asked] == [str(key("cr-0"))]


async def test_replica_that_may_not_work_says_why(tmp_path: Path) -> None:
    world = World(tmp_path, leads=False)
    world.divide(mine=[], theirs=[], why_not="replica `old` works without shards")
    async with shown(tmp_path, world=world) as page:
        page.cluster.knows("anna", *ALL)
        text = (await page.asks("/", None, token=_TOKEN)).text
    assert "is not active: replica `old` works without shards" in text
