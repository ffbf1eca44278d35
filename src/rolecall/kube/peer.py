"""What an API server shows without verification: its certificates, and what time it has.

Only for messages. No credential goes this way, and what is seen may come from any server.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from yarl import URL

from rolecall.kube.later import x509

_PATIENCE_S = 3.0
_DER = 2  # `_ssl.ENCODING_DER`


@dataclass(frozen=True, slots=True)
class Peer:
    """What was seen, as far as the server could be reached."""

    chain: tuple[x509.Certificate, ...] = ()  # the server's own first
    time: datetime | None = None

    @property
    def last(self) -> x509.Certificate:
        """The end of the chain: issuers followed from the server's own certificate."""
        by_subject = {each.subject: each for each in reversed(self.chain)}
        last = self.chain[0]
        for _ in self.chain:
            last = by_subject.get(last.issuer, last)
        return last

    @property
    def names(self) -> list[str]:
        """The names in the server's own certificate."""
        if not self.chain:
            return []
        try:
            kind = x509.SubjectAlternativeName
            found = self.chain[0].extensions.get_extension_for_class(kind).value
        except (x509.ExtensionNotFound, ValueError):
            return []
        addresses = found.get_values_for_type(x509.IPAddress)
        return [*found.get_values_for_type(x509.DNSName), *(str(each) for each in addresses)]


async def look_at_peer(server: URL, name: str) -> Peer:
    """Dial the server under this name; never raises for what it does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_connection(
                server.host, server.port, ssl=context, server_hostname=name
            )
            try:
                chain = _chain_of(writer.get_extra_info("ssl_object"))
                return Peer(chain, await _time_of(reader, writer, name))
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError, ValueError):
        return Peer()


async def _time_of(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str
) -> datetime | None:
    """What its clock says, where it answers strangers at all."""
    writer.write(f"HEAD /version HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
    try:
        async with asyncio.timeout(_PATIENCE_S / 2):
            async for line in reader:
                field, _, value = line.decode("latin-1").partition(":")
                if field.lower() == "date":
                    return parsedate_to_datetime(value.strip()).astimezone(UTC)
    except (OSError, TimeoutError, ValueError):
        pass
    return None


def _chain_of(tls: ssl.SSLObject) -> tuple[x509.Certificate, ...]:
    # Public since Python 3.13; before, the object inside of it has the same.
    inner = tls if hasattr(tls, "get_unverified_chain") else getattr(tls, "_sslobj", None)
    ask = getattr(inner, "get_unverified_chain", None)
    found: Iterable[object] = (ask() if ask is not None else None) or [tls.getpeercert(True)]
    encoded = (each if isinstance(each, bytes) else _encoded(each) for each in found)
    return tuple(x509.load_der_x509_certificate(each) for each in encoded if each)


def _encoded(certificate: object) -> bytes:
    encode = getattr(certificate, "public_bytes", None)
    return bytes(encode(_DER)) if encode is not None else b""
