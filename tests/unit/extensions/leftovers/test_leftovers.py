"""Folders of CRs that are gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from rolecall.extensions.leftovers import LeftoversExtension
from rolecall.gvk import Gvk
from rolecall.kube import NoSuchKindError, Page, Resource
from rolecall.settings import ReactorSettings, RunnerSettings, Settings
from rolecall.watches import Play, Watch
from rolecall.workqueue import Key
from tests.unit.extending.views import engine_view

pytestmark = pytest.mark.usefixtures("executor_that_ends")
APP = Gvk("demo.example.com", "v1", "App")


class Listing:
    """A cluster in which some CRs exist; `during` happens while it is asked."""

    def __init__(self, *alive: str, namespaced: bool = True, is_served: bool = True) -> None:
        self._alive = alive
        self._namespaced = namespaced
        self._is_served = is_served
        self.during: Callable[[], None] = lambda: None

    async def resource_for(self, gvk: Gvk) -> Resource:
        if not self._is_served:
            raise NoSuchKindError(gvk)
        return Resource(gvk, "apps", self._namespaced)

    async def pages(self, gvk: Gvk, namespace: str, **more: Any) -> AsyncIterator[Page]:
        self.during()
        items: list[dict[str, Any]] = []
        for one in self._alive:
            place, _, name = one.rpartition("/")
            if not namespace or place == namespace:
                metadata = {"name": name, "namespace": place} if place else {"name": name}
                items.append({"metadata": metadata})
        yield Page(items, "1", "")


@pytest.fixture
async def executor_that_ends() -> AsyncIterator[None]:
    """Folders are removed in the loop's own threads, which else outlive the test."""
    yield
    await asyncio.get_running_loop().shutdown_default_executor()


def leftovers(root: Path, cluster: Listing, *namespaces: str) -> LeftoversExtension:
    settings = Settings(
        runner=RunnerSettings(root=root, cluster="ours"),
        reactor=ReactorSettings(namespaces=namespaces),
    )
    watch = Watch(APP, Play(Path("x"), True))
    return LeftoversExtension(engine_view(root, settings=settings, watches=[watch], client=cluster))


def folders(root: Path) -> set[str]:
    top = root / "demo.example.com" / "v1" / "App"
    return {str(one.parent.relative_to(top)) for one in top.rglob("artifacts")}


def make(root: Path, *places: str, cluster: str = "ours") -> None:
    for place in places:
        folder = root / "demo.example.com" / "v1" / "App" / place
        (folder / "artifacts").mkdir(parents=True)
        if cluster:
            (folder / ".rolecall-cluster").write_text(cluster)


async def test_folders_of_crs_that_are_gone_are_removed(tmp_path: Path) -> None:
    make(tmp_path, "a/x", "a/y", "b/x")
    await leftovers(tmp_path, Listing("a/x")).sweep()
    assert folders(tmp_path) == {"a/x"}


async def test_namespaces_that_are_not_watched_are_left_alone(tmp_path: Path) -> None:
    make(tmp_path, "a/y", "b/x")
    await leftovers(tmp_path, Listing(), "a").sweep()
    assert folders(tmp_path) == {"b/x"}


@pytest.mark.parametrize("owner", ["another", ""])
async def test_folders_of_other_clusters_or_operators_are_left_alone(
    tmp_path: Path, owner: str
) -> None:
    make(tmp_path, "a/y", cluster=owner)
    make(tmp_path, "a/x")
    await leftovers(tmp_path, Listing()).sweep()
    assert folders(tmp_path) == {"a/y"}


async def test_cr_that_is_created_meanwhile_keeps_its_folder(tmp_path: Path) -> None:
    make(tmp_path, "a/y")
    cluster = Listing()
    cluster.during = lambda: make(tmp_path, "a/new")
    await leftovers(tmp_path, cluster).sweep()
    assert folders(tmp_path) == {"a/new"}


async def test_cluster_scoped_kinds_have_no_namespace(tmp_path: Path) -> None:
    make(tmp_path, "x", "y")
    await leftovers(tmp_path, Listing("x", namespaced=False)).sweep()
    assert folders(tmp_path) == {"x"}


async def test_kind_that_is_not_served_keeps_its_folders(tmp_path: Path) -> None:
    make(tmp_path, "a/x")
    await leftovers(tmp_path, Listing(is_served=False)).sweep()
    assert folders(tmp_path) == {"a/x"}


async def test_folder_that_cannot_be_removed_is_reported_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "rolecall")
    await leftovers(tmp_path, Listing()).on_gone(Key(APP, "a", "../../x"))
    assert caplog.records[0].getMessage() == "could not remove a folder"
