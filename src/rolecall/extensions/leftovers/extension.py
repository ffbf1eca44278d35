"""Removes the files of a CR's runs with the CR, also when the CR was deleted while no engine ran.

Promises: a sweep looks only at folders of this cluster, of watched kinds in watched namespaces, and
only at folders that existed before the CRs were listed; so a CR that is created meanwhile keeps its
folder. A folder in which a process runs a play is kept. Folders that cannot be listed or removed are
kept and logged: a full disk must not end the engine.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from rolecall.errors import ClusterError, RolecallError
from rolecall.extending import EngineView, Extension
from rolecall.gvk import Gvk
from rolecall.log_fields import log_fields
from rolecall.runner import cluster_of, forget
from rolecall.workqueue import Key

_logger = logging.getLogger(__name__)
_Place = tuple[str, str]  # namespace (empty for a cluster-scoped kind) and name


class LeftoversExtension(Extension):
    name = "leftovers"

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine)
        settings = engine.settings
        self._root = settings.runner.root
        self._cluster = settings.runner.cluster
        self._namespaces = settings.reactor.namespaces or ("",)
        self._kinds = [watch.gvk for watch in engine.watches]
        self._client = engine.client

    async def on_gone(self, key: Key) -> None:
        root, gvk = self._root, key.gvk
        try:
            await asyncio.to_thread(forget, root, gvk, key.namespace, key.name, self._cluster)
        except (OSError, RolecallError) as failure:
            fields = {"kind": gvk.kind, "namespace": key.namespace, "name": key.name}
            error = str(failure)
            _logger.warning("could not remove a folder", extra=log_fields(**fields, error=error))

    async def sweep(self) -> None:
        """Remove the folders of CRs that went while no engine looked."""
        for gvk in self._kinds:
            try:
                gone = await self._gone(gvk)
            except ClusterError as failure:
                _logger.debug(
                    "folders of deleted objects were kept",
                    extra=log_fields(kind=str(gvk), why=failure.message),
                )
                continue
            for namespace, name in gone:
                await self.on_gone(Key(gvk, namespace, name))
            if gone:
                _logger.info(
                    "removed folders of deleted objects",
                    extra=log_fields(kind=str(gvk), count=len(gone)),
                )

    async def _gone(self, gvk: Gvk) -> set[_Place]:
        resource = await self._client.resource_for(gvk)
        scopes = self._namespaces if resource.namespaced else ("",)
        found = await asyncio.to_thread(self._ours, gvk, scopes, resource.namespaced)
        if not found:
            return set()
        alive: set[_Place] = set()
        for scope in scopes:
            async for page in self._client.pages(gvk, scope, metadata_only=True):
                alive.update(_place_of(item["metadata"]) for item in page.items)
        return found - alive

    def _ours(self, gvk: Gvk, scopes: Sequence[str], is_namespaced: bool) -> set[_Place]:
        """Those that say so: who wrote none, the Go operator for one, may have another cluster."""
        found = _folders(self._root, gvk, scopes, is_namespaced)
        return {place for place, folder in found.items() if cluster_of(folder) == self._cluster}


def _folders(
    root: Path, gvk: Gvk, scopes: Sequence[str], is_namespaced: bool
) -> dict[_Place, Path]:
    top = root.joinpath(*(part for part in (gvk.group, gvk.version, gvk.kind) if part))
    if not is_namespaced:
        return {("", folder.name): folder for folder in top.glob("*") if folder.is_dir()}
    return {
        (folder.parent.name, folder.name): folder
        for scope in scopes
        for folder in top.glob(f"{scope or '*'}/*")
        if folder.is_dir()
    }


def _place_of(metadata: dict[str, str]) -> _Place:
    return metadata.get("namespace", ""), metadata["name"]
