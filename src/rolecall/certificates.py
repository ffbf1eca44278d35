"""Certificates that we make and show: of webhooks, of the metrics endpoint, of local clusters.

Elliptic-curve keys, since RSA keys take a second each. Certificates carry what RFC 5280 asks for (whose
key signed, what for), although Go and OpenSSL do without: Python rejects others since 3.13
(`VERIFY_X509_STRICT`), and so do the libraries of plays.
"""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LEEWAY = timedelta(minutes=5)  # another machine's clock may be late


@dataclass(frozen=True, slots=True)
class PemPair:
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes

    @property
    def names(self) -> list[str]:
        """Hosts that a server's certificate is for."""
        loaded = x509.load_pem_x509_certificate(self.certificate)
        try:
            found = loaded.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            return []
        return [str(name.value) for name in found]

    @property
    def belongs_together(self) -> bool:
        try:
            key = serialization.load_pem_private_key(self.key, None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            return False
        return key.public_key() == x509.load_pem_x509_certificate(self.certificate).public_key()

    def is_signed_by(self, authority: PemPair) -> bool:
        issuer = x509.load_pem_x509_certificate(authority.certificate)
        try:
            x509.load_pem_x509_certificate(self.certificate).verify_directly_issued_by(issuer)
        except (ValueError, TypeError, InvalidSignature):
            return False
        return True

    def is_late(self, now: datetime) -> bool:
        """Whether a third of its life or less is left."""
        loaded = x509.load_pem_x509_certificate(self.certificate)
        life = loaded.not_valid_after_utc - loaded.not_valid_before_utc
        return loaded.not_valid_after_utc - now < life / 3


@dataclass(frozen=True, slots=True)
class Holder:
    """Whom a certificate is for; without hosts and not a client: an authority."""

    name: str
    hosts: Sequence[str] = ()  # under which a server is reached
    groups: Sequence[str] = ()  # of a user of the API server
    is_client: bool = False

    @property
    def x509_name(self) -> x509.Name:
        groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in self.groups]
        return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, self.name)])

    @property
    def usages(self) -> Sequence[x509.ObjectIdentifier]:
        client = (ExtendedKeyUsageOID.CLIENT_AUTH,) if self.is_client else ()
        return (*client, ExtendedKeyUsageOID.SERVER_AUTH) if self.hosts else client


def issue(
    holder: Holder, now: datetime, life: timedelta, authority: PemPair | None = None
) -> PemPair:
    """A certificate with a new key, signed by the authority; None: by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer, issuer_key = holder.x509_name, key
    if authority is not None:
        issuer = x509.load_pem_x509_certificate(authority.certificate).subject
        loaded = serialization.load_pem_private_key(authority.key, None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        issuer_key = loaded
    public, signs = key.public_key(), not holder.usages
    issuers = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    builder = (
        x509.CertificateBuilder()
        .subject_name(holder.x509_name)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LEEWAY)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(issuers, critical=False)
        .add_extension(x509.BasicConstraints(signs, 0 if signs else None), critical=True)
        .add_extension(_key_usage(signs=signs), critical=True)
    )
    if holder.usages:
        builder = builder.add_extension(x509.ExtendedKeyUsage(holder.usages), critical=False)
    if holder.hosts:
        names = x509.SubjectAlternativeName([_host(host) for host in holder.hosts])
        builder = builder.add_extension(names, critical=False)
    certificate = builder.sign(issuer_key, hashes.SHA256())
    return PemPair(certificate.public_bytes(serialization.Encoding.PEM), private_pem(key))


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def server_tls() -> ssl.SSLContext:
    """What every server of ours speaks; it has nothing to show yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def show(context: ssl.SSLContext, pair: PemPair) -> None:
    """Show this pair to new connections; raises `OSError` and `ValueError`, and changes nothing then.

    The TLS library insists on reading a file, so the key leaves memory for a moment.
    """
    trial = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # made 0600
        file.write(pair.key + b"\n" + pair.certificate)
        file.flush()
        for each in (trial, context):
            each.load_cert_chain(file.name, password=refuse_password)


def refuse_password() -> str:
    """Else OpenSSL would ask the terminal, and wait."""
    raise ValueError("the key is encrypted")


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
