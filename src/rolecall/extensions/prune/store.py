"""Keeps inventories in ConfigMaps of the operator's namespace, one for each CR that has any.

Promise: what was saved is there after a restart and for whichever replica leads next. It is written
only where it changed, which a role at rest never does. Names and UIDs are kept, and nothing of any
object's content.

Rejected: the CR's status, which its CRD may prune; an annotation of the CR, which a client that
replaces the CR drops; owner references read from the API, which show ownership and not what a role
made; and `record.json`, which is lost with the pod's disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping

from rolecall.extensions.prune.inventory import Inventory, read_inventory
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, Client, NotFoundError
from rolecall.log_fields import log_fields
from rolecall.record import ObjectId
from rolecall.workqueue import Key

CONFIG_MAPS = Gvk("", "v1", "ConfigMap")
STORE_LABEL = "rolecall.dev/store"
_SHARED_LABEL = "rolecall.dev/shared"
_OF_KIND, _OF = "rolecall.dev/of-kind", "rolecall.dev/of"
_DATA = "inventory"
INVENTORIES = f"{STORE_LABEL}={_DATA}"
# What these requests need; `rolecall rbac` grants it.
INVENTORY_VERBS = ("get", "list", "create", "patch", "update", "delete")
_LARGEST = 900_000  # of a megabyte that a ConfigMap may have

_logger = logging.getLogger(__name__)


class InventoryStore:
    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._saved: dict[Key, bytes] = {}  # as it is stored now; empty: there is none

    async def load(self, key: Key) -> Inventory | None:
        """What was saved last, by this process or an earlier one."""
        if key not in self._saved:
            self._saved[key] = await self._read(key)
        return read_inventory(self._saved[key].decode())

    async def save(self, key: Key, inventory: Inventory) -> None:
        """Keep it, where it differs from what is kept."""
        text = inventory.as_text()
        if not inventory.entries and not self._saved.get(key):
            return
        if self._saved.get(key) == text.encode():
            return
        if not inventory.entries:
            await self.forget(key)
            self._saved[key] = b""
            return
        if len(text) > _LARGEST:
            _logger.warning("an inventory is too large to be kept", extra=_fields(key))
            return
        await self._write(key, self._config_map(key, inventory, text))
        self._saved[key] = text.encode()

    def forget_of(self, is_meant: Callable[[Key], bool]) -> None:
        """Another replica wrote for these CRs, or writes from now on: read what is stored."""
        for key in [key for key in self._saved if is_meant(key)]:
            del self._saved[key]

    async def forget(self, key: Key) -> None:
        """The CR is gone, or has nothing any more."""
        if self._saved.pop(key, b"-"):
            with contextlib.suppress(NotFoundError):
                await self._client.delete(CONFIG_MAPS, self._namespace, _name_of(key))

    async def shared(self) -> Mapping[Key, frozenset[ObjectId]]:
        found = {}
        async for key, config_map in self._all(f"{INVENTORIES},{_SHARED_LABEL}=true"):
            inventory = read_inventory(_text_of(config_map))
            if inventory is not None:
                found[key] = inventory.shared
        return found

    async def keys(self) -> list[Key]:
        """All CRs that something is kept for."""
        return [key async for key, _ in self._all(INVENTORIES)]

    async def _read(self, key: Key) -> bytes:
        try:
            found = await self._client.get(CONFIG_MAPS, self._namespace, _name_of(key))
        except NotFoundError:
            return b""
        return _text_of(found).encode()

    async def _write(self, key: Key, body: Json) -> None:
        patch = {"metadata": {"labels": body["metadata"]["labels"]}, "data": body["data"]}
        try:
            if self._saved.get(key):
                name = _name_of(key)
                await self._client.merge_patch(CONFIG_MAPS, self._namespace, name, patch)
            else:
                await self._client.create(CONFIG_MAPS, body)
        except (AlreadyExistsError, NotFoundError):  # deleted or created concurrently: retry once
            self._saved[key] = await self._read(key)
            if self._saved[key]:
                await self._client.replace(CONFIG_MAPS, body)
            else:
                await self._client.create(CONFIG_MAPS, body)

    def _config_map(self, key: Key, inventory: Inventory, text: str) -> Json:
        labels = {
            "app.kubernetes.io/managed-by": "rolecall",
            STORE_LABEL: _DATA,
            _SHARED_LABEL: "true" if inventory.shared else "false",
        }
        place = f"{key.namespace}/{key.name}"
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": _name_of(key),
                "namespace": self._namespace,
                "labels": labels,
                "annotations": {_OF_KIND: str(key.gvk), _OF: place},
            },
            "data": {_DATA: text},
        }

    async def _all(self, selector: str) -> AsyncIterator[tuple[Key, Json]]:
        pages = self._client.pages(CONFIG_MAPS, self._namespace, label_selector=selector)
        async for page in pages:
            for config_map in page.items:
                if (key := _key_of(config_map["metadata"])) is not None:
                    yield key, config_map


def kept_in(config_map: Json) -> tuple[Key, Inventory] | None:
    """The CR and its inventory; None where the ConfigMap says none that we can read."""
    key, inventory = _key_of(config_map["metadata"]), read_inventory(_text_of(config_map))
    return (key, inventory) if key is not None and inventory is not None else None


def _name_of(key: Key) -> str:
    """By group and kind: a watch may move on to another version."""
    text = "/".join((key.gvk.group_kind, key.namespace, key.name)).encode()
    return f"rolecall-inventory-{hashlib.sha256(text).hexdigest()[:24]}"


def _key_of(metadata: Json) -> Key | None:
    annotations = metadata.get("annotations") or {}
    about, comma, kind = str(annotations.get(_OF_KIND, "")).partition(", Kind=")
    namespace, slash, name = str(annotations.get(_OF, "")).partition("/")
    return Key(Gvk.parse(about, kind), namespace, name) if comma and slash else None


def _text_of(config_map: Json) -> str:
    data = config_map.get("data")
    return str(data.get(_DATA, "")) if isinstance(data, dict) else ""


def _fields(key: Key) -> dict[str, dict[str, object]]:
    return log_fields(kind=key.gvk.kind, namespace=key.namespace, name=key.name)
