"""Reads and writes for a reader whose token is for the page alone: each call after a review of its own.

The API server takes no such token, so the engine makes the call, and only where the reader may make it.
Objects are read with the engine's rights; what those do not reach is not shown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from rolecall.extensions.console.page.access.reviews import AccessReviews, Question
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Discovery, ForbiddenError, Page, Target, TokenUser


class ReviewedClient:
    def __init__(self, own: Client, user: TokenUser, reviews: AccessReviews) -> None:
        self._own, self._user, self._reviews = own, user, reviews

    @property
    def discovery(self) -> Discovery:
        return self._own.discovery

    async def close(self) -> None:
        pass  # the client is the engine's

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json:
        await self._check("get", gvk, namespace, name)
        return await self._own.get(gvk, namespace, name)

    async def merge_patch(
        self, gvk: Gvk, namespace: str, name: str, patch: Mapping[str, Any]
    ) -> Json:
        await self._check("patch", gvk, namespace, name)
        return await self._own.merge_patch(gvk, namespace, name, patch)

    async def pages(
        self,
        gvk: Gvk,
        namespace: str = "",
        *,
        label_selector: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[Page]:
        await self._check("list", gvk, namespace, "")
        async for page in self._own.pages(
            gvk, namespace, label_selector=label_selector, metadata_only=metadata_only
        ):
            yield page

    async def _check(self, verb: str, gvk: Gvk, namespace: str, name: str) -> None:
        resource = await self._own.resource_for(gvk)
        question = Question(verb, gvk.group, resource.plural, "", namespace, name)
        if not await self._reviews.allows(self._user, question):
            target = Target(verb, resource, namespace, name)
            raise ForbiddenError(f"you may not {target}", code=403, target=target)
