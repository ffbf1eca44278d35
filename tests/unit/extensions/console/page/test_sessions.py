"""Sessions end by themselves: unused, with their token, when there are too many."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from tests.unit.extensions.console.control.engine import SITE, key
from tests.unit.extensions.console.page.cluster import FakeClient, FakeCluster
from tests.unit.runner_warm.fakes import SteppedClock

from rolecall.extensions.console.page.access import AccessReviews, Sessions, TokenSessions
from rolecall.extensions.console.page.access.reader import LocalReader, TokenReader
from rolecall.kube import Client, TokenUser

TOKEN = "token-of-anna"
HOUR_S = 3600.0


class Town:
    def __init__(self) -> None:
        self.cluster, self.clock = FakeCluster(), SteppedClock()
        self.cluster.knows("anna")
        self.sessions = Sessions(self.clock)
        self.reviews = AccessReviews(FakeClient(self.cluster), self.clock)

    def reader(self, token: str = TOKEN) -> TokenReader:
        client = cast(Client, FakeClient(self.cluster, token))
        user = TokenUser("anna", "uid-anna")
        return TokenReader(user, token, client, self.reviews, lambda: {SITE: "websites"})


@pytest.fixture
def town() -> Town:
    return Town()


async def test_session_that_is_used_lasts_and_unused_ends(town: Town) -> None:
    name = await town.sessions.begin(town.reader())
    for _ in range(3):
        town.clock.step(8 * HOUR_S - 1)
        assert await town.sessions.find(name) is not None
    town.clock.step(8 * HOUR_S + 1)
    assert await town.sessions.find(name) is None
    assert town.cluster.closed == [TOKEN]


async def test_token_is_asked_about_again_each_minute(town: Town) -> None:
    name = await town.sessions.begin(town.reader())
    town.clock.step(59)
    assert await town.sessions.find(name) is not None
    assert town.cluster.asked["TokenReview"] == 0
    town.clock.step(1)
    assert await town.sessions.find(name) is not None
    assert await town.sessions.find(name) is not None
    assert town.cluster.asked["TokenReview"] == 1


async def test_session_ends_within_a_minute_after_its_token(town: Town) -> None:
    name = await town.sessions.begin(town.reader())
    del town.cluster.users[TOKEN]
    town.clock.step(60)
    assert await town.sessions.find(name) is None
    assert town.cluster.closed == [TOKEN]


async def test_token_of_another_user_ends_the_session(town: Town) -> None:
    name = await town.sessions.begin(town.reader())
    town.cluster.users[TOKEN] = {"username": "anna", "uid": "of another anna"}
    town.clock.step(60)
    assert await town.sessions.find(name) is None


async def test_groups_of_now_count_and_not_those_of_the_login(town: Town) -> None:
    reader = town.reader()
    name = await town.sessions.begin(reader)
    town.cluster.users[TOKEN]["extra"] = {"scopes": ["list"]}
    town.cluster.rules["anna"].add(("get", "websites", "shop"))
    assert await reader.may_get(key("a"))
    town.clock.step(60)
    assert await town.sessions.find(name) is not None
    assert not await reader.may_get(key("a"))


async def test_silent_cluster_ends_no_session(town: Town) -> None:
    name = await town.sessions.begin(town.reader())
    town.cluster.is_silent = True
    town.clock.step(60)
    assert await town.sessions.find(name) is not None
    town.cluster.is_silent = False
    del town.cluster.users[TOKEN]
    town.clock.step(60)
    assert await town.sessions.find(name) is None


async def test_unused_longest_makes_room_and_its_client_is_closed(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall.extensions.console.page.access.sessions._MOST", 2)
    first, second = [await town.sessions.begin(town.reader(each)) for each in "ab"]
    town.cluster.users |= {each: town.cluster.users[TOKEN] for each in "abc"}
    await town.sessions.find(first)
    third = await town.sessions.begin(town.reader("c"))
    assert town.cluster.closed == ["b"]
    assert [await town.sessions.find(name) is not None for name in (first, second, third)] == [
        True,
        False,
        True,
    ]


async def test_ended_session_is_no_longer_known(town: Town) -> None:
    name = await town.sessions.begin(town.reader())
    session = await town.sessions.find(name)
    assert session is not None and await town.sessions.is_known(session)
    await town.sessions.end(name)
    assert not await town.sessions.is_known(session)


async def test_names_of_sessions_and_forms_are_long_and_never_the_same(town: Town) -> None:
    client = cast(Client, FakeClient(town.cluster))
    names = {await town.sessions.begin(LocalReader(client)) for _ in range(50)}
    sessions = [await town.sessions.find(name) for name in names]
    tokens = {each.form_token for each in sessions if each is not None}
    assert len(names) == len(tokens) == 50
    assert min(map(len, names)) >= 43 and min(map(len, tokens)) >= 32
    assert await town.sessions.find("") is None


async def test_many_requests_with_a_new_token_begin_one_session(town: Town) -> None:
    by_token, logins = TokenSessions(town.sessions), []

    async def log_in(token: str) -> str:
        logins.append(token)
        await asyncio.sleep(0.01)
        return await town.sessions.begin(town.reader(token))

    found = await asyncio.gather(*(by_token.of(TOKEN, log_in) for _ in range(10)))
    assert logins == [TOKEN]
    assert len({name for name, _ in filter(None, found)}) == 1
    town.clock.step(9 * HOUR_S)
    await by_token.of(TOKEN, log_in)
    assert logins == [TOKEN, TOKEN]


async def test_sessions_of_many_tokens_are_bounded_and_end_when_they_are_forgotten(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall.extensions.console.page.access.token_sessions._MOST", 2)
    by_token = TokenSessions(town.sessions)

    async def log_in(token: str) -> str | None:
        return await town.sessions.begin(town.reader(token)) if token != "bad" else None

    for token in ("a", "b", "bad", "a", "c"):
        await by_token.of(token, log_in)
    assert town.cluster.closed == ["b"]
