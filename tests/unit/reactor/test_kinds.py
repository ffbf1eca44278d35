"""Word of CRDs that come, change and go."""

from __future__ import annotations

from typing import Any

from rolecall.kube import ForbiddenError, Target, WatchEvent
from rolecall.reactor.kinds import Kinds


class Told:
    def __init__(self) -> None:
        self.story: list[str] = []

    def on_kinds_changed(self, group: str) -> None:
        self.story.append(f"changed {group}")

    def on_kind_removed(self, plural: str, group: str) -> None:
        self.story.append(f"removed {plural} of {group}")

    def on_deaf(self, is_deaf: bool) -> None:
        self.story.append("deaf" if is_deaf else "hearing")


def crd(name: str, version: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version}}


def lists(kinds: Kinds, *crds: dict[str, Any]) -> None:
    kinds.on_list_begins()
    for each in crds:
        kinds.on_listed(each)
    kinds.on_list_complete()


def test_change_is_told_by_group_and_only_once() -> None:
    told = Told()
    kinds = Kinds(told)
    lists(kinds, crd("apps.demo.example.com"))
    kinds.on_event(WatchEvent("MODIFIED", crd("apps.demo.example.com", "2")))
    lists(kinds, crd("apps.demo.example.com", "2"))
    changed = "changed demo.example.com"
    assert told.story == [changed, "hearing", changed, "hearing"]


def test_crd_that_went_is_told_whether_heard_or_found_missing() -> None:
    told = Told()
    kinds = Kinds(told)
    lists(kinds, crd("apps.demo.example.com"), crd("volumes.other.example.com"))
    told.story.clear()
    kinds.on_event(WatchEvent("DELETED", crd("apps.demo.example.com")))
    assert told.story == ["removed apps of demo.example.com", "changed demo.example.com"]
    told.story.clear()
    lists(kinds)
    assert told.story[0] == "removed volumes of other.example.com"


def test_missing_right_makes_deaf() -> None:
    told = Told()
    kinds = Kinds(told)
    kinds.on_trouble(ForbiddenError("no", code=403, target=Target("list")))
    assert told.story == ["deaf"]
