"""What reconcile relies on of an API server; run against the fake, and against a real one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ConflictError, NotFoundError, UnprocessableError
from rolecall.status import ObjectApi

FINALIZER = "demo.example.com/clean-up"


class ShopCluster(ObjectApi, Protocol):
    """An `ObjectApi` in which tests can make and delete objects."""

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json: ...

    async def delete(self, gvk: Gvk, namespace: str, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Shop:
    """A cluster, a kind with a status subresource, and a namespace to work in."""

    cluster: ShopCluster
    gvk: Gvk
    namespace: str

    async def create(self, name: str = "a", **metadata: Any) -> Json:
        body = {
            "apiVersion": self.gvk.api_version,
            "kind": self.gvk.kind,
            "metadata": {"name": name, "namespace": self.namespace, **metadata},
            "spec": {"size": 1},
        }
        return await self.cluster.create(self.gvk, body)

    async def get(self, name: str = "a") -> Json:
        return await self.cluster.get(self.gvk, self.namespace, name)

    async def patch(self, patch: Json, name: str = "a", subresource: str = "") -> Json:
        return await self.cluster.merge_patch(
            self.gvk, self.namespace, name, patch, subresource=subresource
        )

    async def steps(self, *steps: Json, name: str = "a") -> Json:
        """On the status subresource."""
        return await self.cluster.json_patch(
            self.gvk, self.namespace, name, steps, subresource="status"
        )

    async def delete(self, name: str = "a") -> None:
        await self.cluster.delete(self.gvk, self.namespace, name)


class ClusterContract:
    """Inherit, and provide the fixture `shop`."""

    async def test_absent_object_is_not_found(self, shop: Shop) -> None:
        with pytest.raises(NotFoundError):
            await shop.get("missing")
        with pytest.raises(NotFoundError):
            await shop.patch({"status": {"x": 1}}, "missing", "status")

    async def test_patch_with_an_old_version_is_a_conflict(self, shop: Shop) -> None:
        old = (await shop.create())["metadata"]["resourceVersion"]
        await shop.patch({"spec": {"size": 2}})

        for subresource in ("", "status"):
            patch = {"metadata": {"resourceVersion": old}, "status": {"x": 1}, "spec": {"size": 3}}
            with pytest.raises(ConflictError):
                await shop.patch(patch, subresource=subresource)

    async def test_status_patch_changes_status_only_and_keeps_other_keys(self, shop: Shop) -> None:
        await shop.create()
        await shop.patch({"status": {"url": "x", "conditions": []}}, subresource="status")

        patch = {"status": {"conditions": [{"type": "A", "status": "True"}]}, "spec": {"size": 9}}
        answer = await shop.patch(patch, subresource="status")

        assert answer["status"] == {"url": "x", "conditions": [{"type": "A", "status": "True"}]}
        assert answer["spec"] == {"size": 1}
        assert answer["metadata"]["generation"] == 1

    async def test_steps_are_made_while_what_they_test_holds(self, shop: Shop) -> None:
        created = await shop.create()
        uid, condition = created["metadata"]["uid"], {"type": "A", "message": "it's <b>\u00fc</b>"}
        steps = [
            {"op": "test", "path": "/metadata/uid", "value": uid},
            {"op": "test", "path": "/metadata/generation", "value": 1},
            {"op": "test", "path": "/status", "value": None},
            {"op": "add", "path": "/status", "value": {"conditions": [condition]}},
        ]
        await shop.steps(*steps)
        await shop.patch({"status": {"url": "x"}}, subresource="status")
        answer = await shop.steps(
            {"op": "test", "path": "/status/conditions", "value": [condition]},
            {"op": "test", "path": "/status/seen", "value": None},
            {"op": "add", "path": "/status/seen", "value": 1},
        )

        assert answer["status"] == {"url": "x", "conditions": [condition], "seen": 1}

    async def test_steps_are_refused_where_what_they_test_does_not_hold(self, shop: Shop) -> None:
        await shop.create()
        await shop.patch({"status": {"url": "x"}}, subresource="status")
        wrong = [("/metadata/uid", "other"), ("/status", None), ("/status/url", "y")]
        for path, value in [*wrong, ("/status/url/deep", "x")]:
            test = {"op": "test", "path": path, "value": value}
            with pytest.raises(UnprocessableError):
                await shop.steps(test, {"op": "add", "path": "/status/seen", "value": 1})

        assert (await shop.get())["status"] == {"url": "x"}

    async def test_plain_patch_does_not_reach_status(self, shop: Shop) -> None:
        await shop.create()

        assert "status" not in await shop.patch({"status": {"x": 1}})

    async def test_spec_change_raises_the_generation_and_status_does_not(self, shop: Shop) -> None:
        await shop.create()

        first = await shop.patch({"spec": {"size": 2}})
        second = await shop.patch({"status": {"x": 1}}, subresource="status")

        assert first["metadata"]["generation"] == second["metadata"]["generation"] == 2

    async def test_patch_that_changes_nothing_keeps_the_version(self, shop: Shop) -> None:
        created = await shop.create()

        answer = await shop.patch({"spec": {"size": 1}})

        assert answer["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]

    async def test_deleted_object_stays_until_its_finalizers_are_gone(self, shop: Shop) -> None:
        await shop.create(finalizers=[FINALIZER])
        await shop.delete()

        held = await shop.get()
        assert held["metadata"]["deletionTimestamp"]
        assert held["metadata"]["generation"] == 2
        answer = await shop.patch({"metadata": {"finalizers": []}})

        assert not answer["metadata"].get("finalizers")
        with pytest.raises(NotFoundError):
            await shop.get()

    async def test_object_being_deleted_takes_no_new_finalizer(self, shop: Shop) -> None:
        await shop.create(finalizers=[FINALIZER])
        await shop.delete()

        with pytest.raises(UnprocessableError):
            await shop.patch({"metadata": {"finalizers": [FINALIZER, "demo.example.com/other"]}})

    async def test_object_with_the_same_name_has_another_uid(self, shop: Shop) -> None:
        first = await shop.create()
        await shop.delete()
        second = await shop.create()

        assert first["metadata"]["uid"] != second["metadata"]["uid"]
