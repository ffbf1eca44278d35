"""Label selectors as requests carry them."""

from __future__ import annotations

import pytest

from rolecall.record import meets_selector

LABELS = {"app": "web", "tier": "front", "empty": ""}


@pytest.mark.parametrize(
    "selector",
    [
        "",
        "app=web",
        "app==web",
        "app = web",
        "app!=db",
        "other!=x",
        "app",
        "!other",
        "app in (web, db)",
        "app notin (db)",
        "other notin (db)",
        "app=web,tier in (front,back),!other",
        "empty=",
        "app in (web) oops (",  # unreadable: it may be
    ],
)
def test_meets(selector: str) -> None:
    assert meets_selector(LABELS, selector)


@pytest.mark.parametrize(
    "selector",
    ["app=db", "app!=web", "other", "!app", "app in (db)", "app notin (web)", "app=web,tier=back"],
)
def test_does_not_meet(selector: str) -> None:
    assert not meets_selector(LABELS, selector)
