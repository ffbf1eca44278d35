"""A client whose writes are refused as soon as this process may not lead any more.

The check is made at each write, by the clock, and so holds also while the loop was late, the API server
silent, or a run still in flight: what plays write goes through here as well, by way of the proxy. Reads
pass: looking at an object harms nobody. Rejected: asking only before each turn, because a turn lasts
as long as its play.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from rolecall.errors import NotLeadingError
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials

Json = dict[str, Any]
MayWrite = Callable[[], bool]
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class FencedClient(Client):
    """The engine's client: what reconciles, and what plays do, writes through this one."""

    def __init__(self, credentials: Credentials, may_write: MayWrite, **more: Any) -> None:
        super().__init__(credentials, **more)
        self._may_write = may_write

    async def replace(self, gvk: Gvk, body: Mapping[str, Any], *, subresource: str = "") -> Json:
        """PUT, while leading."""
        self._check(f"replace {gvk.kind}")
        return await super().replace(gvk, body, subresource=subresource)

    async def merge_patch(
        self,
        gvk: Gvk,
        namespace: str,
        name: str,
        patch: Mapping[str, Any],
        *,
        subresource: str = "",
    ) -> Json:
        """Merge-patch, while leading."""
        self._check(f"patch {gvk.kind}")
        return await super().merge_patch(gvk, namespace, name, patch, subresource=subresource)

    async def json_patch(
        self, gvk: Gvk, namespace: str, name: str, *what: Any, **more: Any
    ) -> Json:
        """JSON-patch, while leading."""
        self._check(f"patch {gvk.kind}")
        return await super().json_patch(gvk, namespace, name, *what, **more)

    async def apply(self, gvk: Gvk, body: Mapping[str, Any], **more: Any) -> Json:
        """Server-side apply, while leading."""
        self._check(f"apply {gvk.kind}")
        return await super().apply(gvk, body, **more)

    async def delete(self, gvk: Gvk, namespace: str, name: str, **more: Any) -> None:
        """Delete, while leading."""
        self._check(f"delete {gvk.kind}")
        await super().delete(gvk, namespace, name, **more)

    def request_raw(
        self, method: str, target: str, **more: Any
    ) -> AbstractAsyncContextManager[Any]:
        """Pass a request of a play through; a writing one only while leading."""
        if method not in _READING:
            self._check(method)
        return super().request_raw(method, target, **more)

    def _check(self, what: str) -> None:
        if not self._may_write():
            raise NotLeadingError(what)
