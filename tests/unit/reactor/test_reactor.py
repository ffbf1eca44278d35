"""Whoever keeps what the cluster serves in mind is told when that changes."""

from __future__ import annotations

from typing import Any, cast

from rolecall.reactor import Reactor


def test_hearer_is_told_of_kinds_that_come_change_and_go() -> None:
    told: list[str] = []
    nothing = cast(Any, None)  # no stream is started
    reactor = Reactor([], nothing, nothing, nothing)
    reactor.tell_of_kinds(lambda: told.append("kinds"))
    reactor.on_kinds_changed("demo.example.com")
    reactor.on_kind_removed("apps", "demo.example.com")
    assert told == ["kinds", "kinds"]
