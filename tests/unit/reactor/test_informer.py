"""One stream's life: list, watch, go on where it ended, list again where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import (
    Client,
    ForbiddenError,
    GoneError,
    Page,
    Target,
    UnavailableError,
    WatchEvent,
)
from rolecall.reactor.informer import Informer
from rolecall.reactor.ports import ListAgain
from tests.unit.workqueue.virtual_clock import VirtualClock

KIND = Gvk("", "v1", "ConfigMap")
FORBIDDEN = ForbiddenError("not allowed", code=403, target=Target("list"))
GONE = GoneError("too old", code=410, target=Target("watch"))


def item(name: str, version: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version}}


class Server:
    """Gives the scripted answers, in order; a call without one does not end."""

    def __init__(self, lists: list[Any], watches: list[Any]) -> None:
        self.lists, self.watches = lists, watches
        self.watched_from: list[str] = []
        self.version = ""  # that of the store, where it matters

    async def pages(self, *_: Any, **__: Any) -> AsyncIterator[Page]:
        reported = self.lists.pop(0)
        if isinstance(reported, Exception):
            raise reported
        version, reported = ("10", reported) if isinstance(reported, list) else reported
        for page in reported:
            yield Page(page, version, "")

    async def current_version(self, *_: Any, **__: Any) -> str:
        return self.version

    async def watch(self, *_: Any, resource_version: str, **__: Any) -> AsyncIterator[WatchEvent]:
        self.watched_from.append(resource_version)
        for reported in self.watches.pop(0) if self.watches else [...]:
            if isinstance(reported, Exception):
                raise reported
            if not isinstance(reported, WatchEvent):
                await asyncio.Event().wait()
            else:
                yield reported


class Reported:
    """A handler that records its calls."""

    wants_metadata_only = False

    def __init__(self) -> None:
        self.story: list[str] = []
        self.wish: str = ""
        self.synced: list[bool] = []

    def on_list_begins(self) -> None:
        self.story.append("list")

    def on_listed(self, item: dict[str, Any]) -> None:
        self.story.append(item["metadata"]["name"])
        if self.wish == item["metadata"]["name"]:
            self.wish = ""
            raise ListAgain

    def on_list_complete(self) -> None:
        self.story.append("complete")

    def on_event(self, event: WatchEvent) -> None:
        self.story.append(f"{event.type} {event.object['metadata']['name']}")

    def on_trouble(self, failure: ClusterError) -> None:
        self.story.append(f"trouble: {failure.message}")

    def on_synced(self, is_synced: bool) -> None:
        if self.synced[-1:] != [is_synced]:
            self.synced.append(is_synced)


@asynccontextmanager
async def following(server: Server, reported: Reported, clock: VirtualClock) -> AsyncIterator[None]:
    informer = Informer(
        cast(Client, server),
        KIND,
        "",
        reported,
        clock=clock,
        silence_s=300,
    )
    informer.on_history_lost = lambda: reported.story.append("lost")
    task = asyncio.create_task(informer.run())
    await clock.rest()
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_list_comes_first_and_events_after_it() -> None:
    reported, clock = Reported(), VirtualClock()
    event = WatchEvent("MODIFIED", item("a", "11"))
    async with following(Server([[[item("a")], [item("b")]]], [[event, ...]]), reported, clock):
        assert reported.story == ["list", "a", "b", "complete", "MODIFIED a"]


async def test_stream_that_the_server_ends_goes_on_where_it_was() -> None:
    reported, clock = Reported(), VirtualClock()
    bookmark = WatchEvent("BOOKMARK", item("", "15"))
    server = Server([[[]]], [[WatchEvent("ADDED", item("a", "11")), bookmark], [...]])
    async with following(server, reported, clock):
        assert server.watched_from == ["10", "15"]
        assert reported.story == ["list", "complete", "ADDED a"]


async def test_broken_connection_goes_on_without_a_list() -> None:
    reported, clock = Reported(), VirtualClock()
    broken = UnavailableError("connection reset")
    server = Server([[[]]], [[WatchEvent("ADDED", item("a", "11")), broken], [broken], [...]])
    async with following(server, reported, clock):
        await clock.advance(5)
        assert server.watched_from == ["10", "11", "11"]
        assert reported.story.count("list") == 1
        assert reported.synced == [True, False]


async def test_stream_that_goes_on_stands_again_with_its_first_word() -> None:
    reported, clock = Reported(), VirtualClock()
    broken, bookmark = UnavailableError("connection reset"), WatchEvent("BOOKMARK", item("", "15"))
    async with following(Server([[[]]], [[broken], [bookmark, ...]]), reported, clock):
        await clock.advance(5)
        assert reported.synced == [True, False, True]


async def test_stream_that_brings_nonsense_after_each_event_is_not_called_in_a_rush() -> None:
    reported, clock = Reported(), VirtualClock()
    odd = UnavailableError("the stream brought JSON that is not an event")
    event = WatchEvent("ADDED", item("a", "11"))
    server = Server([[[]]], [[event, odd] for _ in range(1000)])
    async with following(server, reported, clock):
        await clock.advance(10)
        assert 3 < len(server.watched_from) < 150
        assert set(server.watched_from[1:]) == {"11"}


async def test_bug_in_a_handler_ends_the_stream_and_says_so() -> None:
    reported, clock = Reported(), VirtualClock()
    server = Server([[[]]], [[ZeroDivisionError("of all things")]])
    informer = Informer(cast(Client, server), KIND, "", reported, clock=clock, silence_s=300)
    with pytest.raises(ZeroDivisionError):
        await informer.run()
    assert reported.synced == [True, False]


async def test_silent_stream_is_listed_again() -> None:
    reported, clock = Reported(), VirtualClock()
    silent = UnavailableError("no answer in time", is_timeout=True)
    async with following(Server([[[]], [[item("a")]]], [[silent], [...]]), reported, clock):
        await clock.advance(1)
        assert reported.story[-3:] == ["list", "a", "complete"]


async def test_version_that_is_too_old_is_listed_again() -> None:
    reported, clock = Reported(), VirtualClock()
    async with following(Server([[[]], [[item("a")]]], [[GONE], [...]]), reported, clock):
        await clock.advance(1)
        assert reported.story == ["list", "complete", "list", "a", "complete"]


async def test_refusal_is_reported_once_and_a_right_granted_later_is_found() -> None:
    reported, clock = Reported(), VirtualClock()
    async with following(Server([FORBIDDEN] * 5 + [[[item("a")]]], []), reported, clock):
        await clock.advance(100)
        assert reported.story.count("trouble: not allowed") == 1
        assert reported.story[-2:] == ["a", "complete"]


async def test_handler_may_ask_for_another_list_at_once() -> None:
    reported, clock = Reported(), VirtualClock()
    reported.wish = "b"
    async with following(Server([[[item("a"), item("b")]], [[item("c")]]], []), reported, clock):
        assert reported.story == ["list", "a", "b", "list", "c", "complete"]


async def test_server_that_hangs_up_at_once_is_not_called_in_a_rush() -> None:
    reported, clock = Reported(), VirtualClock()
    server = Server([[[]]], [[] for _ in range(1000)])
    async with following(server, reported, clock):
        await clock.advance(60)
        assert 3 < len(server.watched_from) < 15


async def test_store_that_was_set_back_is_noticed_before_a_stream_is_taken_up_again() -> None:
    """A watch from a version that is not reached yet is accepted, and sends nothing."""
    reported, clock = Reported(), VirtualClock()
    server = Server([[[]], *[("7", [[item("a")]])] * 5], [[UnavailableError("reset")], [...]])
    server.version = "7"
    async with following(server, reported, clock):
        await clock.advance(10)
        assert server.watched_from == ["10", "7"]
        assert reported.story[-3:] == ["lost", "a", "complete"]


async def test_bookmark_of_an_older_version_is_not_believed() -> None:
    reported, clock = Reported(), VirtualClock()
    back = WatchEvent("BOOKMARK", item("", "9"))
    async with following(Server([[[]], [[item("a")]]], [[back], [...]]), reported, clock):
        await clock.advance(1)
        assert reported.story == ["list", "complete", "list", "a", "complete"]


async def test_list_of_a_lagging_server_is_requested_again_and_not_reported() -> None:
    reported, clock = Reported(), VirtualClock()
    lagging, caught_up = ("9", [[item("old")]]), ("12", [[item("a")]])
    server = Server([[[]], lagging, lagging, caught_up], [[GONE], [...]])
    async with following(server, reported, clock):
        await clock.advance(5)
        assert [word for word in reported.story if word != "list"] == ["complete", "a", "complete"]
        assert server.watched_from == ["10", "12"]
