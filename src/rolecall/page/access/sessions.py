"""Who has logged in: a random name in a cookie, and behind it the user with the token, in memory
alone.

A session ends when it was not used for eight hours, when its reader leaves, when the API server
refuses its token, and with the process: the next pod asks again.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from rolecall.clock import Clock
from rolecall.page.access.reader import Reader

IDLE_S = 8 * 3600.0
_MOST = 1000


@dataclass(slots=True)
class Session:
    reader: Reader
    used_s: float
    # What a form must bring along: a page of somebody else's cannot read it.
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    streams: int = 0  # open now

    def has_form_token(self, told: str) -> bool:
        return hmac.compare_digest(self.form_token.encode(), told.encode())


class Sessions:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_name: OrderedDict[str, Session] = OrderedDict()

    def begin(self, reader: Reader) -> str:
        """The name of a new session; of too many, the one that was used last goes first."""
        name = secrets.token_urlsafe(32)
        self._by_name[name] = Session(reader, self._clock.monotonic())
        while len(self._by_name) > _MOST:
            self._by_name.popitem(last=False)
        return name

    def find(self, name: str) -> Session | None:
        """The session of a cookie, which is used by that."""
        session = self._by_name.get(name)
        if session is None:
            return None
        now = self._clock.monotonic()
        if now - session.used_s > IDLE_S:
            self.end(name)
            return None
        session.used_s = now
        self._by_name.move_to_end(name)
        return session

    def end(self, name: str) -> None:
        self._by_name.pop(name, None)
