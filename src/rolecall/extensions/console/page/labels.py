"""Which CRs have a label: read from the cluster as the reader, because the engine keeps no labels.

A reader who may list a kind everywhere needs one list. For any other reader the API server rejects it,
and we list each namespace that he can see; so a label finds the same CRs that the list without it
shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from rolecall.extensions.console.page.access.reader import ReaderClient
from rolecall.gvk import Gvk
from rolecall.kube import ForbiddenError
from rolecall.workqueue import Key

_AT_ONCE = 8


async def labelled(keys: Iterable[Key], label: str, client: ReaderClient) -> frozenset[Key]:
    """Those of these CRs, which the reader may list, that have it; raises `ClusterError`."""
    places: dict[Gvk, set[str]] = {}
    for key in keys:
        places.setdefault(key.gvk, set()).add(key.namespace)
    found: set[Key] = set()
    for gvk, namespaces in places.items():
        found |= await _of_kind(gvk, sorted(namespaces), label, client)
    return frozenset(found)


async def _of_kind(gvk: Gvk, namespaces: list[str], label: str, client: ReaderClient) -> set[Key]:
    if len(namespaces) == 1:
        return await _listed(gvk, namespaces[0], label, client)
    try:
        return await _listed(gvk, "", label, client)
    except ForbiddenError:
        pass
    found: set[Key] = set()
    for begin in range(0, len(namespaces), _AT_ONCE):
        some = namespaces[begin : begin + _AT_ONCE]
        found.update(*await asyncio.gather(*(_listed(gvk, each, label, client) for each in some)))
    return found


async def _listed(gvk: Gvk, namespace: str, label: str, client: ReaderClient) -> set[Key]:
    found = set()
    async for page in client.pages(gvk, namespace, label_selector=label, metadata_only=True):
        for item in page.items:
            metadata = item["metadata"]
            found.add(Key(gvk, metadata.get("namespace") or "", metadata["name"]))
    return found
