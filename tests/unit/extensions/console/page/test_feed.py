"""What changed after a number: all of it, once; or the word that it is no longer known."""

from __future__ import annotations

import asyncio

from rolecall.extensions.console.page.feed import ChangeFeed
from rolecall.gvk import Gvk
from rolecall.workqueue import Key

SHOP = Gvk("web.example.com", "v1", "Shop")


def key(name: str) -> Key:
    return Key(SHOP, "prod", name)


def test_reader_gets_changes_after_its_number_and_none_before() -> None:
    feed = ChangeFeed()
    feed.add({key("a")})
    position = feed.position
    feed.add({key("b")})
    feed.add({key("c"), key("b")})
    number = feed.number_at(position)
    assert number is not None
    assert feed.since(number) == {key("b"), key("c")}
    assert feed.since(feed.number) == set()


def test_position_of_another_engine_is_none_of_ours() -> None:
    assert ChangeFeed().number_at(ChangeFeed().position) is None
    assert ChangeFeed().number_at("") is None
    assert ChangeFeed().number_at("x-1") is None


def test_position_ahead_of_us_is_none_of_ours() -> None:
    feed = ChangeFeed()
    assert feed.number_at(feed.position.replace("-0", "-5")) is None


def test_what_left_the_ring_is_not_made_up() -> None:
    feed = ChangeFeed(most_kept=2)
    for name in "abc":
        feed.add({key(name)})
    assert feed.since(0) is None
    assert feed.since(1) == {key("b"), key("c")}


def test_nothing_is_no_change() -> None:
    feed = ChangeFeed()
    feed.add(set())
    assert feed.number == 0


async def test_waiting_reader_is_woken_by_the_next_change() -> None:
    feed = ChangeFeed()
    waits = [asyncio.ensure_future(feed.wait_beyond(0)) for _ in range(3)]
    await asyncio.sleep(0)
    feed.add({key("a")})
    await asyncio.gather(*waits)
    await feed.wait_beyond(0)
