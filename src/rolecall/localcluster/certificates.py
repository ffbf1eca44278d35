"""A certificate authority of the cluster's own, and what it signs.

Promises that every cluster trusts only itself: no key is shared between clusters or reused after
`down`. Elliptic-curve keys, since ten RSA keys would cost more time than the API server's start.
Certificates live for a year; a cluster that is older than that is made anew, not renewed.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rolecall.clock import SystemClock

_LIFETIME = timedelta(days=365)
_SKEW = timedelta(minutes=5)  # a laptop's clock may be set back a little after sleep


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate with its private key, as files."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject("rolecall-local-cluster")
        builder = _builder(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        builder = builder.add_extension(_key_usage(signs=True), True)
        self.certificate = folder / "ca.crt"
        _write(self.certificate, _pem(builder.sign(self._key, hashes.SHA256())))
        # The controller manager signs CertificateSigningRequests with it, as in any cluster.
        _write(folder / "ca.key", _private_pem(self._key))

    def server(self, name: str, hosts: tuple[str, ...]) -> KeyPair:
        """For a program that is reached under these host names and addresses (it may dial too)."""
        return self._issue(name, _subject(name), hosts)

    def client(self, name: str, user: str, groups: tuple[str, ...] = ()) -> KeyPair:
        """For a user of the API server, who is known by the subject."""
        return self._issue(name, _subject(user, groups), ())

    def _issue(self, name: str, subject: x509.Name, hosts: tuple[str, ...]) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key.public_key())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if hosts:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            names = x509.SubjectAlternativeName([_host(host) for host in hosts])
            builder = builder.add_extension(names, False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), False)
        builder = builder.add_extension(_key_usage(signs=False), True)
        pair = KeyPair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        _write(pair.certificate, _pem(builder.sign(self._key, hashes.SHA256())))
        _write(pair.key, _private_pem(key))
        return pair


def write_signing_key(private: Path, public: Path) -> None:
    """The pair that signs and checks the tokens of service accounts."""
    key = ec.generate_private_key(ec.SECP256R1())
    _write(private, _private_pem(key))
    encoding, layout = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    _write(public, key.public_key().public_bytes(encoding, layout))


def _builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = SystemClock().now()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _LIFETIME)
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


def _write(path: Path, content: bytes) -> None:
    """Never readable by others, not even for the moment between creation and chmod."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
