"""Kubernetes Events: one for one word, counted, bounded, and never in anybody's way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from rolecall.acting import acting_for, current_hand
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube import Client, ForbiddenError, NotFoundError, Target, UnavailableError
from rolecall.reactor import ApiEventRecorder
from tests.unit.reactor.objects import metadata
from tests.unit.workqueue.virtual_clock import VirtualClock

CR = {"apiVersion": "demo.example.com/v1", "kind": "App", "metadata": metadata("a")}


class Server:
    """Keeps Events; fails as the test wants."""

    def __init__(self) -> None:
        self.events: dict[str, dict[str, Any]] = {}
        self.failures: list[ClusterError] = []
        self.calls = 0
        self.hands: dict[str, object] = {}  # by message, as far as they were created

    def _call(self) -> None:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Any:
        self._call()
        self.events[body["metadata"]["name"]] = dict(body)
        self.hands[body["message"]] = current_hand()

    async def merge_patch(
        self, gvk: Gvk, namespace: str, name: str, patch: Mapping[str, Any]
    ) -> Any:
        self._call()
        if name not in self.events:
            raise NotFoundError("gone", code=404, target=Target("patch"))
        self.events[name] |= patch

    @property
    def counts(self) -> dict[str, int]:
        return {event["message"]: event["count"] for event in self.events.values()}


@asynccontextmanager
async def posting(server: Server, clock: VirtualClock) -> AsyncIterator[ApiEventRecorder]:
    events = ApiEventRecorder(cast(Client, server), instance="pod-1", clock=clock)
    task = asyncio.create_task(events.run())
    yield events
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def record(events: ApiEventRecorder, message: str = "it failed", **cr: Any) -> None:
    events.record(CR | cr, kind="Warning", reason="Failed", message=message)


class NotedHand:
    def holds(self) -> bool:
        return True


async def test_event_is_posted_by_the_right_under_which_it_was_recorded() -> None:
    server, clock, hand = Server(), VirtualClock(), NotedHand()
    async with posting(server, clock) as events:
        with acting_for(hand):
            record(events, "by a turn")
        record(events, "by the replica")
        await clock.rest()
    assert server.hands == {"by a turn": hand, "by the replica": None}


async def test_event_names_its_object_and_its_reporter() -> None:
    server, clock = Server(), VirtualClock()
    async with posting(server, clock) as events:
        record(events)
        await clock.rest()
    (event,) = server.events.values()
    assert event["involvedObject"]["uid"] == "uid-a"
    assert (event["type"], event["reason"], event["count"]) == ("Warning", "Failed", 1)
    assert event["metadata"]["namespace"] == "shop"
    assert event["reportingInstance"] == "pod-1"
    assert event["firstTimestamp"] == "2026-11-21T09:00:00Z"


async def test_same_word_is_counted_and_after_a_while_new() -> None:
    server, clock = Server(), VirtualClock()
    async with posting(server, clock) as events:
        for _ in range(3):
            record(events)
            await clock.advance(1)
        for _ in range(4):
            record(events)
        await clock.rest()
        assert server.counts == {"it failed": 7}
        assert server.calls == 4
        await clock.advance(600)
        record(events)
        await clock.rest()
    assert len(server.events) == 2


async def test_event_that_the_server_dropped_is_made_anew() -> None:
    server, clock = Server(), VirtualClock()
    async with posting(server, clock) as events:
        record(events)
        await clock.rest()
        server.events.clear()
        record(events)
        await clock.rest()
    assert server.counts == {"it failed": 1}


async def test_many_words_for_one_reason_are_combined() -> None:
    server, clock = Server(), VirtualClock()
    async with posting(server, clock) as events:
        for number in range(50):
            record(events, f"run {number} failed")
            await clock.advance(1)
    assert len(server.events) == 11
    assert server.counts["(combined from similar events): run 49 failed"] == 40


async def test_words_of_ten_minutes_ago_are_neither_counted_nor_kept() -> None:
    server, clock = Server(), VirtualClock()
    async with posting(server, clock) as events:
        for minute in range(60):
            for number in range(20):
                record(events, f"run {number} failed", metadata=metadata(f"cr-{minute}-{number}"))
            await clock.advance(60)
        assert len(events._posted) <= 10 * 20
        assert len(events._variants) <= 10 * 20 + 1
        for number in range(20):
            record(events, f"word {number}")
        await clock.advance(599)
        record(events, "one too many")
        await clock.advance(2)
        record(events, "said again")
        await clock.rest()
    assert "(combined from similar events): one too many" in server.counts
    assert "said again" in server.counts


async def test_storm_is_slowed_down_and_bounded() -> None:
    server, clock = Server(), VirtualClock()
    async with posting(server, clock) as events:
        for number in range(3000):
            record(events, metadata=metadata(f"cr-{number}"))
        await clock.advance(10)
        assert 25 <= server.calls <= 80
        await clock.advance(1000)
    assert server.calls == 1000


async def test_refusal_is_reported_once_and_other_failures_are_swallowed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, clock = Server(), VirtualClock()
    target = Target("create")
    server.failures = [
        UnavailableError("no answer"),
        ForbiddenError("ns is being terminated", code=403, target=target),
        ForbiddenError("no", code=403, target=target),
        ForbiddenError("no", code=403, target=target),
    ]
    with caplog.at_level(logging.WARNING):
        async with posting(server, clock) as events:
            for number in range(5):
                record(events, f"word {number}")
            await clock.rest()
    assert [entry.message for entry in caplog.records] == ["not allowed to post Events"]
    assert list(server.counts) == ["word 4"]


async def test_cr_without_namespace_has_its_events_in_default() -> None:
    server, clock = Server(), VirtualClock()
    async with posting(server, clock) as events:
        record(events, metadata={"name": "wide", "uid": "u"})
        await clock.rest()
    (event,) = server.events.values()
    assert event["metadata"]["namespace"] == "default"
