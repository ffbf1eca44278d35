"""Which CRs have a label: read from the cluster as the reader, because the engine keeps no labels.

A reader who may list a kind everywhere needs one list. For any other reader the API server rejects it,
and we list each namespace that he can see; so a label finds the same CRs that the list without it
shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.gvk import Gvk
from rolecall.json_object import as_map
from rolecall.kube import ForbiddenError
from rolecall.workqueue import Key

_AT_ONCE = 8


async def labelled(
    places: Collection[tuple[Gvk, str]], selector: str, client: ReaderClient, label: str = ""
) -> dict[Key, str]:
    """The CRs of these places, which the reader may list, that a selector means, with their value of a
    label; raises `ClusterError`.
    """
    by_kind: dict[Gvk, set[str]] = {}
    for gvk, namespace in places:
        by_kind.setdefault(gvk, set()).add(namespace)
    found: dict[Key, str] = {}
    for gvk, namespaces in by_kind.items():
        listing = _Listing(gvk, selector, client, label, found)
        await listing.of_all(sorted(namespaces))
    return found


@dataclass(frozen=True, slots=True)
class _Listing:
    """The CRs of one kind that a selector means."""

    gvk: Gvk
    selector: str
    client: ReaderClient
    label: str
    found: dict[Key, str]

    async def of_all(self, namespaces: list[str]) -> None:
        everywhere = namespaces if len(namespaces) == 1 else [""]
        try:
            await self.of(everywhere[0])
        except ForbiddenError:
            if everywhere == namespaces:
                raise
            for begin in range(0, len(namespaces), _AT_ONCE):
                await asyncio.gather(*map(self.of, namespaces[begin : begin + _AT_ONCE]))

    async def of(self, namespace: str) -> None:
        async for page in self.client.pages(
            self.gvk, namespace, label_selector=self.selector, metadata_only=True
        ):
            for item in page.items:
                metadata = item["metadata"]
                key = Key(self.gvk, metadata.get("namespace") or "", metadata["name"])
                self.found[key] = str(as_map(metadata.get("labels")).get(self.label, ""))
