"""A kind of two versions, and what etcd really holds of its objects."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import ssl
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.fixtures.crds import ANYTHING, CRD, create_kind

KIND = "Book"


@dataclass
class TwoVersions:
    """A kind at `v1` and `v2`; `v1` is stored first."""

    client: Client
    cluster: Cluster
    group: str

    @property
    def crd(self) -> str:
        return f"books.{self.group}"

    def at(self, version: str) -> Gvk:
        return Gvk(self.group, version, KIND)

    async def store_at(self, version: str, **spec: Any) -> None:
        versions = [_version("v1", version), _version("v2", version)]
        patch = {"spec": {"versions": versions, **spec}}
        await self.client.merge_patch(CRD, "", self.crd, patch)

    async def stored_versions(self) -> list[str]:
        found: list[str] = (await self.client.get(CRD, "", self.crd))["status"]["storedVersions"]
        return found

    async def fill(self, namespace: str, count: int, version: str = "v1") -> None:
        gvk = self.at(version)
        head = {"apiVersion": gvk.api_version, "kind": KIND}
        for first in range(0, count, 10):
            tens = range(first, min(first + 10, count))
            names = [{"name": f"book-{each:04}", "namespace": namespace} for each in tens]
            await asyncio.gather(
                *(self.client.create(gvk, {**head, "metadata": name, "spec": {}}) for name in names)
            )

    def in_etcd(self) -> dict[str, str]:
        """The `apiVersion` of each object, as it is written there."""
        prefix = f"/registry/{self.group}/books/"
        body = {"key": _coded(prefix), "range_end": _coded(prefix[:-1] + "0")}
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.cluster.record.ports.etcd}/v3/kv/range",
            data=json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request, context=self._login(), timeout=30) as answer:
            rows = json.load(answer).get("kvs") or []
        return {
            base64.b64decode(row["key"]).decode().removeprefix(prefix): json.loads(
                base64.b64decode(row["value"])
            )["apiVersion"].rpartition("/")[2]
            for row in rows
        }

    def _login(self) -> ssl.SSLContext:
        pki = self.cluster.layout.certificates
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.check_hostname = False
        context.load_cert_chain(pki / "etcd.crt", pki / "etcd.key")
        return context


@asynccontextmanager
async def two_versions(client: Client, cluster: Cluster) -> AsyncIterator[TwoVersions]:
    kind = TwoVersions(client, cluster, f"m{secrets.token_hex(3)}.example.com")
    names = {"kind": KIND, "listKind": f"{KIND}List", "plural": "books", "singular": "book"}
    await create_kind(
        client,
        {
            "apiVersion": CRD.api_version,
            "kind": CRD.kind,
            "metadata": {"name": kind.crd},
            "spec": {
                "group": kind.group,
                "scope": "Namespaced",
                "names": names,
                "versions": [_version("v1", "v1"), _version("v2", "v1")],
            },
        },
    )
    try:
        yield kind
    finally:
        await client.delete(CRD, "", kind.crd)


def _version(name: str, stored: str) -> dict[str, Any]:
    properties = {"spec": ANYTHING, "status": ANYTHING}
    return {
        "name": name,
        "served": True,
        "storage": name == stored,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        "subresources": {"status": {}},
    }


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
