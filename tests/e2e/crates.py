"""Kinds that are asked about before they are stored, and people who write them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client

ADMISSION = Path(__file__).parent / "admission"
GROUP = "admission.rolecall.dev"
# The last one is that of the guide.
BASKET = Gvk("shop.example.com", "v1", "Basket")
CRATE, BAG, SACK = (Gvk(GROUP, "v1", name) for name in ("Crate", "Bag", "Sack"))
KINDS = (CRATE, BAG, SACK, BASKET)
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "admission.md"
_FILES = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
VALIDATING = Gvk("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration")
MUTATING = Gvk("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration")


def project(folder: Path) -> Path:
    """The project of these kinds, with the files that the guide shows."""
    shutil.copytree(ADMISSION, folder)
    for name, text in _FILES.findall(GUIDE.read_text()):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text((file.read_text() if file.exists() else "") + text)
    nothing = folder / "roles" / "basket" / "tasks" / "main.yml"
    nothing.parent.mkdir(parents=True)
    nothing.write_text("[]\n")
    return folder


def plural(gvk: Gvk) -> str:
    return f"{gvk.kind.lower()}s"


def crd(gvk: Gvk) -> Json:
    names = {"kind": gvk.kind, "plural": plural(gvk), "singular": gvk.kind.lower()}
    spec = {
        "type": "object",
        "properties": {
            "size": {"type": "integer"},
            "does": {"type": "string"},
            "colour": {"type": "string"},
            "kept": {"type": "boolean"},
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural(gvk)}.{gvk.group}"},
        "spec": {
            "group": gvk.group,
            "names": names,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.size",
                            "statusReplicasPath": ".status.size",
                        },
                    },
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": spec,
                                "status": {
                                    "type": "object",
                                    "x-kubernetes-preserve-unknown-fields": True,
                                },
                            },
                        }
                    },
                }
            ],
        },
    }


def crate(gvk: Gvk, namespace: str, name: str, /, **spec: Any) -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": gvk.api_version,
        "kind": gvk.kind,
        "metadata": metadata,
        "spec": {"size": 1, **spec},
    }


@dataclass(frozen=True)
class Answered:
    code: int
    body: Json
    warnings: list[str]

    @property
    def message(self) -> str:
        return str(self.body.get("message", ""))


@dataclass(frozen=True)
class Person:
    """A user who writes objects, and is not the operator."""

    api: Client
    namespace: str
    name: str = "jane"

    async def ask(self, method: str, path: str, body: Json | None = None) -> Answered:
        headers = {
            "Impersonate-User": self.name,
            "Impersonate-Group": "system:masters",
            "Content-Type": "application/merge-patch+json"
            if method == "PATCH"
            else "application/json",
        }
        data = None if body is None else json.dumps(body).encode()
        asking = self.api.request_raw(method, path, headers=headers, body=data)
        async with asking as response:
            found = json.loads(await response.read())
            return Answered(response.status, found, response.headers.getall("Warning", []))

    async def create(self, gvk: Gvk, name: str, query: str = "", /, **spec: Any) -> Answered:
        body = crate(gvk, self.namespace, name, **spec)
        return await self.ask("POST", self.path(gvk) + query, body)

    async def change(self, gvk: Gvk, name: str, /, **spec: Any) -> Answered:
        return await self.ask("PATCH", self.path(gvk, name), {"spec": spec})

    def path(self, gvk: Gvk, name: str = "") -> str:
        path = f"/apis/{gvk.api_version}/namespaces/{self.namespace}/{plural(gvk)}/{name}"
        return path.rstrip("/")
