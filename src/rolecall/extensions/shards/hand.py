"""The right to act for one shard in one tenure: asked anew before each write.

Promise: once it said no, it never says yes again, also when the same replica takes the same shard
later: a turn or a play that began before is not of that time.
"""

from __future__ import annotations

from collections.abc import Callable


class Hand:
    """Handed to a turn when it begins, and asked before everything that the turn writes."""

    __slots__ = ("_is_valid", "_is_void", "shard")

    def __init__(self, shard: int, is_valid: Callable[[Hand], bool]) -> None:
        self.shard = shard
        self._is_valid = is_valid
        self._is_void = False

    def holds(self) -> bool:
        """Whether a write that starts now may be made."""
        if not self._is_void and not self._is_valid(self):
            self._is_void = True
        return not self._is_void

    def void(self) -> None:
        """It says no from now on."""
        self._is_void = True
