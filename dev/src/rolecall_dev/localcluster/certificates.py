"""A certificate authority of the cluster's own, and what it signs.

Promises that every cluster trusts only itself: no key is shared between clusters or reused after
`down`. Certificates live for a year; a cluster that is older than that is made anew, not renewed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtensionOID

from rolecall.certificates import Holder, issue, private_pem
from rolecall.clock import SystemClock

_LIFETIME = timedelta(days=365)
AUTHORITY = "ca.crt"


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
        self._pair = issue(Holder("rolecall-local-cluster"), SystemClock().now(), _LIFETIME)
        self.certificate = folder / AUTHORITY
        write_private(self.certificate, self._pair.certificate)
        # The controller manager signs CertificateSigningRequests with it, as in any cluster.
        write_private(folder / "ca.key", self._pair.key)

    def server(self, name: str, hosts: tuple[str, ...]) -> KeyPair:
        """For a program that is reached under these host names and addresses (it may dial too)."""
        return self._issue(name, Holder(name, hosts, is_client=True))

    def client(self, name: str, user: str, groups: tuple[str, ...] = ()) -> KeyPair:
        """For a user of the API server, who is known by the subject."""
        return self._issue(name, Holder(user, groups=groups, is_client=True))

    def _issue(self, name: str, holder: Holder) -> KeyPair:
        made = issue(holder, SystemClock().now(), _LIFETIME, self._pair)
        pair = KeyPair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        write_private(pair.certificate, made.certificate)
        write_private(pair.key, made.key)
        return pair


def write_signing_key(private: Path, public: Path) -> None:
    """The pair that signs and checks the tokens of service accounts."""
    key = ec.generate_private_key(ec.SECP256R1())
    write_private(private, private_pem(key))
    encoding, layout = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    write_private(public, key.public_key().public_bytes(encoding, layout))


def write_private(path: Path, content: bytes) -> None:
    """Never readable by others, not even for the moment between creation and chmod."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
