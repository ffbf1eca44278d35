"""Watches, metadata and sinks for tests, in few words."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.watches import Play, Watch
from rolecall.workqueue import Cause, Key, Urgency

APP = Gvk("demo.example.com", "v1", "App")


def watch(gvk: Gvk = APP, **fields: Any) -> Watch:
    return Watch(gvk, Play(Path("roles/app"), is_role=True), **fields)


def metadata(name: str = "a", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": "shop",
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "creationTimestamp": "2026-11-21T09:00:00Z",
        **fields,
    }


class Keys:
    """A sink that keeps what it got."""

    def __init__(self) -> None:
        self.added: list[tuple[Key, Urgency]] = []

        self.causes: list[str] = []

    def add(self, key: Key, urgency: Urgency, cause: Cause) -> None:
        self.added.append((key, urgency))
        self.causes.append(cause.text)

    @property
    def names(self) -> list[str]:
        return [key.name for key, _ in self.added]

    def urgencies(self, name: str) -> list[Urgency]:
        return [urgency for key, urgency in self.added if key.name == name]


class Roll:
    """Metrics that know who is there."""

    def __init__(self) -> None:
        self.present: dict[Key, datetime] = {}

    def seen(self, key: Key, created: datetime) -> None:
        self.present[key] = created

    def gone(self, key: Key) -> None:
        self.present.pop(key, None)
