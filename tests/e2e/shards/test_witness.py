"""The witness sees what it is there for: without this, a game without findings would say nothing."""

from __future__ import annotations

from tests.e2e.shards.witness import Mark, Write, holds_of, overlaps, strange_writes

SHARD, ELECTION = "dice-shard-03", "dice"


def lease(version: int, who: str, holder: str) -> Write:
    return Write(version, float(version), who, "leases", SHARD, holder)


def status(version: int, who: str) -> Write:
    return Write(version, float(version), who, "rolleds", "x")


def strange(*writes: Write) -> list[str]:
    return strange_writes(writes, holds_of(writes, ELECTION), {"x": 3})


def test_writes_of_who_has_the_shard_are_in_order() -> None:
    assert not strange(lease(1, "a", "h_1"), status(2, "a"), lease(3, "b", "h_2"), status(4, "b"))


def test_write_after_another_took_the_shard_is_found() -> None:
    (found,) = strange(lease(1, "a", "h_1"), lease(2, "b", "h_2"), status(3, "a"))
    assert found == "rolleds/x at 3 by a, shard 3 is of b"


def test_write_after_the_shard_was_given_back_is_found() -> None:
    (found,) = strange(lease(1, "a", "h_1"), lease(2, "a", ""), status(3, "a"))
    assert "shard 3 is of none" in found


def test_write_before_anybody_took_the_shard_is_found() -> None:
    assert len(strange(status(1, "a"), lease(2, "a", "h_1"))) == 1


def mark(word: str, run: str) -> Mark:
    return Mark(word, "a", run, 1, 0.0)


def test_run_that_was_killed_and_followed_is_in_order() -> None:
    assert not overlaps([mark("begin", "1"), mark("begin", "2"), mark("end", "2")])


def test_mark_of_a_run_after_the_next_one_began_is_found() -> None:
    (found,) = overlaps([mark("begin", "1"), mark("begin", "2"), mark("end", "1")])
    assert "although 2 began since" in found
