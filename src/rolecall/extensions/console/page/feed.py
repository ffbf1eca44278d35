"""Which CRs changed, numbered: what a page was made at, and what came after it.

Numbers belong to one life of the feed, which ends with the engine, and when nobody looked for so long
that changes were not followed. Whoever names one of another life, or one that is too long ago, is
told to look again at everything; so a reader that lost its connection misses nothing, and is told
nothing twice.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Collection

from rolecall.workqueue import Key

_MOST_KEPT = 4096
_LONGEST_NUMBER = 15


class ChangeFeed:
    def __init__(self, most_kept: int = _MOST_KEPT) -> None:
        self._life = secrets.token_hex(4)
        self._changes: deque[tuple[int, frozenset[Key]]] = deque(maxlen=most_kept)
        self._news = asyncio.Event()
        self.number = 0

    @property
    def position(self) -> str:
        """What to name to be told what comes after now."""
        return f"{self._life}-{self.number}"

    def add(self, keys: Collection[Key]) -> None:
        """These CRs changed, came or went."""
        if not keys:
            return
        self._next()
        self._changes.append((self.number, frozenset(keys)))

    def begin_anew(self) -> None:
        """Changes were missed: positions told until now are worth nothing."""
        self._life = secrets.token_hex(4)
        self._changes.clear()
        self._next()

    def number_at(self, position: str) -> int | None:
        """The number of a position; None: of another life, or of none."""
        life, _, number = position.rpartition("-")
        is_number = number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER
        if life != self._life or not is_number or int(number) > self.number:
            return None
        return int(number)

    def since(self, number: int) -> set[Key] | None:
        """What changed after it; None: nobody knows any more."""
        if number >= self.number:
            return set()
        if not self._changes or self._changes[0][0] > number + 1:
            return None
        return set().union(*(keys for each, keys in self._changes if each > number))

    async def wait_beyond(self, number: int) -> None:
        """Until something changed after it."""
        while self.number <= number:
            await self._news.wait()

    def _next(self) -> None:
        self.number += 1
        self._news.set()
        self._news = asyncio.Event()
