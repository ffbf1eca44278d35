"""The user of the page, and what he may see: what Kubernetes would show him, and no more.

A list needs the right to `list` a kind everywhere, or in each namespace; a CR needs `get` of it. The
output and the record of a run need `get` of the subresource `log` of its CR: a run reads with the
operator's rights, so the right to read the CR is not enough. No API server serves that subresource, but
RBAC accepts any name. Live objects and changes use the token of the user.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import Any, Protocol

from rolecall.extensions.console.page.access.reviews import AccessReviews, Question
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, Discovery, Page, TokenUser
from rolecall.workqueue import Key

LOG = "log"
# Namespaces that are asked about at the same time.
_AT_ONCE = 16

Plurals = Callable[[], Mapping[Gvk, str]]


class ReaderClient(Protocol):
    """Reads and writes with the rights of a reader."""

    @property
    def discovery(self) -> Discovery: ...

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json: ...

    async def merge_patch(
        self, gvk: Gvk, namespace: str, name: str, patch: Mapping[str, Any]
    ) -> Json: ...

    def pages(
        self,
        gvk: Gvk,
        namespace: str = "",
        *,
        label_selector: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[Page]: ...

    async def close(self) -> None: ...


class PageReader(Protocol):
    """Who looks."""

    @property
    def name(self) -> str: ...

    @property
    def is_local(self) -> bool:
        """Whether he sits at this machine, and sees what the engine sees."""
        ...

    @property
    def client(self) -> ReaderClient:
        """Reads and writes as the reader would."""
        ...

    async def is_known(self) -> bool:
        """Whether the cluster still takes his token; raises `ClusterError` where it does not say."""
        ...

    async def close(self) -> None:
        """He has gone."""
        ...

    async def may_get(self, key: Key) -> bool: ...

    async def may_read_log(self, key: Key) -> bool: ...

    async def may_change(self, key: Key) -> bool: ...

    async def seen_namespaces(self, gvk: Gvk, namespaces: Collection[str]) -> frozenset[str]:
        """Of these namespaces, those whose CRs of this kind the reader may list."""
        ...

    async def namespaces_with_log(self, gvk: Gvk, namespaces: Collection[str]) -> frozenset[str]:
        """Of these namespaces, those where the reader may read what runs of this kind did."""
        ...


class LocalReader:
    """The user who has the address that was printed on this machine."""

    name = "this machine"
    is_local = True

    def __init__(self, client: Client) -> None:
        self.client = client

    async def is_known(self) -> bool:
        return True

    async def close(self) -> None:
        pass  # the client is the engine's

    async def may_get(self, _key: Key) -> bool:
        return True

    async def may_read_log(self, _key: Key) -> bool:
        return True

    async def may_change(self, _key: Key) -> bool:
        return True

    async def seen_namespaces(self, _gvk: Gvk, namespaces: Collection[str]) -> frozenset[str]:
        return frozenset(namespaces)

    async def namespaces_with_log(self, _gvk: Gvk, namespaces: Collection[str]) -> frozenset[str]:
        return frozenset(namespaces)


class TokenReader:
    """A user of the cluster, by a token."""

    is_local = False

    def __init__(
        self,
        user: TokenUser,
        token: str,
        client: ReaderClient,
        reviews: AccessReviews,
        plurals: Plurals,
    ) -> None:
        self._user, self._token, self._reviews, self._plurals = user, token, reviews, plurals
        self.client = client

    @property
    def name(self) -> str:
        return self._user.name

    async def is_known(self) -> bool:
        user = await self._reviews.user_of(self._token)
        if user is None or (user.name, user.uid) != (self._user.name, self._user.uid):
            return False
        self._user = user  # with the groups of now
        return True

    async def close(self) -> None:
        await self.client.close()

    async def may_get(self, key: Key) -> bool:
        return await self._may("get", key)

    async def may_read_log(self, key: Key) -> bool:
        return await self._may("get", key, LOG)

    async def may_change(self, key: Key) -> bool:
        return await self._may("patch", key)

    async def seen_namespaces(self, gvk: Gvk, namespaces: Collection[str]) -> frozenset[str]:
        return await self._allowed_in(gvk, namespaces, "list")

    async def namespaces_with_log(self, gvk: Gvk, namespaces: Collection[str]) -> frozenset[str]:
        return await self._allowed_in(gvk, namespaces, "get", LOG)

    async def _allowed_in(
        self, gvk: Gvk, namespaces: Collection[str], verb: str, subresource: str = ""
    ) -> frozenset[str]:
        """One review for all namespaces, and one for each where that is refused."""

        async def may(namespace: str) -> bool:
            return await self._may(verb, Key(gvk, namespace, ""), subresource)

        if not namespaces or await may(""):
            return frozenset(namespaces)
        found: list[str] = []
        wanted = sorted(filter(None, namespaces))
        for begin in range(0, len(wanted), _AT_ONCE):
            some = wanted[begin : begin + _AT_ONCE]
            answers = await asyncio.gather(*map(may, some))
            found += [each for each, allowed in zip(some, answers, strict=True) if allowed]
        return frozenset(found)

    async def _may(self, verb: str, key: Key, subresource: str = "") -> bool:
        plural = self._plurals().get(key.gvk, "")
        if not plural:
            return False
        question = Question(verb, key.gvk.group, plural, subresource, key.namespace, key.name)
        return await self._reviews.allows(self._user, question)
