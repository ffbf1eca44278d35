"""Whether a list may have shown an object."""

from __future__ import annotations

from rolecall.record import meets_selector


def test_list_by_a_number_is_not_read_as_one_by_a_label_of_that_name() -> None:
    assert meets_selector({"size": "7"}, "size>5")
    assert not meets_selector({"size": "3"}, "size>5")


def test_what_cannot_be_read_may_show_everything() -> None:
    assert meets_selector({}, "a=b=c")
    assert not meets_selector({}, "a=b=c,app=web")
