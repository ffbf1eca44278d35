"""Extensions follow runs: what they publish of one, and what a follower that fails costs it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from rolecall.extending import Extension
from rolecall.proxy import AskedExchange, ExchangeFollower, RunFollower
from rolecall.reconcile import BegunRun
from rolecall.runner import RunEvent
from tests.unit.extending.views import engine_view, host_of
from tests.unit.proxy.crs import app, watch
from tests.unit.proxy.stored import stored
from tests.unit.proxy.upstream import opened_play

_MAP = "/api/v1/namespaces/prod/configmaps/made"
_EVENT = RunEvent("runner_on_ok", 1, "", "", {}, "a.yml:1")


class Codes(list[int]):
    """Of the answers that a run was given."""


class Counting(RunFollower, ExchangeFollower):
    def __init__(self) -> None:
        self.codes = Codes()

    def begin(self, exchange: AskedExchange) -> ExchangeFollower:
        return self

    def answering(self, code: int, media_type: str) -> None:
        self.codes.append(code)

    def finding(self, kind: type[Any]) -> Any:
        return self.codes if kind is Codes else None


class Failing(Counting):
    def answered(self, piece: bytes) -> None:
        raise ValueError("a bug of an extension")


class Counts(Extension):
    name = "counts"
    publishes = (Codes,)
    follower: type[Counting] = Counting

    def follow(self, run: BegunRun) -> RunFollower | None:
        return None if run.is_without_effect else self.follower()


class Fails(Counts):
    name = "fails"
    follower = Failing


class Needs(Extension):
    name = "needs"
    needs = (Codes,)


async def test_follower_sees_each_exchange_and_publishes_what_it_found(tmp_path: Path) -> None:
    host = host_of([Counts], engine_view(tmp_path))
    async with opened_play(tmp_path, follow=host.follow) as play:
        play.upstream.say = stored().say
        async with play.request("GET", _MAP) as answer:
            assert json.loads(await answer.read())["metadata"]["uid"] == "u-1"
        assert play.access.followed.finding(Codes) == [200]
        assert play.access.followed.finding(dict) is None


async def test_follower_that_fails_costs_no_answer_and_publishes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faults: list[str] = []
    host = host_of([Fails], engine_view(tmp_path), faults.append)
    async with opened_play(tmp_path, follow=host.follow) as play:
        play.upstream.say = stored().say
        for _ in range(2):
            async with play.request("GET", _MAP) as answer:
                assert answer.status == 200
                assert json.loads(await answer.read())["metadata"]["uid"] == "u-1"
        play.access.followed.event(_EVENT)
        play.access.followed.leave_beside(tmp_path)
        assert play.access.followed.finding(Codes) is None
    assert faults == ["extension fails"]
    assert [each.message for each in caplog.records if each.levelno == logging.ERROR] == [
        "internal error: an extension failed"
    ]


async def test_finding_is_that_of_the_first_follower_that_did_not_fail(tmp_path: Path) -> None:
    host = host_of([Fails, Counts], engine_view(tmp_path))
    async with opened_play(tmp_path, follow=host.follow) as play:
        play.upstream.say = stored().say
        async with play.request("GET", _MAP) as answer:
            await answer.read()
        assert play.access.followed.finding(Codes) == [200]


def test_run_that_no_extension_follows_has_no_finding(tmp_path: Path) -> None:
    host = host_of([Counts], engine_view(tmp_path))
    followed = host.follow(BegunRun("1", app(), watch(), is_without_effect=True))
    assert followed.finding(Codes) is None


@pytest.mark.parametrize("is_published", [True, False])
def test_extension_without_a_finding_that_it_needs_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_published: bool
) -> None:
    host_of([Needs, *([Counts] if is_published else [])], engine_view(tmp_path))
    assert caplog.messages == ([] if is_published else ["the extension `needs` has no effect"])
