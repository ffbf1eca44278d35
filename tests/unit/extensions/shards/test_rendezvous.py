"""Whom a shard is for: the same answer everywhere, by weight, and nothing moves that need not."""

from __future__ import annotations

from rolecall.extensions.shards.rendezvous import winner_of, winners

COUNT = 64


def members(*weights: int) -> dict[str, int]:
    return {f"tenure{number}": weight for number, weight in enumerate(weights)}


def test_answer_is_the_same_in_each_process_and_each_order() -> None:
    three = members(4, 4, 4)
    backwards = dict(reversed(three.items()))
    assert winners(COUNT, three) == winners(COUNT, backwards)
    assert [winner_of(shard, three.items())[-1] for shard in range(8)] == list("12100002")


def test_no_replica_wins_where_none_is() -> None:
    assert winners(2, {}) == {0: "", 1: ""}


def test_join_moves_only_what_the_newcomer_gets() -> None:
    before = winners(COUNT, members(4, 4, 4))
    after = winners(COUNT, members(4, 4, 4, 4))
    moved = {shard for shard in before if before[shard] != after[shard]}
    assert moved
    assert {after[shard] for shard in moved} == {"tenure3"}


def test_leave_moves_only_what_the_leaver_had() -> None:
    four = members(1, 4, 4, 16)
    before = winners(COUNT, four)
    del four["tenure3"]
    after = winners(COUNT, four)
    moved = {shard for shard in before if before[shard] != after[shard]}
    assert {before[shard] for shard in moved} == {"tenure3"}
    assert moved == {shard for shard in before if before[shard] == "tenure3"}


def test_member_gets_as_much_as_it_weighs() -> None:
    count = 4000
    won = list(winners(count, members(1, 2, 5)).values())
    shares = [won.count(f"tenure{number}") / count for number in range(3)]
    for share, expected in zip(shares, (1 / 8, 2 / 8, 5 / 8), strict=True):
        assert abs(share - expected) < 0.03, shares


def test_more_weight_takes_from_others_and_moves_nothing_between_them() -> None:
    before = winners(COUNT, members(4, 4, 4))
    after = winners(COUNT, members(4, 4, 12))
    moved = {shard for shard in before if before[shard] != after[shard]}
    assert {after[shard] for shard in moved} == {"tenure2"}
