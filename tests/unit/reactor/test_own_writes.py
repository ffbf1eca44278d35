"""What we wrote ourselves is no news; what anybody else wrote is, even if we wrote after them."""

from __future__ import annotations

import pytest

from rolecall.reactor.own_writes import OwnWrites


@pytest.fixture
def own() -> OwnWrites:
    """Versions 2, 3 and 5 are ours; 4 is another client's."""
    own = OwnWrites()
    for version, before in (("2", "1"), ("3", "2"), ("5", "4")):
        own.note("u", version, before)
    return own


@pytest.mark.parametrize(
    ("before", "version", "is_ours"),
    [
        ("1", "2", True),
        ("1", "3", True),  # two writes, of which a broken stream showed the last
        ("3", "4", False),
        ("4", "5", True),
        ("3", "5", False),  # ours, on top of theirs that was never shown
        ("0", "2", False),
    ],
)
def test_only_an_unbroken_chain_of_own_writes_is_no_news(
    own: OwnWrites, before: str, version: str, is_ours: bool
) -> None:
    assert own.made_all_since("u", before, version) is is_ours


def test_write_that_changed_nothing_is_not_one(own: OwnWrites) -> None:
    own.note("u", "5", "5")
    assert own.made_all_since("u", "4", "5")
    assert not own.made_all_since("u", "3", "5")


def test_write_on_an_unknown_version_begins_no_chain(own: OwnWrites) -> None:
    own.note("u", "6")
    assert own.made("u", "6")
    assert not own.made_all_since("u", "", "6")


def test_other_objects_have_versions_of_their_own(own: OwnWrites) -> None:
    assert not own.made_all_since("other", "1", "2")


def test_memory_is_short_and_never_wrong() -> None:
    own = OwnWrites()
    for number in range(10_000):
        own.note("u", str(number + 1), str(number))
    assert own.made_all_since("u", "9999", "10000")
    assert not own.made_all_since("u", "0", "10000")


def test_version_that_comes_again_after_a_restore_is_not_taken_for_ours(own: OwnWrites) -> None:
    own.forget()
    assert not own.made("u", "2")
    assert not own.made_all_since("u", "1", "2")
