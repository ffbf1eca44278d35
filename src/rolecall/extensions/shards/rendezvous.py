"""Who should have a shard: each replica computes it alone, with the same result for the same members.

A hash of both names gives each member a number for each shard; the highest number wins the shard. The
numbers of the other members do not change when a member joins or leaves, so only the shards that the
newcomer wins, or that the leaver had, move. A member of weight w gets the maximum of w such numbers.

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
