"""An engine's work, as an election begins and ends it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from rolecall.clock import Clock
from rolecall.election import EngineWork
from rolecall.settings import QueueSettings
from rolecall.workqueue import Key, Limits, Queue


@dataclass
class Runs:
    """Notes which of these keys would have a run ended."""

    keys: Collection[Key] = ()
    ended: list[Key] = field(default_factory=list)
    lost: list[Key] = field(default_factory=list)
    forgotten: list[Key] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)

    def interrupt_runs(self, reason: str) -> None:
        self.interrupted.append(reason)

    def end_runs_of(self, is_meant: Callable[[Key], bool], reason: str) -> None:
        assert reason
        self.ended += filter(is_meant, self.keys)

    def lose_runs_of(self, is_lost: Callable[[Key], bool], reason: str) -> int:
        assert reason
        self.lost += filter(is_lost, self.keys)
        return 1

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        self.forgotten += filter(is_meant, self.keys)


@dataclass
class Kept:
    """What is kept in parts."""

    unwritten: set[int] = field(default_factory=set)
    forgotten: list[int] = field(default_factory=list)

    def has_unwritten(self, part: int) -> bool:
        return part in self.unwritten

    async def write_parts(self, parts: Collection[int]) -> None:
        self.unwritten -= set(parts)

    def forget_parts(self, parts: Collection[int]) -> None:
        self.forgotten += parts


def idle_work(clock: Clock, **more: Any) -> EngineWork:
    """There is nothing to do, but for what is given."""
    work = EngineWork(
        queue=Queue(clock, Limits(1, {}), QueueSettings()),
        runs=Runs(),
        known=dict,
        kept=Kept(),
        remembering=(),
        on_leading_change=lambda: None,
        posting_for=lambda: None,
        keep_brought=lambda _: None,
    )
    return replace(work, **more)
