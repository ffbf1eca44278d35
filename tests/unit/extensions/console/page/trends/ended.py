"""Turns that ended, and trends on a clock that stands still, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.unit.extensions.console.control.engine import SITE, key

from rolecall.extending import EndedTurn
from rolecall.extensions.console.page.trends import SeenTrends, Trends, TrendSpan
from rolecall.gvk import Gvk
from rolecall.reconcile import FollowedRun, Outcome
from rolecall.reconcile.ports import TurnTrail
from rolecall.record import RecordedTask, RunRecord
from rolecall.runner import Ending, RunResult
from rolecall.workqueue import Cause, Key, Turn, Urgency

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
SHOP = (SITE, "shop")


class HandClock:
    """Moves when a test says so."""

    def __init__(self) -> None:
        self.passed_s = 0.0
        self.apart_s = 0.0  # its two readings

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.passed_s)

    def monotonic(self) -> float:
        return 1000.0 + self.passed_s + self.apart_s

    def boottime(self) -> float:
        return self.monotonic()

    async def sleep(self, _seconds: float) -> None:
        await asyncio.sleep(0.001)


class Recorded(FollowedRun):
    def __init__(self, record: RunRecord | None) -> None:
        self.record = record

    def finding(self, kind: type[Any]) -> Any:
        return self.record if kind is RunRecord else None


def record(*tasks: tuple[str, float]) -> RunRecord:
    """`tasks`: names and seconds, one after the other."""
    began_s, recorded = 0.0, []
    for name, seconds in tasks:
        place = f"roles/web/tasks/main.yml:{name[-1]}"
        recorded.append(RecordedTask(name, name, place, "k8s", began_s, began_s + seconds, "ok"))
        began_s += seconds
    return RunRecord("1", NOON, 0.0, tuple(recorded), (), began_s)


def ended(
    what: Key,
    how: str = "succeeded",
    seconds: float = 1.0,
    *,
    cause: str = "edit",
    waited_s: float = 0.0,
    record: RunRecord | None = None,
) -> EndedTurn:
    endings = {"succeeded": Ending.FINISHED, "cancelled": Ending.CANCELLED}
    result = RunResult("1", endings.get(how, Ending.TIMED_OUT), 0, seconds=seconds)
    trail = TurnTrail(0.0, 0.0, seconds, "uid", result, Recorded(record))
    turn = Turn(what, Urgency.EDIT, waited_s, Cause(cause))
    return EndedTurn(turn, Outcome(result=result, trail=trail), seconds)


def gone(what: Key) -> EndedTurn:
    return EndedTurn(Turn(what, Urgency.EDIT), Outcome(forget=True), 0.0)


class Watched:
    """Trends, and one reader who sees everything."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.trends = Trends(self.clock)

    def ends(self, *turns: EndedTurn) -> None:
        self.trends.turns_ended(turns)

    def minutes_pass(self, minutes: float) -> None:
        self.clock.passed_s += minutes * 60

    def seen(
        self,
        span: TrendSpan = TrendSpan.HOUR,
        places: Sequence[tuple[Gvk, str]] = (SHOP,),
        with_log: Sequence[tuple[Gvk, str]] | None = None,
    ) -> SeenTrends:
        return self.trends.seen(places, places if with_log is None else with_log, span)

    def runs(self, span: TrendSpan = TrendSpan.HOUR) -> list[int]:
        return [each.runs for each in self.seen(span).all]

    def failing(self, span: TrendSpan = TrendSpan.HOUR) -> list[int]:
        return [each.failing for each in self.seen(span).all]


def site(name: str, namespace: str = "shop") -> Key:
    return key(name, namespace)
