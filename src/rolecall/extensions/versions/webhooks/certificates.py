"""The certificate that the webhook server shows: mounted by others, or our own in a Secret.

Every replica shows the same one, so that the API server may reach any of them. What the Secret should
hold is for `certificate_steps` to say; here it is read and written, by whichever replica comes first. A
replica that lost the race reads what the other one wrote.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from rolecall.certificates import PemPair, show
from rolecall.clock import Clock
from rolecall.errors import ClusterError, InputError
from rolecall.extensions.versions.webhooks.certificate_steps import (
    KEYS,
    TRUSTED,
    may_be_shown,
    next_content,
    to_trust,
)
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import AlreadyExistsError, Client, ConflictError, NotFoundError

SECRET = Gvk("", "v1", "Secret")
# On the Secret: requests a new authority, for example after its key was leaked.
ANNOTATION = "rolecall.dev/new-authority"
_TRIES = 5


class Certificate(Protocol):
    """What the server shows."""

    async def refresh(self, context: ssl.SSLContext) -> None:
        """Have new connections see the newest; cheap where nothing changed."""


class MountedCertificate:
    """Files that another program renews and registers at the API server, such as cert-manager."""

    def __init__(self, folder: Path) -> None:
        self._files = (folder / "tls.crt", folder / "tls.key")
        self._seen: tuple[int, ...] = ()

    @property
    def is_there(self) -> bool:
        return all(file.is_file() for file in self._files)

    async def refresh(self, context: ssl.SSLContext) -> None:
        try:
            # The files themselves: a kubelet changes the folder that their names lead to.
            found = [file.resolve().stat() for file in self._files]
            seen = tuple(number for stat in found for number in (stat.st_ino, stat.st_mtime_ns))
            if seen != self._seen:
                certificate, key = (file.read_bytes() for file in self._files)
                show(context, PemPair(certificate, key))
                self._seen = seen
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
        self._client = client
        self._place = (namespace, name)
        self._names = list(names)
        self._clock = clock
        self._content: dict[str, bytes] = {}
        self._shown = b""

    @property
    def to_trust(self) -> bytes:
        """The authorities to register at the API server; empty before the first `refresh`."""
        return to_trust(self._content)

    async def refresh(self, context: ssl.SSLContext) -> None:
        self._content = content = await self._settled({})
        now = self._clock.now()
        if content["tls.crt"] == self._shown or not may_be_shown(content, self._shown, now):
            return
        show(context, PemPair(content["tls.crt"], content["tls.key"]))
        self._shown = content["tls.crt"]

    async def note_trusted(self, bundle: bytes) -> None:
        """The API server trusts these everywhere: who waited for that may sign now."""
        if bundle != self._content.get(TRUSTED):
            self._content = await self._settled({TRUSTED: bundle})

    async def _settled(self, more: dict[str, bytes]) -> dict[str, bytes]:
        """What the Secret holds, once it holds what it should, and this as well."""
        for _ in range(_TRIES):
            found = await self._found()
            is_asked = ANNOTATION in ((found or {}).get("metadata", {}).get("annotations") or {})
            held = _decoded(found or {})
            # A client may have emptied it: a replica that knows the content restores it.
            known = {**(held or self._content), **more}
            wanted = next_content(known, self._names, self._clock.now(), is_asked=is_asked)
            if wanted == held and not is_asked:
                return wanted
            try:
                await self._write(found, wanted)
            except (AlreadyExistsError, ConflictError):
                continue  # another replica was faster
            return wanted
        raise ClusterError(
            f"Secret `{'/'.join(self._place)}` changed each time that it was written",
            hint="something else writes it: give that another name",
        )

    async def _found(self) -> Json | None:
        try:
            return await self._client.get(SECRET, *self._place)
        except NotFoundError:
            return None

    async def _write(self, found: Json | None, content: dict[str, bytes]) -> None:
        encoded = {key: base64.b64encode(value).decode() for key, value in content.items()}
        namespace, name = self._place
        if found is None:
            metadata: Json = {"namespace": namespace, "name": name}
            body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}
            await self._client.create(SECRET, body)
            return
        metadata = dict(found["metadata"])
        metadata["annotations"] = {
            key: value
            for key, value in (metadata.get("annotations") or {}).items()
            if key != ANNOTATION
        }
        await self._client.replace(SECRET, {**found, "metadata": metadata, "data": encoded})


def _decoded(secret: Json) -> dict[str, bytes]:
    """Our keys in a Secret, without corrupt values."""
    found = {}
    for key, value in (secret.get("data") or {}).items():
        if key in KEYS:
            try:
                found[key] = base64.b64decode(value)
            except (binascii.Error, ValueError):
                continue
    return found
