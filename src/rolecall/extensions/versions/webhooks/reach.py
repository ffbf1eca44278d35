"""Where the API server reaches this engine: by a Service of the cluster, or at a URL."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from rolecall.json_object import Json
from rolecall.settings import WebhookSettings

_PORT = 443  # of the Service, whichever one the server has


@dataclass(frozen=True, slots=True)
class WebhookReach:
    """`names` are those that the certificate must have. Of service and URL, one is empty."""

    names: Sequence[str]
    namespace: str = ""
    service: str = ""
    url: str = ""

    def client_config(self, path: str, bundle: str) -> Json:
        """As CRDs and webhook configurations have it; `bundle` is in base64."""
        if self.service:
            service = {"namespace": self.namespace, "name": self.service, "path": path}
            return {"service": {**service, "port": _PORT}, "caBundle": bundle}
        return {"url": self.url + path, "caBundle": bundle}

    def __str__(self) -> str:
        return self.url or f"Service {self.namespace}/{self.service}"


def reach_of(settings: WebhookSettings, api_host: str, port: int) -> WebhookReach | None:
    """None where nobody said how, and the API server is not on this machine."""
    if settings.service:
        full = f"{settings.service}.{settings.namespace}.svc"
        names = [full, f"{full}.cluster.local", f"{settings.service}.{settings.namespace}"]
        return WebhookReach(names, settings.namespace, settings.service)
    if settings.url:
        host = urlsplit(settings.url).hostname or ""
        return WebhookReach([host], url=settings.url)
    if not settings.is_in_pod and _is_loopback(api_host):
        return WebhookReach(["127.0.0.1", "localhost"], url=f"https://127.0.0.1:{port}")
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
