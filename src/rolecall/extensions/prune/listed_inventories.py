"""The inventories of all operators that a user may read, read once for all plans of a command.

They are found by their label in all namespaces, because a command on a user's machine does not know the
namespace of the operator.
"""

from __future__ import annotations

from collections.abc import Mapping

from rolecall.errors import ClusterError
from rolecall.extensions.prune.inventory import Inventory, inventory_of
from rolecall.extensions.prune.store import CONFIG_MAPS, INVENTORIES, kept_in
from rolecall.kube import Client
from rolecall.record import ObjectId
from rolecall.workqueue import Key

KeptInventories = list[tuple[Key, Inventory]]


class ListedInventories:
    """Reads them once; if the API server forbids it, each plan gets that same error."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._found: KeptInventories | ClusterError | None = None

    async def load(self, key: Key) -> Inventory | None:
        """What is kept for a CR; of several operators that keep something, all of it."""
        known: Inventory | None = None
        for other, inventory in await self._listed():
            if _place(other) != _place(key):
                continue
            is_more = known is not None and known.uid == inventory.uid
            entries = {*inventory.entries, *(known.entries if known and is_more else ())}
            known = inventory_of(inventory.uid, entries)
        return known

    async def shared(self) -> Mapping[Key, frozenset[ObjectId]]:
        """What each CR wants that is not its own."""
        shared: dict[Key, frozenset[ObjectId]] = {}
        for key, inventory in await self._listed():
            shared[key] = shared.get(key, frozenset()) | inventory.shared
        return shared

    async def _listed(self) -> KeptInventories:
        if self._found is None:
            self._found = await self._read()
        if isinstance(self._found, ClusterError):
            raise self._found
        return self._found

    async def _read(self) -> KeptInventories | ClusterError:
        try:
            found = await self._client.list_all(CONFIG_MAPS, label_selector=INVENTORIES)
        except ClusterError as failure:
            return failure
        return [kept for each in found if (kept := kept_in(each)) is not None]


def _place(key: Key) -> tuple[str, str, str]:
    """Whatever the version that a watch names."""
    return key.gvk.group_kind, key.namespace, key.name
