"""CRs and watches for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rolecall.gvk import Gvk
from rolecall.proxy.identity import Owner
from rolecall.watches import Play, Watch

APP = Gvk("demo.example.com", "v1", "App")
UID = "11111111-2222-3333-4444-555555555555"


def app(namespace: str = "prod", name: str = "shop", uid: str = UID) -> dict[str, Any]:
    """A CR as the API server returns it."""
    metadata = {"name": name, "uid": uid} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": APP.api_version, "kind": APP.kind, "metadata": metadata}


def owner(namespace: str = "prod", name: str = "shop", uid: str = UID) -> Owner:
    """The owner that such a CR is."""
    return Owner.of(app(namespace, name, uid))


def watch(**options: Any) -> Watch:
    """The watch of that kind."""
    return Watch(gvk=APP, play=Play(Path("role"), is_role=True), **options)
