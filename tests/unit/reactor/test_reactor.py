"""Caches of what the cluster serves are notified when that changes."""

from __future__ import annotations

from typing import Any, cast

from rolecall.reactor import Reactor


def test_subscribers_are_notified_of_kinds_that_come_change_and_go() -> None:
    reported: list[str] = []
    nothing = cast(Any, None)  # no stream is started
    report = [lambda: reported.append("kinds"), lambda: reported.append("kinds too")]
    reactor = Reactor([], nothing, nothing, nothing, on_kinds_change=report)
    reactor.on_crd_change("demo.example.com")
    reactor.on_crd_removed("apps", "demo.example.com")
    assert reported == ["kinds", "kinds too"] * 2
