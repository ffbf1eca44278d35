"""How the API server finds the operator's server: by a Service."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall_dev.webhook_manifests.overlay import OverlayNames

SERVER_PORT = 9443


def service_config(names: OverlayNames, path: str) -> Json:
    """A `clientConfig`, without whom to trust: the operator or cert-manager fills that in."""
    service = {"namespace": names.namespace, "name": names.full, "path": path, "port": 443}
    return {"service": service}
