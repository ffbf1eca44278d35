"""When an etcd cluster's certificates are made anew, by whom, and that no member is shut out by it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from tests.unit.roles.filters import role_filter

FILE = "etcdcluster_certificates"
decide = role_filter("etcdcluster", "etcdcluster_certificates", FILE)
trusted_by = role_filter("etcdcluster", "etcdcluster_trusted", FILE)
trust_of = role_filter("etcdcluster", "etcdcluster_trust", FILE)
others = role_filter("etcdcluster", "etcdcluster_others", FILE)
arguments = role_filter("etcdcluster", "etcdcluster_tls_arguments", FILE)

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
PLAN = {
    "name": "db",
    "hosts": ["db-0.db-peer.here.svc", "localhost"],
    "addresses": ["127.0.0.1"],
    "duration": "2160h",  # 90 days
    "rotate_before": "720h",  # 30 days
    "authority_duration": "87600h",
}


class Kept:
    """The Secrets as they come to be, run after run."""

    def __init__(self) -> None:
        self.data: dict[str, dict[str, str]] = {}
        self.pods: list[str] = []  # what each member trusts

    def run(self, at: datetime, **changes: Any) -> dict[str, Any]:
        found = [{"metadata": {"name": name}, "data": data} for name, data in self.data.items()]
        decided: dict[str, Any] = decide(found, PLAN | changes, self.pods, at.isoformat())
        self.data |= decided["secrets"]
        return decided

    def certificate(self, secret: str) -> x509.Certificate:
        return x509.load_pem_x509_certificate(base64.b64decode(self.data[secret]["tls.crt"]))

    def bundle(self, secret: str) -> list[x509.Certificate]:
        return x509.load_pem_x509_certificates(base64.b64decode(self.data[secret]["ca.crt"]))


@pytest.fixture
def kept() -> Kept:
    """A cluster of one member, which has started with what was made for it."""
    kept = Kept()
    kept.pods = [kept.run(START)["trust"]]
    return kept


def test_new_cluster_gets_an_authority_and_two_certificates_of_it(kept: Kept) -> None:
    assert set(kept.data) == {"db-ca", "db-member-tls", "db-client-tls"}
    authority = kept.certificate("db-ca")
    for secret in ("db-member-tls", "db-client-tls"):
        kept.certificate(secret).verify_directly_issued_by(authority)
        assert kept.bundle(secret) == [authority]


def test_members_certificate_serves_and_asks_and_the_clients_only_asks(kept: Kept) -> None:
    def usages(secret: str) -> set[str]:
        found = kept.certificate(secret).extensions.get_extension_for_class(x509.ExtendedKeyUsage)
        return {usage._name for usage in found.value}

    assert usages("db-member-tls") == {"serverAuth", "clientAuth"}
    assert usages("db-client-tls") == {"clientAuth"}


def test_nothing_is_written_while_nothing_is_due(kept: Kept) -> None:
    assert kept.run(START + 59 * DAY)["secrets"] == {}


def test_certificates_are_made_anew_before_they_end_by_the_same_authority(kept: Kept) -> None:
    authority = kept.certificate("db-ca")
    told = kept.run(START + 61 * DAY)
    assert set(told["secrets"]) == {"db-member-tls", "db-client-tls"}
    assert told["trust"] == kept.pods[0], "members need not start anew for it"
    kept.certificate("db-member-tls").verify_directly_issued_by(authority)


def test_member_that_is_down_does_not_hold_up_certificates_of_the_same_authority(
    kept: Kept,
) -> None:
    kept.pods = ["", *kept.pods]
    assert set(kept.run(START + 61 * DAY)["secrets"]) == {"db-member-tls", "db-client-tls"}


def test_new_authority_signs_only_when_all_members_trust_it(kept: Kept) -> None:
    old = kept.certificate("db-ca")
    late = START + 2940 * DAY  # four fifths of ten years
    kept.run(late - 30 * DAY)
    first = kept.run(late)
    new = kept.certificate("db-ca")
    assert new != old
    assert kept.bundle("db-member-tls") == [new, old], "both are trusted"
    kept.certificate("db-member-tls").verify_directly_issued_by(old)

    assert kept.run(late + DAY)["secrets"] == {}, "not while a member trusts the old one only"
    kept.pods = [first["trust"], ""]
    assert kept.run(late + DAY)["secrets"] == {}, "nor while one is not ready"

    kept.pods = [first["trust"], first["trust"]]
    assert set(kept.run(late + DAY)["secrets"]) == {"db-member-tls", "db-client-tls"}
    kept.certificate("db-member-tls").verify_directly_issued_by(new)
    assert kept.bundle("db-client-tls") == [new, old], "clients may still hold the old one"


def test_lost_authority_is_replaced_without_shutting_anybody_out(kept: Kept) -> None:
    old = kept.certificate("db-ca")
    del kept.data["db-ca"]
    kept.run(START + DAY)
    new = kept.certificate("db-ca")
    assert kept.bundle("db-member-tls") == [new, old]
    kept.certificate("db-member-tls").verify_directly_issued_by(old)


def test_certificate_that_has_ended_is_replaced_though_members_are_down(kept: Kept) -> None:
    kept.pods = [""]
    del kept.data["db-ca"]
    assert "db-member-tls" in kept.run(START + 91 * DAY)["secrets"]
    kept.certificate("db-member-tls").verify_directly_issued_by(kept.certificate("db-ca"))


def test_secret_that_cannot_be_read_is_made_anew(kept: Kept) -> None:
    kept.data["db-client-tls"]["tls.key"] = base64.b64encode(b"no key").decode()
    assert set(kept.run(START + DAY)["secrets"]) == {"db-client-tls"}


def test_certificate_whose_life_was_cut_is_not_made_anew_in_each_run() -> None:
    kept, short = Kept(), {"authority_duration": "10h", "duration": "900h", "rotate_before": "800h"}
    kept.pods = [kept.run(START, **short)["trust"]]
    assert kept.run(START + timedelta(minutes=30), **short)["secrets"] == {}


def test_other_names_make_the_members_certificate_anew(kept: Kept) -> None:
    told = kept.run(START + DAY, hosts=["other.here.svc"])
    assert set(told["secrets"]) == {"db-member-tls"}


def test_keys_are_readable_by_etcd_and_fit(kept: Kept) -> None:
    for secret, data in kept.data.items():
        key = serialization.load_pem_private_key(base64.b64decode(data["tls.key"]), None)
        assert key.public_key() == kept.certificate(secret).public_key()


def test_pod_trusts_what_it_started_with_only_while_it_is_ready() -> None:
    def pod(ready: str) -> dict[str, Any]:
        conditions = [{"type": "Ready", "status": ready}]
        return {
            "metadata": {"annotations": {"mycompany.com/trust": "t"}},
            "status": {"conditions": conditions},
        }

    assert trusted_by([pod("True"), pod("False"), {"metadata": {}}]) == ["t", "", ""]


def test_secret_of_an_issuer_is_waited_for_and_then_trusted(kept: Kept) -> None:
    def secret(data: Any) -> list[dict[str, Any]]:
        return [{"metadata": {"name": "db-member-tls"}, "data": data}]

    assert trust_of([], "db-member-tls")["trust"] == ""
    assert trust_of(secret({"tls.crt": ""}), "db-member-tls")["trust"] == ""
    told = trust_of(secret(kept.data["db-member-tls"]), "db-member-tls")
    assert told["trust"] == kept.pods[0]
    assert told["secrets"] == {}


def test_objects_without_our_label_are_somebody_elses() -> None:
    def secret(name: str, labels: Any) -> dict[str, Any]:
        return {"kind": "Secret", "metadata": {"name": name, "labels": labels}}

    ours = secret("db-ca", {"mycompany.com/etcdcluster": "db"})
    assert others([ours, secret("db-client-tls", None)], "db") == ["Secret db-client-tls"]


def test_client_cannot_speak_as_a_member() -> None:
    assert "--peer-cert-allowed-cn=db-member" in arguments("db", True, True)
    assert arguments("db", False, False) == []
    assert not [each for each in arguments("db", True, False) if "peer" in each]
