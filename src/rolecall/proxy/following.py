"""How extensions follow what a play asks for: each exchange, from its beginning to its end.

Rejected: middleware that calls the next one. A fault of it would look like one of the proxy,
and the request that it holds may have been sent on already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from aiohttp import web

from rolecall.proxy.request_info import RequestInfo
from rolecall.reconcile import BegunRun, FollowedRun


class AskedExchange(Protocol):
    """What the play asks for, before anything of it is sent on."""

    @property
    def info(self) -> RequestInfo: ...
    @property
    def query(self) -> str:
        """As it was sent."""

    @property
    def agent(self) -> str:
        """The program that asks, as its `User-Agent` says."""

    @property
    def media_type(self) -> str:
        """The type of its body, without parameters."""

    @property
    def is_endless(self) -> bool:
        """Whether the answer may stay open for hours."""

    @property
    def at_s(self) -> float:
        """When it came, on the clock that never jumps."""


class ExchangeFollower:
    """Follows one exchange; none of its methods raises, or waits."""

    def sent(self, body: bytes) -> None:
        """What the play sent, as a whole."""

    def answering(self, code: int, media_type: str) -> None:
        """The answer began; of a stream reported once more at its end."""

    def answered(self, piece: bytes) -> None:
        """The next piece of the answer, or all of it."""

    def over(self) -> None:
        """Nothing more comes; an answer that did not begin never will."""


class RunFollower(FollowedRun):
    """Follows the requests of a run, too."""

    def begin(self, exchange: AskedExchange) -> ExchangeFollower | None:  # noqa: ARG002 - to override
        """The play asked for something; None: it is not followed."""
        return None


# Whatever follows a run; asked before it has access.
FollowRun = Callable[[BegunRun], RunFollower]


def followed_by_none(_run: BegunRun) -> RunFollower:
    return RunFollower()


OnAnswer = Callable[[web.StreamResponse], None]


@contextmanager
def followed(follower: ExchangeFollower | None) -> Iterator[OnAnswer]:
    """Follow an exchange to its end; give the answer to what this yields, if there is one."""
    if follower is None:
        yield lambda _: None
        return

    def answered(answer: web.StreamResponse) -> None:
        follower.answering(answer.status, answer.content_type)
        if isinstance(answer, web.Response) and isinstance(answer.body, bytes):
            follower.answered(answer.body)  # others were followed piece by piece

    try:
        yield answered
    finally:
        follower.over()
