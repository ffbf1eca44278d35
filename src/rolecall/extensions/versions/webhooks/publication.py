"""Registers our webhooks at the API server: in CRDs, and in webhook configurations.

The leader checks the registrations periodically, and repairs changes of other clients. It writes only
our own parts: `spec.conversion` of the CRDs of conversions.yaml, and the list of webhooks in two
configurations with our name. It does so only with our own certificates: the program that mounts
certificates also registers them.
"""

from __future__ import annotations

import base64
import ipaddress
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from rolecall.conversion import Conversion
from rolecall.errors import ClusterError, NotLeadingError
from rolecall.extensions.versions.flags import VersionFlags
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client, ForbiddenError, NoSuchKindError, NotFoundError
from rolecall.log_fields import log_fields
from rolecall.settings import Settings
from rolecall.webhooks import (
    CONVERT_PATH,
    Webhook,
    conversion_of,
    registration_of,
    without_nulls,
)

CRD = Gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
_CONFIGURATIONS = {
    False: Gvk("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration"),
    True: Gvk("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration"),
}
WAY_OUT = "deploy `config/webhooks`, which grants that for these names"
_PORT = 443  # of the Service, whichever one the server has
_logger = logging.getLogger(__name__)


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


def reach_of(settings: Settings, api_host: str, port: int) -> WebhookReach | None:
    """None if no address is configured, and the API server is not on this machine."""
    flags, namespace = settings.extension(VersionFlags), settings.namespace
    service, url = flags.service, flags.url
    if service:
        full = f"{service}.{namespace}.svc"
        names = [full, f"{full}.cluster.local", f"{service}.{namespace}"]
        return WebhookReach(names, namespace, service)
    if url:
        return WebhookReach([urlsplit(url).hostname or ""], url=url)
    if not settings.is_in_pod and _is_loopback(api_host):
        return WebhookReach(["127.0.0.1", "localhost"], url=f"https://127.0.0.1:{port}")
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(slots=True)
class _Look:
    """What one look came to: by object, what is wrong; and whether nothing had to be written."""

    wrong: dict[str, str] = field(default_factory=dict)
    is_as_it_was: bool = True


class Publication:
    """`name` is that of the webhook configurations."""

    def __init__(
        self,
        client: Client,
        name: str,
        conversions: Sequence[Conversion],
        webhooks: Sequence[Webhook],
    ) -> None:
        self._client = client
        self._name = name
        self._conversions = conversions
        self._webhooks = webhooks
        self._wrong: Mapping[str, str] = {}
        self._hints: dict[str, str] = {}
        self._lacking: set[str] = set()

    def note(self) -> str:
        """The failed registrations, for the readiness probe."""
        return "; ".join(f"{what}: {why}" for what, why in self._wrong.items())

    async def look(self, reach: WebhookReach, bundle: bytes, own_user: str) -> bool:
        """Make all registrations current; returns True if they were so already.

        A kind without its CRD is registered once the CRD exists: the others do not wait for it.
        """
        look, encoded = _Look(), base64.b64encode(bundle).decode()
        for conversion in self._conversions:
            await self._register_in_crd(conversion, reach, encoded, look)
        for is_mutating in _CONFIGURATIONS:
            await self._register_in_configuration(is_mutating, reach, encoded, own_user, look)
        self._log_errors(look.wrong)
        self._wrong = look.wrong
        return look.is_as_it_was and not look.wrong

    async def _register_in_crd(
        self, conversion: Conversion, reach: WebhookReach, bundle: str, look: _Look
    ) -> None:
        what = f"CRD of {conversion.kind}.{conversion.group}"
        try:
            plural = await self._plural(conversion.group, conversion.versions, conversion.kind)
            if not plural:
                self._wait_for(what)
                return
            name = f"{plural}.{conversion.group}"
            what = f"CRD `{name}`"
            found = await self._client.get(CRD, "", name)
            wanted = conversion_of(reach.client_config(CONVERT_PATH, bundle))
            if found["spec"].get("conversion") != without_nulls(wanted):
                await self._client.merge_patch(CRD, "", name, {"spec": {"conversion": wanted}})
                self._written(what, reach, look)
        except NotFoundError:
            return  # deleted meanwhile; once it is back, we register the webhook again
        except ClusterError as failure:
            self._failed(what, failure, look)

    async def _register_in_configuration(
        self, is_mutating: bool, reach: WebhookReach, bundle: str, own_user: str, look: _Look
    ) -> None:
        gvk = _CONFIGURATIONS[is_mutating]
        what = f"{gvk.kind} `{self._name}`"
        mine = [webhook for webhook in self._webhooks if webhook.is_mutating is is_mutating]
        if not self._webhooks:
            return  # no right to look at them is needed
        try:
            wanted = []
            for webhook in mine:
                plural = await self._plural(webhook.group, [webhook.version], webhook.kind)
                if not plural:
                    self._wait_for(f"CRD of {webhook.kind}.{webhook.group}")
                    continue
                config = reach.client_config(webhook.path, bundle)
                wanted.append(registration_of(webhook, plural, config, own_user))
            if await self._write_configuration(gvk, wanted):
                self._written(what, reach, look)
        except ClusterError as failure:
            if mine:  # else there is nothing that had to be taken out
                self._failed(what, failure, look)

    async def _write_configuration(self, gvk: Gvk, wanted: list[Json]) -> bool:
        """Whether something was written. Manifests make them empty; else we do, where we may."""
        try:
            found = await self._client.get(gvk, "", self._name)
        except NotFoundError:
            if not wanted:
                return False
            metadata = {"name": self._name}
            body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}
            await self._client.create(gvk, {**body, "webhooks": wanted})
            return True
        if (found.get("webhooks") or []) == wanted:
            return False
        await self._client.merge_patch(gvk, "", self._name, {"webhooks": wanted})
        return True

    async def _plural(self, group: str, versions: Sequence[str], kind: str) -> str:
        """By any of the versions that are served; empty where there is none yet."""
        for version in reversed(versions):
            try:
                resource = await self._client.resource_for(Gvk(group, version, kind))
            except NoSuchKindError:
                continue
            self._lacking.discard(f"CRD of {kind}.{group}")
            return resource.plural
        return ""

    def _wait_for(self, what: str) -> None:
        if what not in self._lacking:
            self._lacking.add(what)
            _logger.info("webhooks wait for a CRD", extra=log_fields(missing=what))

    def _written(self, what: str, reach: WebhookReach, look: _Look) -> None:
        look.is_as_it_was = False
        _logger.info(
            "webhooks registered at the API server", extra=log_fields(where=what, url=str(reach))
        )

    def _failed(self, what: str, failure: ClusterError, look: _Look) -> None:
        if isinstance(failure, NotLeadingError):
            look.is_as_it_was = False  # another replica sees to it
            return
        look.wrong[what] = failure.message
        self._hints[what] = WAY_OUT if isinstance(failure, ForbiddenError) else failure.hint

    def _log_errors(self, wrong: Mapping[str, str]) -> None:
        """Log each error once, not at each look."""
        for what, why in wrong.items():
            if self._wrong.get(what) != why:
                _logger.error(
                    "could not register webhooks for conversion and admission at the API server",
                    extra=log_fields(where=what, why=why, hint=self._hints[what]),
                )
