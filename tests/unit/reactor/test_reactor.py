"""Whoever keeps what the cluster serves in mind is told when that changes."""

from __future__ import annotations

from typing import Any, cast

from rolecall.reactor import Reactor


def test_whoever_asked_is_told_of_kinds_that_come_change_and_go() -> None:
    told: list[str] = []
    nothing = cast(Any, None)  # no stream is started
    tell = [lambda: told.append("kinds"), lambda: told.append("kinds too")]
    reactor = Reactor([], nothing, nothing, nothing, on_kinds_change=tell)
    reactor.on_crd_change("demo.example.com")
    reactor.on_crd_removed("apps", "demo.example.com")
    assert told == ["kinds", "kinds too"] * 2
