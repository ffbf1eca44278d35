"""Who should have a shard: each replica works it out alone, from the same members to the same answer.

Each member draws a number for each shard, out of both names; the highest has the shard. Nobody else's
draw changes when a member joins or leaves, so only what the newcomer wins, or the leaver had, moves.
A member of weight w draws as w members of weight 1 would together: the maximum of their draws.

Rejected: a ring of hashes, which with few members divides unevenly; and dividing exactly evenly, which
moves shards between members that both stay.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache

_BITS = 52  # as many as leave room for a half below 1


def winner_of(shard: int, weights: Iterable[tuple[str, int]]) -> str:
    """The tenure of whom a shard is for, among tenures with weights; empty: there are none."""
    return max(
        ((_draw(shard, tenure, weight), tenure) for tenure, weight in weights), default=(0.0, "")
    )[1]


def winners(count: int, weights: Mapping[str, int]) -> dict[int, str]:
    """Whom each shard is for."""
    return dict(enumerate(_winners(count, tuple(sorted(weights.items())))))


# Members change seldom, and each look asks.
@lru_cache(maxsize=8)
def _winners(count: int, weights: tuple[tuple[str, int], ...]) -> list[str]:
    return [winner_of(shard, weights) for shard in range(count)]


def _draw(shard: int, tenure: str, weight: int) -> float:
    digest = hashlib.sha256(f"{shard}/{tenure}".encode()).digest()
    chance = ((int.from_bytes(digest[:8], "big") >> (64 - _BITS)) + 0.5) / 2**_BITS
    return -max(weight, 1) / math.log(chance)
