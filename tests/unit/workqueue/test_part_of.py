"""Which shard a key is in, for ever: replicas of two releases must agree."""

from __future__ import annotations

from collections import Counter

from rolecall.gvk import Gvk
from rolecall.workqueue import Key, part_of

SITE = Gvk("demo.example.com", "v1", "Website")


def test_shard_is_that_of_each_other_release() -> None:
    found = [part_of(Key(SITE, "shops", f"shop-{number}"), 64) for number in range(6)]
    assert found == [46, 18, 43, 51, 48, 50]


def test_shard_does_not_hang_on_the_version_of_the_kind() -> None:
    newer = Gvk(SITE.group, "v2", SITE.kind)
    assert part_of(Key(SITE, "a", "b"), 64) == part_of(Key(newer, "a", "b"), 64)


def test_shard_hangs_on_kind_namespace_and_name() -> None:
    keys = [Key(SITE, "a", "bc"), Key(SITE, "ab", "c"), Key(SITE, "", "abc")]
    keys.append(Key(Gvk(SITE.group, "v1", "Volume"), "a", "bc"))
    assert len({part_of(key, 2**60) for key in keys}) == len(keys)


def test_keys_are_spread_over_all_shards() -> None:
    found = Counter(part_of(Key(SITE, "ns", f"site-{number}"), 64) for number in range(6400))
    assert len(found) == 64
    assert max(found.values()) < 150


def test_key_with_half_a_character_belongs_to_a_part() -> None:
    assert part_of(Key(SITE, "shop", "a\ud800"), 8) in range(8)
