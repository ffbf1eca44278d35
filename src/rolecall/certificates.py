"""Certificates that we make for the webhook server, where nobody mounts any.

An authority of ours signs the server's certificate; the API server is told of the authority alone. So
the server's certificate is made anew without anybody having to be told. A new authority is told of
before it signs anything, beside the old one, which stays until its end.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LEEWAY = timedelta(minutes=5)
_AUTHORITY_LIFE = timedelta(days=3650)
_SERVER_LIFE = timedelta(days=90)


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


def new_authority(now: datetime) -> PemPair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "rolecall webhooks")])
    builder = _builder(name, name, key.public_key(), now, _AUTHORITY_LIFE)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    return PemPair(_pem(builder.sign(key, hashes.SHA256())), _pem_key(key))


def new_server(authority: PemPair, names: Sequence[str], now: datetime) -> PemPair:
    """A certificate for these names, signed by the authority."""
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    issuer_key = serialization.load_pem_private_key(authority.key, None)
    assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    builder = _builder(subject, issuer.subject, key.public_key(), now, _SERVER_LIFE)
    alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
    builder = builder.add_extension(alternatives, critical=False)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    server = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    builder = builder.add_extension(server, critical=False)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    return PemPair(_pem(builder.sign(issuer_key, hashes.SHA256())), _pem_key(key))


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    now: datetime,
    life: timedelta,
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(public)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LEEWAY)
        .not_valid_after(now + life)
        .add_extension(identifier, critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _pem_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
