"""Where settled runs are kept over restarts: ConfigMaps in the operator's namespace, or files.

In a cluster, where replicas take over from each other, a few ConfigMaps with a compressed part of all
CRs each. Elsewhere a file in the folder of runs. Promise: content that cannot be read is logged once,
in one line, and then ignored; an object of that name that is not ours is never changed.

Rejected: an annotation on each CR, which is an edit of the CR for every client that watches it; and
status, which a CRD may prune, which users read, and which skips must not write (decision 0027).
"""

from __future__ import annotations

import base64
import binascii
import logging
import os
import zlib
from pathlib import Path
from typing import Any, Protocol

from rolecall.errors import ClusterError, RolecallError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import ForbiddenError, NotFoundError
from rolecall.log_fields import log_fields

_CONFIG_MAP = Gvk("", "v1", "ConfigMap")
_LABEL = "rolecall.dev/unchanged"
_DATA = "runs"
# The API server takes a megabyte, and base64 wants a third more.
_MOST_BYTES = 700_000
_LARGEST_TEXT = 64 * 1024 * 1024
# What these requests need; `rolecall rbac` grants it.
UNCHANGED_VERBS = ("get", "create", "patch")
_MAY_NOT = "may not keep which runs need not be made; a restart makes all"
_HINT = "`rolecall rbac` writes the right to get, create and patch ConfigMaps in its own namespace"

_logger = logging.getLogger(__name__)


class PartStore(Protocol):
    async def read(self, part: int) -> bytes:
        """What was written last; empty where there is nothing."""

    async def write(self, part: int, text: bytes) -> None:
        """Keep it; a failure is logged, and the data is lost at the next restart."""


class ConfigMapApi(Protocol):
    """The calls that keeping in ConfigMaps makes; `kube.Client` is the real one."""

    async def get(self, gvk: Gvk, namespace: str, name: str) -> Json: ...
    async def create(self, gvk: Gvk, body: Any) -> Json: ...
    async def merge_patch(self, gvk: Gvk, namespace: str, name: str, patch: Any) -> Json: ...


class ConfigMapStore:
    """One ConfigMap for each part: `<id>-unchanged-<part>`."""

    def __init__(self, api: ConfigMapApi, namespace: str, engine_id: str) -> None:
        self._api = api
        self._namespace = namespace
        self._id = engine_id
        self._warned: set[str] = set()

    async def read(self, part: int) -> bytes:
        name = self._name(part)
        try:
            found = await self._api.get(_CONFIG_MAP, self._namespace, name)
        except NotFoundError:
            return b""
        except ForbiddenError as error:
            self._warn_once(_MAY_NOT, error.message)
            return b""
        except ClusterError as error:
            self._warn_once(
                "could not read which runs need not be made; they are made", error.message
            )
            return b""
        if not _is_ours(found):
            self._warn_about_foreign(name)
            return b""
        try:
            return _unpacked(
                base64.b64decode((found.get("binaryData") or {})[_DATA], validate=True)
            )
        except (ValueError, LookupError, TypeError, zlib.error, binascii.Error):
            self._warn_once(
                f"ConfigMap `{name}` is garbled; the runs that it spoke of are made", ""
            )
            return b""

    async def write(self, part: int, text: bytes) -> None:
        packed = zlib.compress(text, 6)
        if len(packed) > _MOST_BYTES:
            self._warn_once("too many CRs to keep which runs need not be made over a restart", "")
            return
        name = self._name(part)
        data = {"binaryData": {_DATA: base64.b64encode(packed).decode()}}
        try:
            await self._written(name, data)
        except ForbiddenError as error:
            self._warn_once(_MAY_NOT, error.message)
        except RolecallError as error:  # or another replica leads by now
            self._warn_once("could not keep which runs need not be made", error.message)

    async def _written(self, name: str, data: Json) -> None:
        try:
            found = await self._api.get(_CONFIG_MAP, self._namespace, name)
        except NotFoundError:
            metadata = {"name": name, "namespace": self._namespace, "labels": {_LABEL: self._id}}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **data}
            await self._api.create(_CONFIG_MAP, body)
            return
        if not _is_ours(found):
            self._warn_about_foreign(name)
            return
        await self._api.merge_patch(_CONFIG_MAP, self._namespace, name, data)

    def _name(self, part: int) -> str:
        return f"{self._id}-unchanged-{part}"

    def _warn_about_foreign(self, name: str) -> None:
        self._warn_once(
            f"ConfigMap `{name}` is not ours and is left alone; a restart makes all runs", ""
        )

    def _warn_once(self, what: str, error: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            more = {"error": error, "hint": _HINT} if error else {}
            _logger.warning(what, extra=log_fields(namespace=self._namespace, **more))


class FileStore:
    """One file for each part, readable by its owner alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._warned: set[str] = set()

    async def read(self, part: int) -> bytes:
        path = self._path(part)
        try:
            return _unpacked(path.read_bytes())
        except FileNotFoundError:
            return b""
        except (OSError, zlib.error, ValueError) as error:
            self._warn_once(f"`{path}` is garbled; the runs that it spoke of are made", error)
            return b""

    async def write(self, part: int, text: bytes) -> None:
        path = self._path(part)
        fresh = path.with_suffix(".tmp")
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(zlib.compress(text, 6))
            fresh.replace(path)
        except OSError as error:
            self._warn_once("could not keep which runs need not be made", error)

    def _path(self, part: int) -> Path:
        return self._folder / f"unchanged-{part}.z"

    def _warn_once(self, what: str, error: Exception) -> None:
        if what not in self._warned:
            self._warned.add(what)
            _logger.warning(what, extra=log_fields(error=str(error)))


def _is_ours(found: Json) -> bool:
    return _LABEL in (found["metadata"].get("labels") or {})


def _unpacked(packed: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(packed, _LARGEST_TEXT)
    if not unpacking.eof:
        raise ValueError("it is cut off, or larger than any of ours")
    return text
