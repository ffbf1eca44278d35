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

# Where the Go operator's metrics server looks; people mount cert-manager's files there.
MOUNTED = Path(tempfile.gettempdir()) / "k8s-metrics-server" / "serving-certs"
_LIFE = timedelta(days=3650)  # as long as the process at most
_LEEWAY = timedelta(minutes=5)  # a scraper's clock may be late


def tls_for_server(now: datetime, mounted: Path = MOUNTED) -> ssl.SSLContext:
    """Everything that a server needs to speak HTTPS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    certificate, key = mounted / "tls.crt", mounted / "tls.key"
    if certificate.is_file() and key.is_file():
        context.load_cert_chain(certificate, key)
        return context
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # made 0600
        file.write(self_signed(now))
        file.flush()
        context.load_cert_chain(file.name)
    return context


def self_signed(now: datetime) -> bytes:
    """A fresh key and its certificate for `localhost`, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _LEEWAY)
        .not_valid_after(now + _LIFE)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return secret + certificate.public_bytes(serialization.Encoding.PEM)
