"""All followers of a run as one.

Promise: what a follower raises reaches neither the play nor the turn. It follows this run no longer,
and publishes nothing of it: that would be a part of what happened, taken for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rolecall.proxy import AskedExchange, ExchangeFollower, RunFollower
from rolecall.runner import RunEvent

T = TypeVar("T")


@dataclass(slots=True)
class FollowerOf:
    """The follower of one extension."""

    follower: RunFollower
    on_fault: Callable[[Exception], None]
    has_failed: bool = False

    def call(self, step: Callable[..., T], *arguments: object) -> T | None:
        if self.has_failed:
            return None
        try:
            return step(*arguments)
        except Exception as error:
            self.has_failed = True
            self.on_fault(error)
            return None


class RunFollowers(RunFollower):
    def __init__(self, each: Sequence[FollowerOf]) -> None:
        self._each = each

    def begin(self, exchange: AskedExchange) -> ExchangeFollower | None:
        begun = [(each, each.call(each.follower.begin, exchange)) for each in self._each]
        following = [(each, one) for each, one in begun if one is not None]
        return _ExchangeFollowers(following) if following else None

    def event(self, event: RunEvent) -> None:
        for each in self._each:
            each.call(each.follower.event, event)

    def leave_beside(self, folder: Path) -> None:
        for each in self._each:
            each.call(each.follower.leave_beside, folder)

    def finding(self, kind: type[T]) -> T | None:
        """That of the first extension that publishes such."""
        for each in self._each:
            found: T | None = each.call(each.follower.finding, kind)
            if found is not None:
                return found
        return None


class _ExchangeFollowers(ExchangeFollower):
    def __init__(self, each: Sequence[tuple[FollowerOf, ExchangeFollower]]) -> None:
        self._each = each

    def sent(self, body: bytes) -> None:
        for of, each in self._each:
            of.call(each.sent, body)

    def answering(self, code: int, media_type: str) -> None:
        for of, each in self._each:
            of.call(each.answering, code, media_type)

    def answered(self, piece: bytes) -> None:
        for of, each in self._each:
            of.call(each.answered, piece)

    def over(self) -> None:
        for of, each in self._each:
            of.call(each.over)
