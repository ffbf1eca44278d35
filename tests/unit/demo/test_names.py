"""Two demos at once: the second takes another name, unless the user named it."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from rolecall_dev import localcluster
from rolecall_dev.demo import DemoProject, RunningDemo


class Taken:
    """Clusters of other demos; records which one is brought up beside them."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.tried: list[str] = []

    def temporary_cluster(self, wanted: localcluster.Wanted, *_: object) -> NoReturn:
        self.tried.append(wanted.name)
        if wanted.name in self.names:
            raise localcluster.InUseError(f"cluster `{wanted.name}` belongs to a demo")
        raise LookupError(wanted.name)  # far enough for this test


def started(monkeypatch: pytest.MonkeyPatch, taken: Taken, name: str) -> None:
    monkeypatch.setattr(localcluster, "temporary_cluster", taken.temporary_cluster)
    monkeypatch.setattr(localcluster, "find_binaries", lambda: localcluster.Binaries({}))
    RunningDemo(DemoProject(Path(), Path(), ()), name, [], lambda _: None)


def test_second_demo_takes_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Taken("demo", "demo-2")
    with pytest.raises(LookupError):
        started(monkeypatch, taken, "")
    assert taken.tried == ["demo", "demo-2", "demo-3"]


def test_name_that_was_asked_for_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Taken("mine")
    with pytest.raises(localcluster.InUseError):
        started(monkeypatch, taken, "mine")
    assert taken.tried == ["mine"]
