"""Filters that decide for an etcd cluster's certificates: which are made anew, when, by whom.

A member reads its own certificate anew for each connection, but the authorities that it trusts only
when it starts. So a new authority is first trusted by all members, beside the old one, and signs
only then: at no moment does one member show what another does not know.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Json = dict[str, Any]


class _Wanted(NamedTuple):
    """One of the two certificates."""

    plan: Json
    is_member: bool

    @property
    def hosts(self) -> set[str]:
        """Clients are reached by nobody."""
        return {*self.plan["hosts"], *self.plan["addresses"]} if self.is_member else set()


_SKEW = timedelta(minutes=5)  # clocks of nodes differ a little
_AUTHORITY_RESERVE = 5  # a new authority comes when this part of the old one's life is left
_UNITS = {"s": 1, "m": 60, "h": 3600}


def etcdcluster_certificate_env(folder: str) -> list[Json]:
    """The environment by which etcdctl finds the certificates in a folder."""
    files = {"CACERT": "ca.crt", "CERT": "tls.crt", "KEY": "tls.key"}
    return [{"name": f"ETCDCTL_{key}", "value": f"{folder}/{file}"} for key, file in files.items()]


def etcdcluster_tls_arguments(name: str, client: bool, peer: bool) -> list[str]:
    """What etcd is started with, beside its addresses."""
    folder = "/etc/etcd/tls/member"
    found: list[str] = []
    for prefix, is_wanted in (("", client), ("peer-", peer)):
        if is_wanted:
            found += [
                f"--{prefix}cert-file={folder}/tls.crt",
                f"--{prefix}key-file={folder}/tls.key",
                f"--{prefix}trusted-ca-file={folder}/ca.crt",
                f"--{prefix}client-cert-auth=true",
            ]
    # The authority signs clients as well, and a client must not be able to speak as a member.
    return [*found, f"--peer-cert-allowed-cn={member_name(name)}"] if peer else found


def member_name(name: str) -> str:
    """The common name in the members' certificate."""
    return f"{name}-member"


def etcdcluster_certificates(found: list[Json], plan: Json, trusted: list[str], at: str) -> Json:
    """What to write, as `{secrets: {name: data}, trust, until, authorityUntil}`; no secrets mostly.

    `found` are the Secrets that there are; `trusted` says of each member's pod which authorities it
    started with, or "" while it is not ready. Missing or unreadable Secrets are made anew.
    """
    now = datetime.fromisoformat(at)
    name = plan["name"]
    data = {secret["metadata"]["name"]: secret.get("data") or {} for secret in found}
    known = data.get(f"{name}-ca", {})
    authority = _authority(known, plan, now) or _new_authority(name, plan, now)
    old = _readable(known.get("ca.crt") or data.get(f"{name}-member-tls", {}).get("ca.crt", ""))
    bundle = _bundle(authority[0], old, now)
    trust = _trust(bundle)
    may_sign = all(each == trust for each in trusted)
    wanted = {f"{name}-ca": _data(*authority, bundle)}
    for part, is_member in (("member", True), ("client", False)):
        secret = f"{name}-{part}-tls"
        leaf = _leaf(data.get(secret, {}))
        if leaf is None or _is_due(leaf[0], authority[0], may_sign, now, _Wanted(plan, is_member)):
            leaf = _new_leaf(authority, _Wanted(plan, is_member), now)
        wanted[secret] = _data(*leaf, bundle)
    ends = [_certificate(wanted[f"{name}-{part}-tls"]) for part in ("member", "client")]
    return {
        "secrets": {key: new for key, new in wanted.items() if data.get(key) != new},
        "trust": trust,
        "until": _text(min(each.not_valid_after_utc for each in ends)),
        "authorityUntil": _text(authority[0].not_valid_after_utc),
    }


def etcdcluster_trusted(pods: list[Json]) -> list[str]:
    """Which authorities each member started with; "" where it is not ready."""
    found = []
    for pod in pods:
        conditions = pod.get("status", {}).get("conditions") or []
        is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        annotations = pod["metadata"].get("annotations") or {}
        found.append(annotations.get("mycompany.com/trust", "") if is_ready else "")
    return found


def etcdcluster_others(objects: list[Json], name: str) -> list[str]:
    """What has the names of ours and is not: `["Secret db-ca", ...]`."""
    label = "mycompany.com/etcdcluster"
    return [
        f"{each['kind']} {each['metadata']['name']}"
        for each in objects
        if (each["metadata"].get("labels") or {}).get(label) != name
    ]


def etcdcluster_trust(found: list[Json], secret: str) -> Json:
    """The same of a Secret that somebody else fills, such as cert-manager; empty until it is there."""
    data: Json = next(
        (each.get("data") or {} for each in found if each["metadata"]["name"] == secret), {}
    )
    leaf, bundle = _leaf(data), _readable(data.get("ca.crt", ""))
    if leaf is None or not bundle:
        return {"secrets": {}, "trust": "", "until": "", "authorityUntil": ""}
    return {
        "secrets": {},
        "trust": _trust(bundle),
        "until": _text(leaf[0].not_valid_after_utc),
        "authorityUntil": _text(min(each.not_valid_after_utc for each in bundle)),
    }


def _authority(known: Json, plan: Json, now: datetime) -> tuple[x509.Certificate, Any] | None:
    found = _leaf(known)
    if found is None:
        return None
    reserve = _duration(plan["authority_duration"]) / _AUTHORITY_RESERVE
    return found if now < found[0].not_valid_after_utc - reserve else None


def _leaf(data: Json) -> tuple[x509.Certificate, Any] | None:
    """Certificate and key of a Secret; None where they cannot be read or do not fit."""
    try:
        certificate = _certificate(data)
        key = serialization.load_pem_private_key(base64.b64decode(data["tls.key"]), None)
    except (KeyError, ValueError, TypeError):
        return None
    return (certificate, key) if key.public_key() == certificate.public_key() else None


def _certificate(data: Json) -> x509.Certificate:
    return x509.load_pem_x509_certificate(base64.b64decode(data["tls.crt"]))


def _readable(coded: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(base64.b64decode(coded))
    except ValueError:
        return []


def _bundle(
    authority: x509.Certificate, old: list[x509.Certificate], now: datetime
) -> list[x509.Certificate]:
    """The authority that signs, then those of before that are still in force."""
    kept = [each for each in old if each != authority and each.not_valid_after_utc > now]
    return [authority, *kept]


def _trust(bundle: list[x509.Certificate]) -> str:
    """Names a set of authorities, in any order."""
    prints = sorted(each.fingerprint(hashes.SHA256()) for each in bundle)
    return hashlib.sha256(b"".join(prints)).hexdigest()[:16]


def _is_due(
    leaf: x509.Certificate,
    authority: x509.Certificate,
    may_sign: bool,
    now: datetime,
    plan: _Wanted,
) -> bool:
    """Of the same authority: near its end, or for other names. Of another: once all trust the new.

    One that has ended serves nobody, so whatever follows it is better.
    """
    if now >= leaf.not_valid_after_utc:
        return True
    try:
        leaf.verify_directly_issued_by(authority)
    except Exception:  # of another name, of another key: it says so in many ways
        return may_sign
    life = leaf.not_valid_after_utc - leaf.not_valid_before_utc
    # One whose life was cut to its authority's must not be made anew in each run.
    reserve = min(_duration(plan.plan["rotate_before"]), life * 0.9)
    return now >= leaf.not_valid_after_utc - reserve or _hosts(leaf) != plan.hosts


def _hosts(leaf: x509.Certificate) -> set[str]:
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    return {str(name.value) for name in names}


def _new_authority(name: str, plan: Json, now: datetime) -> tuple[x509.Certificate, Any]:
    key = ec.generate_private_key(ec.SECP256R1())
    # Each has a name of its own: two of one name and different keys confuse those who look by name.
    subject = _subject(f"{name}-ca-{now:%Y%m%d%H%M%S}")
    ends = now + _duration(plan["authority_duration"])
    builder = _builder(subject, subject, key.public_key(), key.public_key(), (now, ends))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
    builder = builder.add_extension(_key_usage(signs=True), True)
    return builder.sign(key, hashes.SHA256()), key


def _new_leaf(
    authority: tuple[x509.Certificate, Any], wanted: _Wanted, now: datetime
) -> tuple[x509.Certificate, Any]:
    signer, signers_key = authority
    key, plan = ec.generate_private_key(ec.SECP256R1()), wanted.plan
    ends = min(now + _duration(plan["duration"]), signer.not_valid_after_utc)
    names = {True: member_name(plan["name"]), False: f"{plan['name']}-client"}
    public, signers = key.public_key(), signers_key.public_key()
    subject = _subject(names[wanted.is_member])
    builder = _builder(subject, signer.subject, public, signers, (now, ends))
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    builder = builder.add_extension(_key_usage(signs=False), True)
    usages = [ExtendedKeyUsageOID.CLIENT_AUTH]  # members are clients of each other
    if wanted.is_member:
        usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
        hosts: list[x509.GeneralName] = [x509.DNSName(host) for host in plan["hosts"]]
        hosts += [x509.IPAddress(ipaddress.ip_address(each)) for each in plan["addresses"]]
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), False)
    builder = builder.add_extension(x509.ExtendedKeyUsage(usages), False)
    return builder.sign(signers_key, hashes.SHA256()), key


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: Any,
    signers: Any,
    life: tuple[datetime, datetime],
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(life[0] - _SKEW)
        .not_valid_after(life[1])
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signers), False)
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


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _data(certificate: x509.Certificate, key: Any, bundle: list[x509.Certificate]) -> Json:
    encoding, layout = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    content = {
        "ca.crt": b"".join(each.public_bytes(encoding) for each in bundle),
        "tls.crt": certificate.public_bytes(encoding),
        "tls.key": key.private_bytes(encoding, layout, serialization.NoEncryption()),
    }
    return {name: base64.b64encode(value).decode() for name, value in content.items()}


def _duration(text: str) -> timedelta:
    """`720h`, as cert-manager writes it."""
    return timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_certificate_env": etcdcluster_certificate_env,
            "etcdcluster_certificates": etcdcluster_certificates,
            "etcdcluster_others": etcdcluster_others,
            "etcdcluster_tls_arguments": etcdcluster_tls_arguments,
            "etcdcluster_trust": etcdcluster_trust,
            "etcdcluster_trusted": etcdcluster_trusted,
        }
