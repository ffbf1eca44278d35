"""A real etcd cluster whose certificates come from an issuer, and then from another one."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography import x509

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall_dev.localcluster import etcd_versions
from tests.fixtures.authorities import Issued, issue
from tests.fixtures.crds import crd_for
from tests.fixtures.eventually import eventually
from tests.real.etcd import MOMENT_S, Etcd, Witness
from tests.real.world import PATIENCE_S, World, condition

pytestmark = pytest.mark.usefixtures("operator")

VERSION = etcd_versions()[-1]
CERTIFICATE = Gvk("cert-manager.io", "v1", "Certificate")


def test_authority_of_an_issuer_is_exchanged_without_shutting_anybody_out(world: World) -> None:
    world.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(crd_for(CERTIFICATE)))
    etcd = Etcd(world, "issued", is_sealed=True)
    etcd.apply(version=VERSION, replicas=3, tls={"issuerRef": {"name": "mine"}})
    eventually(
        lambda: condition(etcd.cr, "Ready").get("reason"),
        lambda reason: reason == "CertificatesPending",
        timeout_s=PATIENCE_S,
    )
    first, second = issue("first"), issue("second")
    _fill_secrets(etcd, first)
    etcd.wait_healthy(3, VERSION)
    keys = etcd.fill(5)

    with Witness(etcd) as witness:
        _fill_secrets(etcd, second)
        eventually(lambda: _trusted(etcd), lambda found: found == ["first", "second"])
        assert _signer(etcd) == "first", "shown until all members trust both"
        eventually(lambda: _signer(etcd), lambda name: name == "second", timeout_s=PATIENCE_S)
        etcd.wait_healthy(3, VERSION)
        written = witness.written
        eventually(lambda: witness.written > written + 20)
    assert witness.longest_gap_s < MOMENT_S, witness.refused
    assert _trusted(etcd) == ["first", "second"]
    assert etcd.has(keys)
    assert witness.is_kept


def _fill_secrets(etcd: Etcd, authority: Issued) -> None:
    """As cert-manager does."""
    for part in ("member", "client"):
        wanted = etcd.world.get("certificate", f"{etcd.name}-{part}")["spec"]
        hosts = [*wanted.get("dnsNames", ["client"]), *wanted.get("ipAddresses", [])]
        leaf = issue(wanted["commonName"], authority, hosts=hosts)
        content = {"ca.crt": authority.pem, "tls.crt": leaf.pem, "tls.key": leaf.key_pem}
        metadata: Json = {"name": wanted["secretName"]} | wanted["secretTemplate"]
        secret = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls"}
        etcd.world.apply(secret | {"metadata": metadata, "stringData": content})


def _certificates(etcd: Etcd, key: str) -> list[x509.Certificate]:
    data = etcd.world.get("secret", f"{etcd.name}-member-tls")["data"]
    return x509.load_pem_x509_certificates(base64.b64decode(data[key]))


def _trusted(etcd: Etcd) -> list[str]:
    return sorted(_name(each.subject) for each in _certificates(etcd, "ca.crt"))


def _signer(etcd: Etcd) -> str:
    return _name(_certificates(etcd, "tls.crt")[0].issuer)


def _name(found: x509.Name) -> str:
    return str(found.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value)
