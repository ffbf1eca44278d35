"""A numbered list of the CRs that changed: a page knows the number at which it was made, and gets the
changes after it.

Numbers belong to one epoch of the feed, which ends with the engine, and when the page was unused for so
long that changes were not followed. A client that sends a number of another epoch, or one that is too
old, must load everything again. So a client that lost its connection misses no change and gets none
twice.
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
        """The position that a client sends to get the changes after now."""
        return f"{self._life}-{self.number}"

    def add(self, keys: Collection[Key]) -> None:
        """These CRs changed, came or went."""
        if not keys:
            return
        self._next()
        self._changes.append((self.number, frozenset(keys)))

    def begin_anew(self) -> None:
        """Begin a new epoch after missed changes: all positions until now become invalid."""
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
        """The CRs that changed after it; None: those changes are no longer kept."""
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
