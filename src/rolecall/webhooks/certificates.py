"""The certificate that the webhook server shows: mounted by others, or our own in a Secret.

Every replica shows the same one, so that the API server may reach any of them. The Secret is made by
whichever replica comes first; one that is about to end is made anew in the same way. A replica that
lost the race reads what the other one wrote.
"""

from __future__ import annotations

import base64
import ssl
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rolecall.clock import Clock
from rolecall.errors import InputError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, Client, ConflictError, NotFoundError
from rolecall.webhooks.authority import KeyPair, new_authority, new_server

# Where the SDK's webhook server looks; OLM and cert-manager mount their files there.
MOUNTED = Path(tempfile.gettempdir()) / "k8s-webhook-server" / "serving-certs"
SECRET = Gvk("", "v1", "Secret")
_TRIES = 5


class Certificate(Protocol):
    """What the server shows. `authority` is whom callers must trust; empty: others tell them."""

    authority: bytes

    async def refresh(self, context: ssl.SSLContext) -> None:
        """Have new connections see the newest; cheap where nothing changed."""


class MountedCertificate:
    """Files that somebody else keeps fresh, and tells the API server of."""

    authority = b""

    def __init__(self, folder: Path) -> None:
        self._files = (folder / "tls.crt", folder / "tls.key")
        self._seen: tuple[int, ...] = ()

    @property
    def is_there(self) -> bool:
        return all(file.is_file() for file in self._files)

    async def refresh(self, context: ssl.SSLContext) -> None:
        try:
            found = tuple(file.stat().st_mtime_ns for file in self._files)
            if found != self._seen:
                context.load_cert_chain(*self._files)
                self._seen = found
        except (OSError, ValueError) as failure:
            why = getattr(failure, "reason", None) or str(failure)
            raise InputError(
                f"could not serve webhooks with `{self._files[0]}` and `{self._files[1].name}`: {why}",
                hint="mount a certificate and its key in PEM, or neither to get our own",
            ) from failure


class OwnCertificate:
    """Made by us, kept in a Secret that all replicas share."""

    def __init__(
        self, client: Client, namespace: str, name: str, names: Sequence[str], clock: Clock
    ) -> None:
        self.authority = b""
        self._client = client
        self._place = (namespace, name)
        self._names = list(names)
        self._clock = clock
        self._shown = b""

    async def refresh(self, context: ssl.SSLContext) -> None:
        data = await self._settled()
        self.authority = data["ca.crt"]
        if data["tls.crt"] != self._shown:
            with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # made 0600
                file.write(data["tls.key"] + data["tls.crt"])
                file.flush()
                context.load_cert_chain(file.name)
            self._shown = data["tls.crt"]

    async def _settled(self) -> dict[str, bytes]:
        """What the Secret holds, once it holds what it should."""
        for _ in range(_TRIES):
            try:
                found = await self._client.get(SECRET, *self._place)
            except NotFoundError:
                found = None
            data = _decoded(found)
            wanted = self._wanted(data)
            if wanted == data and found is not None:
                return data
            try:
                await self._write(found, wanted)
            except (AlreadyExistsError, ConflictError):
                continue  # another replica was faster
            return wanted
        raise InputError(
            f"Secret `{'/'.join(self._place)}` changed each time that it was written",
            hint="something else writes it; give that another name",
        )

    async def _write(self, found: Json | None, data: dict[str, bytes]) -> None:
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        namespace, name = self._place
        if found is None:
            metadata: Json = {"namespace": namespace, "name": name}
            body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}
            await self._client.create(SECRET, body)
        else:
            await self._client.replace(SECRET, {**found, "data": encoded})

    def _wanted(self, data: dict[str, bytes]) -> dict[str, bytes]:
        now = self._clock.now()
        authority, bundle = _pair(data, "ca"), data.get("ca.crt", b"")
        if authority is None or authority.is_late(now):
            # The old one stays beside it: what it signed is shown until each replica has the new one.
            authority = new_authority(now)
            bundle = authority.certificate + _pair_certificate(data, "ca")
            return {
                **_files("ca", KeyPair(bundle, authority.key)),
                **_files("tls", new_server(authority, self._names, now)),
            }
        server = _pair(data, "tls")
        if server is None or server.is_late(now):
            server = new_server(authority, self._names, now)
        return {**_files("ca", KeyPair(bundle, authority.key)), **_files("tls", server)}


def _decoded(secret: Json | None) -> dict[str, bytes]:
    data = (secret or {}).get("data") or {}
    return {
        key: base64.b64decode(value)
        for key, value in data.items()
        if key in ("ca.crt", "ca.key", "tls.crt", "tls.key")
    }


def _pair(data: dict[str, bytes], name: str) -> KeyPair | None:
    certificate, key = data.get(f"{name}.crt"), data.get(f"{name}.key")
    return KeyPair(certificate, key) if certificate and key else None


def _pair_certificate(data: dict[str, bytes], name: str) -> bytes:
    """The first certificate alone: a bundle does not grow with each exchange."""
    end = b"-----END CERTIFICATE-----\n"
    first, found, _ = data.get(f"{name}.crt", b"").partition(end)
    return first + end if found else b""


def _files(name: str, pair: KeyPair) -> dict[str, bytes]:
    return {f"{name}.crt": pair.certificate, f"{name}.key": pair.key}
