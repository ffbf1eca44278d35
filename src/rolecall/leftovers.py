"""What runs of a CR leave on disk goes with the CR, also when it went while no engine looked.

Promises: a sweep looks only at folders of watched kinds in watched namespaces, and only at those that
were there before the cluster was asked which CRs exist; so a CR that is created meanwhile keeps its
folder. What cannot be listed or removed is left alone and told: a full disk must not end the engine.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from rolecall.errors import ClusterError, RolecallError
from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall.runner import forget
from rolecall.settings import Settings
from rolecall.watches import Watch
from rolecall.workqueue import Key

_logger = logging.getLogger(__name__)
Place = tuple[str, str]  # namespace (empty for a cluster-scoped kind) and name


class Leftovers:
    """Removes folders."""

    def __init__(self, settings: Settings, watches: Sequence[Watch], client: Client) -> None:
        self._root = settings.runner.root
        self._namespaces = settings.reactor.namespaces or ("",)
        self._kinds = [watch.gvk for watch in watches]
        self._client = client

    async def forget(self, key: Key) -> None:
        """Remove the folder of a CR that is gone."""
        root, gvk = self._root, key.gvk
        try:
            await asyncio.to_thread(forget, root, gvk, key.namespace, key.name)
        except (OSError, RolecallError) as failure:
            fields = {"kind": gvk.kind, "namespace": key.namespace, "name": key.name}
            error = str(failure)
            _logger.warning("folder not removed", extra={"fields": fields | {"error": error}})

    async def sweep(self) -> None:
        """Remove the folders of CRs that went while no engine looked."""
        for gvk in self._kinds:
            try:
                gone = await self._gone(gvk)
            except ClusterError as failure:
                fields: dict[str, object] = {"kind": str(gvk), "why": failure.message}
                _logger.debug("folders of deleted objects were kept", extra={"fields": fields})
                continue
            for namespace, name in gone:
                await self.forget(Key(gvk, namespace, name))
            if gone:
                fields = {"kind": str(gvk), "count": len(gone)}
                _logger.info("removed folders of deleted objects", extra={"fields": fields})

    async def _gone(self, gvk: Gvk) -> set[Place]:
        resource = await self._client.resource_for(gvk)
        scopes = self._namespaces if resource.namespaced else ("",)
        found = await asyncio.to_thread(_folders, self._root, gvk, scopes, resource.namespaced)
        if not found:
            return set()
        alive: set[Place] = set()
        for scope in scopes:
            async for page in self._client.pages(gvk, scope, metadata_only=True):
                alive.update(_place_of(item["metadata"]) for item in page.items)
        return found - alive


def _folders(root: Path, gvk: Gvk, scopes: Sequence[str], is_namespaced: bool) -> set[Place]:
    top = root.joinpath(*(part for part in (gvk.group, gvk.version, gvk.kind) if part))
    if not is_namespaced:
        return {("", folder.name) for folder in top.glob("*") if folder.is_dir()}
    return {
        (folder.parent.name, folder.name)
        for scope in scopes
        for folder in top.glob(f"{scope or '*'}/*")
        if folder.is_dir()
    }


def _place_of(metadata: dict[str, str]) -> Place:
    return metadata.get("namespace", ""), metadata["name"]
