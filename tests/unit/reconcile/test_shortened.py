"""Texts that a run or a person made long, cut to what status and Events take."""

from __future__ import annotations

import pytest

from rolecall.reconcile.shortened import bounded


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("four", "four"),
        ("fives", "fives"),
        ("sixsix", "sixs…"),
        ("much longer than that", "much…"),
    ],
)
def test_text_has_so_many_characters_at_most_and_says_that_it_was_cut(
    text: str, shown: str
) -> None:
    assert bounded(text, 5) == shown


def test_half_a_character_is_replaced_since_json_knows_none() -> None:
    assert bounded("a\ud800b", 5) == "a?b"
