"""Sessions of programs that send their token with each request, as `rolecall page` does.

One for each token, found by a hash of it. Several requests may bring a new token at the same time: the
first one logs in, and the others wait for it, since the form of one page must serve for the next.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from weakref import WeakValueDictionary

from rolecall.extensions.console.page.access.sessions import Session, Sessions

_MOST = 1000

# Takes a token and returns the name of the session that begins with it; None: the token is invalid.
LogIn = Callable[[str], Awaitable[str | None]]
Named = tuple[str, Session]


class TokenSessions:
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._names: OrderedDict[bytes, str] = OrderedDict()
        self._entering: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    async def of(self, token: str, log_in: LogIn) -> Named | None:
        """The session of a token, which this call may begin; None: the token is invalid."""
        key = hashlib.sha256(token.encode()).digest()
        if (known := await self._known(key)) is not None:
            return known
        lock = self._entering.setdefault(key, asyncio.Lock())
        async with lock:
            if (known := await self._known(key)) is not None:
                return known
            name = await log_in(token)
            if name is None:
                return None
            self._names[key] = name
            while len(self._names) > _MOST:
                await self._sessions.end(self._names.popitem(last=False)[1])
            return await self._known(key)

    async def _known(self, key: bytes) -> Named | None:
        name = self._names.get(key)
        if name is None:
            return None
        session = await self._sessions.find(name)
        if session is None:
            if self._names.get(key) == name:
                del self._names[key]
            return None
        if key in self._names:
            self._names.move_to_end(key)
        return name, session
