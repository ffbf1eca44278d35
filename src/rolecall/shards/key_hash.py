"""Which shard a key belongs to: the same in each replica, each release, each Python."""

from __future__ import annotations

import hashlib

from rolecall.workqueue import Key


def shard_of(key: Key, count: int) -> int:
    """The shard of a key among `count`. The version of its kind says nothing of which CR it is."""
    named = "\0".join((key.gvk.group, key.gvk.kind, key.namespace, key.name))
    digest = hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % count
