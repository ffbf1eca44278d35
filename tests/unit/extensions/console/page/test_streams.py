"""Streams go on where their reader left off, and end when he may see no more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.fixtures.eventually import eventually_async
from tests.unit.extensions.console.control.engine import NOON, Known, key
from tests.unit.extensions.console.page.serving import ALL, Shown, place, shown

from rolecall.extensions.console.page.feed import ChangeFeed
from rolecall.history import KeptRun, this_process, write_run

TOKEN = "token-of-anna"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("_TOGETHER_S", 0.01), ("_BEAT_S", 0.2), ("_LOOK_S", 0.02)):
        monkeypatch.setattr(f"rolecall.extensions.console.page.streams.{name}", seconds)
    monkeypatch.setattr("rolecall.extensions.console.page.table._SHORTEST_PAUSE_S", 0.02)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Shown]:
    async with shown(tmp_path) as page:
        page.cluster.knows("anna", *ALL)
        page.has("a", "b")
        yield page


class Stream:
    """What a stream sends, event by event."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self.last = ""

    async def next(self) -> tuple[str, Any]:
        """Kind and data; an empty kind: the stream has ended."""
        reported: dict[str, str] = {}
        async with asyncio.timeout(60):
            while line := (await self._answer.content.readline()).decode():
                name, _, value = line.rstrip("\n").partition(": ")
                if name:
                    reported[name] = value
                elif "event" in reported:
                    self.last = reported["id"]
                    return reported["event"], json.loads(reported["data"])
        return "", None


async def position_of(page: Shown, path: str = "/") -> str:
    text = (await page.asks(path, token=TOKEN)).text
    return text.partition('data-position="')[2].partition('"')[0]


async def changes(page: Shown, *names: str) -> None:
    """These CRs change; the table is looked at, as its loop does when time passes."""
    for name in names:
        known = page.world.known[key(name)]
        page.world.known[key(name)] = Known(generation=(known.generation or 0) + 1)
    page.clock.step(1)
    await page.asks("/", token=TOKEN)


async def test_stream_reports_changes_after_the_page_was_made(page: Shown) -> None:
    position = await position_of(page)
    await changes(page, "a")
    async with page.opens(f"/events?after={position}", token=TOKEN) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        stream = Stream(answer)
        assert await stream.next() == ("changed", {"keys": [place("a")]})
        await changes(page, "b")
        assert await stream.next() == ("changed", {"keys": [place("b")]})


async def test_reader_that_reconnects_gets_nothing_twice(page: Shown) -> None:
    position = await position_of(page)
    await changes(page, "a")
    async with page.opens(f"/events?after={position}", token=TOKEN) as answer:
        stream = Stream(answer)
        await stream.next()
    await changes(page, "b")
    path = f"/events?after={position}"
    async with page.opens(path, token=TOKEN, Last_Event_ID=stream.last) as answer:
        assert await Stream(answer).next() == ("changed", {"keys": [place("b")]})


@pytest.mark.parametrize("said", ["0a0b0c0d-0", "x", "-1", "0a0b-²", "1" * 6000])
async def test_position_of_another_life_means_to_look_again(page: Shown, said: str) -> None:
    position = await position_of(page)
    for asked in (said, f"{position.partition('-')[0]}-{said}", f"{position[:-1]}999"):
        async with page.opens("/events", token=TOKEN, Last_Event_ID=asked) as answer:
            stream = Stream(answer)
            assert await stream.next() == ("again", {})
            assert stream.last == await position_of(page)


async def test_reader_that_fell_too_far_behind_is_asked_to_reload(
    page: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = await position_of(page)
    monkeypatch.setattr(ChangeFeed, "since", lambda *_: None)
    await changes(page, "a")
    async with page.opens(f"/events?after={position}", token=TOKEN) as answer:
        assert await Stream(answer).next() == ("again", {})


async def test_changes_of_what_the_reader_may_not_list_are_not_reported(page: Shown) -> None:
    page.has("secret", namespace="bank")
    page.cluster.rules["anna"] = {("list", "websites", "shop")}
    position = await position_of(page)
    async with page.opens(f"/events?after={position}", token=TOKEN) as answer:
        stream = Stream(answer)
        page.world.known[key("secret", "bank")] = Known(generation=9)
        before = page.page._feed.number
        page.clock.step(1)
        # A clock that moves on while the table is made says that this takes long.
        await eventually_async(lambda: page.page._feed.number > before)
        await changes(page, "a")
        assert await stream.next() == ("changed", {"keys": [place("a")]})


async def test_many_changes_are_reported_without_their_names(
    page: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall.extensions.console.page.streams._MOST_NAMED", 1)
    position = await position_of(page)
    await changes(page, "a", "b")
    async with page.opens(f"/events?after={position}", token=TOKEN) as answer:
        assert await Stream(answer).next() == ("changed", {"keys": []})


async def test_stream_ends_with_its_token_also_while_there_is_much_to_report(page: Shown) -> None:
    position = await position_of(page)
    async with page.opens(f"/events?after={position}", token=TOKEN) as answer:
        stream = Stream(answer)
        await changes(page, "a")
        assert (await stream.next())[0] == "changed"
        page.cluster.users["token-of-other"] = page.cluster.users.pop(TOKEN)
        page.clock.step(60)
        page.world.known[key("b")] = Known(generation=7)
        assert await stream.next() == ("", None)


async def test_stream_ends_when_its_reader_logs_out_elsewhere(page: Shown) -> None:
    cookie = await page.logs_in(TOKEN)
    form = {"form_token": await page.form_token(cookie=cookie)}
    async with page.opens("/events", cookie=cookie) as answer:
        assert (await page.asks("/logout", form, cookie=cookie)).code == 303
        assert await Stream(answer).next() == ("", None)
    assert (await page.asks("/events", cookie=cookie)).code == 401


async def test_readers_hold_few_streams_and_one_who_goes_frees_his_place(page: Shown) -> None:
    cookie = await page.logs_in(TOKEN)
    asked = [page.opens("/events", cookie=cookie) for _ in range(6)]
    answers = [await each.__aenter__() for each in asked]
    assert [answer.status for answer in answers] == [200] * 6
    refused = await page.asks("/events", cookie=cookie)
    assert refused.code == 429 and refused.headers["Retry-After"]
    other = page.opens("/events", cookie=await page.logs_in(TOKEN))
    assert (await other.__aenter__()).status == 200
    answers[0].close()

    async def opened() -> int:
        async with page.opens("/events", cookie=cookie) as answer:
            return answer.status

    await eventually_async(opened, lambda status: status == 200)
    for answer in answers:
        answer.close()


async def test_streams_of_all_readers_are_bounded(
    page: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall.extensions.console.page.streams._MOST", 1)
    async with page.opens("/events", token=TOKEN) as answer:
        assert answer.status == 200
        assert (await page.asks("/events", cookie=await page.logs_in(TOKEN))).code == 429


async def test_bug_within_a_stream_ends_it_and_is_logged(
    page: Shown, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A page about it cannot be sent within an answer that has begun."""
    position = await position_of(page)

    def broken(*_: object) -> None:
        raise KeyError("bug")

    monkeypatch.setattr(ChangeFeed, "since", broken)
    await changes(page, "a")
    async with page.opens(f"/events?after={position}", token=TOKEN) as answer:
        assert await answer.text() == ""
    assert "internal error: a stream of the page ended" in caplog.text


class LiveRun:
    """A run whose event files come one by one."""

    def __init__(self, page: Shown) -> None:
        self.path = f"{place('a')}/runs/7"
        folder = page.world.root / "demo.example.com/v1/Website/shop/a/artifacts/7"
        self.events = folder / "job_events"
        self.events.mkdir(parents=True)
        self._run = KeptRun("7", began=NOON, engine=this_process(), folder=folder)
        write_run(self._run)

    def reports(self, counter: int) -> None:
        event = {
            "event": "playbook_on_task_start",
            "event_data": {"task_uuid": str(counter), "task": f"task {counter}"},
        }
        draft = self.events / f"{counter}-x-partial.json"
        draft.write_text(json.dumps(event))
        draft.rename(self.events / f"{counter}-x.json")

    def ends(self) -> None:
        write_run(replace(self._run, outcome="succeeded", ended=NOON))


async def test_run_is_followed_to_its_end_from_the_number_that_was_seen(page: Shown) -> None:
    run = LiveRun(page)
    run.reports(1)
    async with page.opens(f"{run.path}/events", token=TOKEN) as answer:
        stream = Stream(answer)
        assert (await stream.next(), stream.last) == (("tasks", {"count": 1}), "1")
        run.reports(2)
        assert (await stream.next(), stream.last) == (("tasks", {"count": 2}), "2")
    run.reports(3)
    async with page.opens(f"{run.path}/events?after=1", token=TOKEN, Last_Event_ID="2") as answer:
        stream = Stream(answer)
        assert (await stream.next(), stream.last) == (("tasks", {"count": 3}), "3")
        run.ends()
        assert await stream.next() == ("end", {"outcome": "succeeded"})
        assert await stream.next() == ("", None)
    async with page.opens(f"{run.path}/events?after=3", token=TOKEN) as answer:
        assert await Stream(answer).next() == ("end", {"outcome": "succeeded"})


@pytest.mark.parametrize("said", ["²", "-1", "x", "9" * 5000, "1e3"])
async def test_number_of_a_run_that_is_none_begins_at_the_beginning(page: Shown, said: str) -> None:
    run = LiveRun(page)
    run.reports(1)
    async with page.opens(f"{run.path}/events", token=TOKEN, Last_Event_ID=said) as answer:
        assert await Stream(answer).next() == ("tasks", {"count": 1})


@pytest.mark.parametrize("right", ["websites", "websites/log"])
async def test_run_is_followed_no_more_once_the_right_is_lost(page: Shown, right: str) -> None:
    run = LiveRun(page)
    run.reports(1)
    async with page.opens(f"{run.path}/events", token=TOKEN) as answer:
        stream = Stream(answer)
        await stream.next()
        page.cluster.rules["anna"].discard(("get", right, "*"))
        page.clock.step(30)
        assert await stream.next() == ("", None)
    refused = await page.asks(f"{run.path}/events", token=TOKEN)
    assert refused.code == (404 if right == "websites" else 403)


async def test_run_is_no_longer_followed_once_the_token_is_invalid(page: Shown) -> None:
    run = LiveRun(page)
    async with page.opens(f"{run.path}/events", token=TOKEN) as answer:
        del page.cluster.users[TOKEN]
        page.clock.step(60)
        assert await Stream(answer).next() == ("", None)


async def test_axis_of_a_run_grows_also_while_its_task_waits(page: Shown) -> None:
    run = LiveRun(page)
    run.reports(1)
    async with page.opens(f"{run.path}/events?after=1", token=TOKEN) as answer:
        page.clock.step(3)
        assert await Stream(answer).next() == ("tasks", {"count": 1})
