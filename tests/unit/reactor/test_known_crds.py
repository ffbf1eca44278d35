"""Word of CRDs that come, change and go."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.kube import ForbiddenError, Target, WatchEvent
from rolecall.reactor.known_crds import KnownCrds


def reported_crds() -> tuple[list[str], KnownCrds]:
    story: list[str] = []
    changed = lambda group: story.append(f"changed {group}")  # noqa: E731
    removed = lambda plural, group: story.append(f"removed {plural} of {group}")  # noqa: E731
    return story, KnownCrds(changed, removed)


def crd(name: str, version: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version}}


def lists(crds: KnownCrds, *documents: dict[str, Any]) -> None:
    crds.on_list_begins()
    for each in documents:
        crds.on_listed(each)
    crds.on_list_complete()


def test_change_is_reported_by_group_and_only_once() -> None:
    story, crds = reported_crds()
    lists(crds, crd("apps.demo.example.com"))
    crds.on_event(WatchEvent("MODIFIED", crd("apps.demo.example.com", "2")))
    lists(crds, crd("apps.demo.example.com", "2"))
    assert story == ["changed demo.example.com"] * 2


def test_deleted_crd_is_reported_whether_watched_or_found_missing() -> None:
    story, crds = reported_crds()
    lists(crds, crd("apps.demo.example.com"), crd("volumes.other.example.com"))
    story.clear()
    crds.on_event(WatchEvent("DELETED", crd("apps.demo.example.com")))
    assert story == ["removed apps of demo.example.com", "changed demo.example.com"]
    story.clear()
    lists(crds)
    assert story[0] == "removed volumes of other.example.com"


def test_missing_right_is_warned_of_with_its_rule(caplog: pytest.LogCaptureFixture) -> None:
    _, crds = reported_crds()
    crds.on_trouble(ForbiddenError("no", code=403, target=Target("list", path="/crds")))
    (entry,) = caplog.records
    assert "found within 30 s" in entry.message
    assert "verbs: [list]" in entry.__dict__["fields"]["rule"]
