"""The inventories of all operators that a person may see, read once.

For whoever is not the operator and does not know where it lives: a command on somebody's machine. They
are found by their label, in all namespaces or in one.
"""

from __future__ import annotations

from collections.abc import Mapping

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.prune.decide import joined
from rolecall.prune.inventory import Inventory, read_inventory
from rolecall.prune.store import CONFIG_MAPS, INVENTORIES, key_of, name_of, text_of
from rolecall.record import ObjectId
from rolecall.workqueue import Key


class ListedInventories:
    """One for a command; what it read it keeps."""

    def __init__(self, client: Client, namespace: str = "") -> None:
        self._client = client
        self._namespace = namespace
        self._found: list[Json] | None = None
        self._refused: ClusterError | None = None

    async def load(self, key: Key) -> Inventory | None:
        """What is kept for a CR; of several operators that keep something, all of it."""
        known: Inventory | None = None
        for config_map in await self._listed():
            inventory = read_inventory(text_of(config_map))
            if inventory is None or config_map["metadata"]["name"] != name_of(key):
                continue
            is_same = known is not None and known.uid == inventory.uid
            known = joined(known, inventory.entries) if known and is_same else inventory
        return known

    async def shared(self) -> Mapping[Key, frozenset[ObjectId]]:
        """What each CR wants that is not its own."""
        shared: dict[Key, frozenset[ObjectId]] = {}
        for config_map in await self._listed():
            key = key_of(config_map["metadata"])
            inventory = read_inventory(text_of(config_map))
            if key is not None and inventory is not None and inventory.shared:
                shared[key] = shared.get(key, frozenset()) | inventory.shared
        return shared

    async def _listed(self) -> list[Json]:
        if self._refused is not None:
            raise self._refused
        if self._found is None:
            try:
                self._found = await self._client.list_all(
                    CONFIG_MAPS, self._namespace, label_selector=INVENTORIES
                )
            except ClusterError as failure:  # of four hundred CRs, one asks
                self._refused = failure
                raise
        return self._found
