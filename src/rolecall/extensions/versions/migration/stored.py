"""What a CRD says of its objects in etcd: at which versions some are, at which one new writes go."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, UnavailableError

CRD_GVK = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
_HASH_BYTES = 8


@dataclass(frozen=True, slots=True)
class StoredKind:
    """One CRD, as it was read once."""

    crd: str
    group: str
    kind: str
    plural: str
    storage: str  # what is written now is stored at this version
    stored: tuple[str, ...]  # what was written since the last migration may be at any of these
    served: tuple[str, ...]
    generation: int  # a different one means that the versions may have changed
    resource_version: str

    @property
    def older(self) -> tuple[str, ...]:
        """The versions at which nothing is written any more."""
        return tuple(version for version in self.stored if version != self.storage)

    @property
    def listed_at(self) -> Sequence[Gvk]:
        """Where to list, best first: at an older version what is stored there needs no conversion."""
        order = [*self.older, self.storage, *self.served]
        return [self.at(each) for each in dict.fromkeys(order) if each in self.served]

    @property
    def written_at(self) -> Gvk:
        """Where to write: without a conversion where the storage version is served."""
        return self.at(self.storage if self.storage in self.served else self.served[0])

    def at(self, version: str) -> Gvk:
        return Gvk(self.group, version, self.kind)


async def read_stored(client: Client, crd: str) -> StoredKind:
    """The CRD as it is now; raises `NotFoundError` and the like."""
    return stored_kind(await client.get(CRD_GVK, "", crd))


def stored_kind(crd: Json) -> StoredKind:
    spec, metadata = crd["spec"], crd["metadata"]
    versions = spec["versions"]
    storage = next(each["name"] for each in versions if each.get("storage"))
    return StoredKind(
        crd=metadata["name"],
        group=spec["group"],
        kind=spec["names"]["kind"],
        plural=spec["names"]["plural"],
        storage=storage,
        stored=tuple((crd.get("status") or {}).get("storedVersions") or ()),
        served=tuple(each["name"] for each in versions if each.get("served")),
        generation=metadata.get("generation", 0),
        resource_version=metadata["resourceVersion"],
    )


async def stores_at(client: Client, kind: StoredKind) -> bool:
    """Whether the API server itself works with the storage version already.

    It follows a change of the CRD with a delay, and until then still writes the old version. Discovery
    contains a hash of the version that it uses; a server without that hash counts as up to date.
    """
    gvk = kind.written_at
    document = await client.read_path(f"/apis/{gvk.group}/{gvk.version}")
    try:
        rows = [row for row in document["resources"] if row["name"] == kind.plural]
        shown_hash = rows[0].get("storageVersionHash") if rows else None
    except (AttributeError, LookupError, TypeError) as failure:
        raise UnavailableError(f"could not read what `{gvk.api_version}` serves") from failure
    return shown_hash in (None, version_hash(kind.at(kind.storage)))


def version_hash(gvk: Gvk) -> str:
    """As the API server makes it."""
    text = f"{gvk.group}/{gvk.version}/{gvk.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:_HASH_BYTES]).decode()
