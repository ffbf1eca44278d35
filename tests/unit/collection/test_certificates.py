"""When certificates are made anew, by whom, and that no client is locked out by it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.fixtures.authorities import Issued, issue
from tests.unit.collection.plugins import part

decide = part("plugin_utils.certificates").certificates

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
PLAN: dict[str, Any] = {
    "authority": {"secret": "db-ca", "duration": "87600h"},
    "leaves": [
        {
            "secret": "db-member-tls",
            "issued": "db-member-issued",
            "common_name": "db-member",
            "usages": ["client", "server"],
            "hosts": ["db-0.db-peer.here.svc", "localhost"],
            "addresses": ["127.0.0.1"],
        },
        {
            "secret": "db-client-tls",
            "issued": "db-client-issued",
            "common_name": "db-client",
            "usages": ["client"],
        },
    ],
    "duration": "2160h",  # 90 days
    "rotate_before": "720h",  # 30 days
}
ISSUED = PLAN | {"authority": {}}


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
    reported = kept.run(START + 61 * DAY)
    assert set(reported["secrets"]) == {"db-member-tls", "db-client-tls"}
    assert reported["trust"] == kept.pods[0], "members need not start anew for it"
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
    authority = {"secret": "db-ca", "duration": "10h"}
    kept, short = Kept(), {"authority": authority, "duration": "900h", "rotate_before": "800h"}
    kept.pods = [kept.run(START, **short)["trust"]]
    assert kept.run(START + timedelta(minutes=30), **short)["secrets"] == {}


def test_other_names_make_the_members_certificate_anew(kept: Kept) -> None:
    leaves = [PLAN["leaves"][0] | {"hosts": ["other.here.svc"]}, PLAN["leaves"][1]]
    reported = kept.run(START + DAY, leaves=leaves)
    assert set(reported["secrets"]) == {"db-member-tls"}


def test_keys_are_readable_by_etcd_and_fit(kept: Kept) -> None:
    for secret, data in kept.data.items():
        key = serialization.load_pem_private_key(base64.b64decode(data["tls.key"]), None)
        assert key.public_key() == kept.certificate(secret).public_key()


class Issuer:
    """Fills its Secrets, as cert-manager does, with one authority after the other."""

    def __init__(self) -> None:
        self.kept = Kept()
        self.authority = issue("mine")
        self.sign()

    def sign(self) -> None:
        for name in ("member", "client"):
            leaf = issue(f"db-{name}", self.authority, hosts=["localhost"])
            content = {"ca.crt": self.authority.pem, "tls.crt": leaf.pem, "tls.key": leaf.key_pem}
            self.kept.data[f"db-{name}-issued"] = {
                key: base64.b64encode(text.encode()).decode() for key, text in content.items()
            }

    def run(self, at: timedelta = timedelta()) -> dict[str, Any]:
        return self.kept.run(datetime.now(UTC) + at, **ISSUED)

    def is_shown(self, by: Issued) -> bool:
        """Whether members and clients show certificates of this authority."""
        key = by.certificate.public_key()
        found = [self.kept.certificate(f"db-{name}-tls") for name in ("member", "client")]
        return [_is_of(leaf, key) for leaf in found] == [True, True]


def _is_of(leaf: x509.Certificate, key: Any) -> bool:
    try:
        key.verify(leaf.signature, leaf.tbs_certificate_bytes, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


@pytest.fixture
def issuer() -> Issuer:
    """Of a cluster of two members, which have started with what it filled first."""
    found = Issuer()
    found.kept.pods = [found.run()["trust"]] * 2
    return found


def test_secrets_of_an_issuer_are_waited_for() -> None:
    found = Issuer()
    for name in ("db-member-issued", "db-client-issued"):
        filled = found.kept.data.pop(name)
        assert found.run() == {"secrets": {}, "trust": "", "until": "", "authorityUntil": ""}
        found.kept.data[name] = filled
    assert set(found.run()["secrets"]) == {"db-member-tls", "db-client-tls"}


def test_what_there_is_stays_while_an_issuer_has_to_fill_its_secrets_again(issuer: Issuer) -> None:
    trust = issuer.kept.pods[0]
    del issuer.kept.data["db-member-issued"]
    reported = issuer.run()
    assert (reported["secrets"], reported["trust"]) == ({}, trust)


def test_new_authority_of_an_issuer_locks_no_client_out(issuer: Issuer) -> None:
    old, issuer.authority = issuer.authority, issue("mine")
    issuer.sign()

    first = issuer.run()
    assert issuer.is_shown(old), "members trust the old one only"
    both = [issuer.authority.certificate, old.certificate]
    assert issuer.kept.bundle("db-member-tls") == both
    assert issuer.kept.bundle("db-client-tls") == both
    assert issuer.run()["secrets"] == {}

    issuer.kept.pods = [first["trust"], ""]
    assert issuer.run()["secrets"] == {}, "nor while one starts"
    issuer.kept.pods = [first["trust"]] * 2
    assert set(issuer.run()["secrets"]) == {"db-member-tls", "db-client-tls"}
    assert issuer.is_shown(issuer.authority)
    assert issuer.kept.bundle("db-member-tls") == both, "clients may still hold the old one"


def test_new_certificate_of_the_same_authority_is_shown_though_members_are_down(
    issuer: Issuer,
) -> None:
    before = issuer.kept.certificate("db-member-tls")
    issuer.sign()
    issuer.kept.pods = ["", issuer.kept.pods[0]]
    assert set(issuer.run()["secrets"]) == {"db-member-tls", "db-client-tls"}
    assert issuer.kept.certificate("db-member-tls") != before


def test_certificate_of_an_issuer_that_has_ended_is_replaced_in_any_case(issuer: Issuer) -> None:
    issuer.authority = issue("mine", ends=3 * DAY)
    for name in ("member", "client"):
        leaf = issue(f"db-{name}", issuer.authority, hosts=["localhost"], ends=3 * DAY)
        content = {"ca.crt": issuer.authority.pem, "tls.crt": leaf.pem, "tls.key": leaf.key_pem}
        issuer.kept.data[f"db-{name}-issued"] = {
            key: base64.b64encode(text.encode()).decode() for key, text in content.items()
        }
    issuer.run(2 * DAY)
    assert issuer.is_shown(issuer.authority)
