"""The certificate of the metrics endpoint: one that was mounted, or one made up for this process.

A made-up one proves nothing to the scraper, but tokens do not travel in clear. Its key never leaves
memory but for the moment in which the TLS library insists on reading a file.
"""

from __future__ import annotations

import ssl
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rolecall.errors import InputError

# Where the Go operator's metrics server looks; people mount cert-manager's files there.
MOUNTED = Path(tempfile.gettempdir()) / "k8s-metrics-server" / "serving-certs"
_LIFE = timedelta(days=3650)  # as long as the process at most
_LEEWAY = timedelta(minutes=5)  # a scraper's clock may be late
_ONLY_SIGNATURES = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def tls_for_server(now: datetime, mounted: Path = MOUNTED) -> ssl.SSLContext:
    """Everything that a server needs to speak HTTPS; raises `InputError` for files that do not fit."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    certificate, key = mounted / "tls.crt", mounted / "tls.key"
    if certificate.is_file() and key.is_file():
        try:
            context.load_cert_chain(certificate, key, password=_refuse_password)
        except (OSError, ValueError) as failure:
            why = getattr(failure, "reason", None) or str(failure)
            raise InputError(
                f"could not serve with `{certificate}` and `{key.name}`: {why}",
                hint="mount a certificate and its key in PEM, or neither to get a self-signed one",
            ) from failure
        return context
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # made 0600
        file.write(self_signed(now))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def _refuse_password() -> str:
    """Else OpenSSL would ask the terminal, and wait."""
    raise ValueError("the key is encrypted")


def self_signed(now: datetime) -> bytes:
    """A fresh key and its certificate for `localhost`, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    public = key.public_key()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LEEWAY)
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_ONLY_SIGNATURES, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return secret + certificate.public_bytes(serialization.Encoding.PEM)
