"""A certificate authority of the cluster's own, and what it signs.

Promises that every cluster trusts only itself: no key is shared between clusters or reused after
`down`. Elliptic-curve keys, since ten RSA keys would cost more time than the API server's start.
Certificates live for a year; a cluster that is older than that is made anew, not renewed.

They carry what RFC 5280 asks of them (whose key signed, what for), although Go and OpenSSL do
without: Python refuses others since 3.13 (`VERIFY_X509_STRICT`), and so do the plays' libraries.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

from rolecall.clock import SystemClock

_LIFETIME = timedelta(days=365)
AUTHORITY = "ca.crt"
_SKEW = timedelta(minutes=5)  # a laptop's clock may be set back a little after sleep


@dataclass(frozen=True, slots=True)
class KeyPair:
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Found:
    """The authority's certificate of a cluster that was made earlier; all others are as old."""

    valid_from: datetime
    valid_until: datetime
    names_its_key: bool  # False: made before we did; strict checkers refuse all of them

    @classmethod
    def read(cls, file: Path) -> Found:
        """Raises OSError and ValueError."""
        certificate = x509.load_pem_x509_certificate(file.read_bytes())
        named = {extension.oid for extension in certificate.extensions}
        return cls(
            certificate.not_valid_before_utc,
            certificate.not_valid_after_utc,
            ExtensionOID.SUBJECT_KEY_IDENTIFIER in named,
        )


class Authority:
    """Signs certificates into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject("rolecall-local-cluster")
        builder = _builder(self._name, self._name, self._key)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        builder = builder.add_extension(_key_usage(signs=True), True)
        self.certificate = folder / AUTHORITY
        write_private(self.certificate, _pem(builder.sign(self._key, hashes.SHA256())))
        # The controller manager signs CertificateSigningRequests with it, as in any cluster.
        write_private(folder / "ca.key", _private_pem(self._key))

    def server(self, name: str, hosts: tuple[str, ...]) -> KeyPair:
        """For a program that is reached under these host names and addresses (it may dial too)."""
        return self._issue(name, _subject(name), hosts)

    def client(self, name: str, user: str, groups: tuple[str, ...] = ()) -> KeyPair:
        """For a user of the API server, who is known by the subject."""
        return self._issue(name, _subject(user, groups), ())

    def _issue(self, name: str, subject: x509.Name, hosts: tuple[str, ...]) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key, self._key)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if hosts:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            names = x509.SubjectAlternativeName([_host(host) for host in hosts])
            builder = builder.add_extension(names, False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), False)
        builder = builder.add_extension(_key_usage(signs=False), True)
        pair = KeyPair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        write_private(pair.certificate, _pem(builder.sign(self._key, hashes.SHA256())))
        write_private(pair.key, _private_pem(key))
        return pair


def write_signing_key(private: Path, public: Path) -> None:
    """The pair that signs and checks the tokens of service accounts."""
    key = ec.generate_private_key(ec.SECP256R1())
    write_private(private, _private_pem(key))
    encoding, layout = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    write_private(public, key.public_key().public_bytes(encoding, layout))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    issuers_key: ec.EllipticCurvePrivateKey | None = None,  # None: it signs itself
) -> x509.CertificateBuilder:
    now = SystemClock().now()
    public, issuers = key.public_key(), (issuers_key or key).public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuers), False)
    )


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


def _subject(user: str, groups: tuple[str, ...] = ()) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def write_private(path: Path, content: bytes) -> None:
    """Never readable by others, not even for the moment between creation and chmod."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
