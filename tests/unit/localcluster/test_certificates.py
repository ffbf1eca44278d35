"""The certificates that a cluster makes for itself, held against a strict reading of the standard."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509

from rolecall_dev.localcluster import identities
from rolecall_dev.localcluster.identities import Authority, KeyPair
from rolecall_dev.localcluster.layout import Layout, Ports
from rolecall_dev.localcluster.real.configuration import write_identities_of_real
from rolecall_dev.localcluster.real.plan import Plan
from tests.fixtures.strict_tls import shake_hands, strict_client, strict_server


def simulated(layout: Layout) -> None:
    identities.write_identities_of_simulated(layout, Ports(1, 2, 3, 1, 2))


def real(layout: Layout) -> None:
    write_identities_of_real(layout, Plan(1), 2)


@pytest.mark.parametrize("make", [simulated, real])
def test_strict_checkers_accept_every_certificate_that_we_make(
    tmp_path: Path, make: Callable[[Layout], None]
) -> None:
    layout = Layout(tmp_path)
    make(layout)
    pki = layout.certificates
    authority = pki / "ca.crt"
    made = [KeyPair(file, file.with_suffix(".key")) for file in pki.glob("*.crt")]
    leaves = [pair for pair in made if pair.certificate != authority]
    assert len(leaves) >= 6
    server = Authority(tmp_path).server("known", ("localhost",))
    for pair in leaves:
        names = names_of(pair.certificate)
        as_client(pair, authority)
        if names:
            as_server(pair, authority, names)
    with pytest.raises(ssl.SSLCertVerificationError):  # so the above is no empty ceremony
        as_server(server, authority, ["localhost"])


def as_server(pair: KeyPair, authority: Path, names: list[str]) -> None:
    for name in names:
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(pair.certificate, pair.key)
        shake_hands(server, strict_client(authority), name)


def as_client(pair: KeyPair, authority: Path) -> None:
    server = strict_server(authority)
    here = authority.parent
    server.load_cert_chain(here / "kube-apiserver.crt", here / "kube-apiserver.key")
    client = strict_client(authority)
    client.load_cert_chain(pair.certificate, pair.key)
    shake_hands(server, client, "localhost")


def names_of(certificate: Path) -> list[str]:
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes()).extensions
        names = found.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names]


def test_certificates_say_what_they_may_be_used_for(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair = authority.client("admin", "admin")
    critical = [
        {
            type(extension.value).__name__
            for extension in x509.load_pem_x509_certificate(file.read_bytes()).extensions
            if extension.critical
        }
        for file in (authority.certificate, pair.certificate)
    ]
    assert critical == 2 * [{"BasicConstraints", "KeyUsage"}]
