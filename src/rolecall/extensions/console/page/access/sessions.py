"""Who has logged in: a random name in a cookie, and behind it the user with the token, in memory
alone.

A session ends after eight hours without use, when its reader logs out, with the process, and within a
minute after the cluster rejects its token, because each session is checked once a minute. A cluster
that does not respond ends no session, but it allows no access to any object either.
"""

from __future__ import annotations

import hmac
import logging
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.extensions.console.page.access.reader import PageReader

IDLE_S = 8 * 3600.0
CHECKED_S = 60.0
_MOST = 1000
_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Session:
    reader: PageReader
    used_s: float
    known_s: float  # when the cluster said so
    # Each form must contain it: a page of another site cannot read it.
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    streams: int = 0  # open now
    is_over: bool = False  # for what lasts longer than its request

    def has_form_token(self, sent: str) -> bool:
        return hmac.compare_digest(self.form_token.encode(), sent.encode(errors="replace"))


class Sessions:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_name: OrderedDict[str, Session] = OrderedDict()

    async def begin(self, reader: PageReader) -> str:
        """The name of a new session; of too many, the one that was not used for longest goes."""
        name, now = secrets.token_urlsafe(32), self._clock.monotonic()
        self._by_name[name] = Session(reader, now, now)
        while len(self._by_name) > _MOST:
            await self.end(next(iter(self._by_name)))
        return name

    async def find(self, name: str) -> Session | None:
        """The session of a cookie, which is used by that."""
        session = self._by_name.get(name)
        if session is None:
            return None
        now = self._clock.monotonic()
        if now - session.used_s > IDLE_S or not await self.is_known(session):
            await self.end(name)
            return None
        session.used_s = now
        if name in self._by_name:
            self._by_name.move_to_end(name)
        return session

    async def is_known(self, session: Session) -> bool:
        """Whether it is open, and the cluster accepted its token recently or accepts it now."""
        if session.is_over:
            return False
        now = self._clock.monotonic()
        if now - session.known_s < CHECKED_S:
            return True
        try:
            if not await session.reader.is_known():
                return False
        except ClusterError as failure:
            _logger.warning("could not ask whose a token is: %s", failure)
        session.known_s = now
        return not session.is_over

    async def end(self, name: str) -> None:
        session = self._by_name.pop(name, None)
        if session is not None:
            session.is_over = True
            await session.reader.close()

    async def close(self) -> None:
        """End all."""
        for name in list(self._by_name):
            await self.end(name)
