"""Which kinds there are: read when asked, kept, and read again when it may be wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Discovery, NoSuchKindError, NotFoundError, Target
from tests.unit.workqueue.virtual_clock import VirtualClock

APP = Gvk("demo.example.com", "v1", "App")
PATH = "/apis/demo.example.com/v1"
ROWS = [
    {"name": "apps", "kind": "App", "namespaced": True, "verbs": ["get", "list", "watch"]},
    {"name": "apps/status", "kind": "App", "namespaced": True, "verbs": ["get"]},
    {"name": "reviews", "kind": "Review", "namespaced": False, "verbs": ["create"]},
]


class Server:
    """Documents by path, and what was asked for."""

    def __init__(self) -> None:
        self.documents: dict[str, Any] = {PATH: {"resources": ROWS}}
        self.asked: list[str] = []

    async def fetch(self, path: str) -> dict[str, Any]:
        self.asked.append(path)
        await asyncio.sleep(0)
        if path not in self.documents:
            raise NotFoundError("no", code=404, target=Target("get", path=path))
        found: dict[str, Any] = self.documents[path]
        return found


async def test_kind_is_found_with_its_subresources_and_kept() -> None:
    server = Server()
    discovery = Discovery(server.fetch, VirtualClock())
    resource = await discovery.by_gvk(APP)
    assert (resource.plural, resource.namespaced) == ("apps", True)
    assert resource.subresources == {"status"}
    assert resource.is_watchable
    assert await discovery.by_plural("demo.example.com", "v1", "apps") is resource
    assert server.asked == [PATH]


async def test_kind_that_cannot_be_listed_is_not_watchable() -> None:
    discovery = Discovery(Server().fetch, VirtualClock())
    assert not (await discovery.by_gvk(Gvk("demo.example.com", "v1", "Review"))).is_watchable


async def test_many_who_ask_for_a_missing_kind_cost_one_request_a_second() -> None:
    server, clock = Server(), VirtualClock()
    server.documents.clear()
    discovery = Discovery(server.fetch, clock)
    for _ in range(2):
        asked = await asyncio.gather(
            *(discovery.by_gvk(APP) for _ in range(50)), return_exceptions=True
        )
        assert all(isinstance(error, NoSuchKindError) for error in asked)
    assert len(server.asked) == 1
    await clock.advance(1)
    server.documents[PATH] = {"resources": ROWS}
    assert (await discovery.by_gvk(APP)).plural == "apps"
    assert len(server.asked) == 2


async def test_forgotten_group_is_read_again() -> None:
    server = Server()
    discovery = Discovery(server.fetch, VirtualClock())
    await discovery.by_gvk(APP)
    server.documents.clear()
    discovery.forget("other.example.com")
    await discovery.by_gvk(APP)
    discovery.forget("demo.example.com")
    with pytest.raises(NoSuchKindError, match=r"not serve kind `App` in `demo\.example\.com/v1`"):
        await discovery.by_gvk(APP)


async def test_core_group_has_its_own_path() -> None:
    server = Server()
    assert await Discovery(server.fetch, VirtualClock()).by_plural("", "v1", "pods") is None
    assert server.asked == ["/api/v1"]
