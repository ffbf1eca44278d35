"""Decides which certificates are renewed, when, and by which issuer, so that no client is shut out.

A server reads its own certificate anew for each connection, but the authorities that it trusts often only
when it starts. So a new authority is first trusted by all, beside the old one, and signs only then: at no
moment does one show what another does not know. The same holds where an issuer such as cert-manager signs.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from datetime import datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Json = dict[str, Any]

_SKEW = timedelta(minutes=5)  # clocks of nodes differ a little
_AUTHORITY_RESERVE = 5  # a new authority comes when this part of the old one's life is left
_UNITS = {"s": 1, "m": 60, "h": 3600}
_USAGES = {"client": ExtendedKeyUsageOID.CLIENT_AUTH, "server": ExtendedKeyUsageOID.SERVER_AUTH}


def certificates(found: list[Json], plan: Json, trusted: list[str], at: str) -> Json:
    """What to write, as `{secrets: {name: data}, trust, until, authorityUntil}`; no secrets mostly.

    `found` are the Secrets that there are; `trusted` says of each server which authorities it started
    with, or "" while that is not known. Missing or unreadable Secrets are made anew.
    """
    now = datetime.fromisoformat(at)
    data = {secret["metadata"]["name"]: secret.get("data") or {} for secret in found}
    return (_signed if plan.get("authority") else _handed_on)(data, plan, trusted, now)


def _signed(data: Json, plan: Json, trusted: list[str], now: datetime) -> Json:
    """By an authority of our own."""
    secret = plan["authority"]["secret"]
    known = data.get(secret, {})
    authority = _authority(known, plan["authority"], now) or _new_authority(plan["authority"], now)
    bundle = _bundle([authority[0]], _trusted_before(data, plan, known), now)
    trust = _trust(bundle)
    may_sign = all(each == trust for each in trusted)
    wanted = {secret: _data(*authority, bundle)}
    for each in plan["leaves"]:
        leaf = _leaf(data.get(each["secret"], {}))
        if leaf is None or _is_due(leaf[0], authority[0], may_sign, now, {**plan, **each}):
            leaf = _new_leaf(authority, {**plan, **each}, now)
        wanted[each["secret"]] = _data(*leaf, bundle)
    return _result(data, wanted, plan, trust, authority[0].not_valid_after_utc)


def _handed_on(data: Json, plan: Json, trusted: list[str], now: datetime) -> Json:
    """From the Secrets that an issuer fills; what there is stays until it has filled them all."""
    issued = [data.get(each["issued"], {}) for each in plan["leaves"]]
    authorities = [each for one in issued for each in _readable(one.get("ca.crt", ""))]
    is_complete = authorities and all(_leaf(one) for one in issued)
    before = _trusted_before(data, plan, {})
    if not is_complete:
        is_there = before and all(_leaf(data.get(each["secret"], {})) for each in plan["leaves"])
        if not is_there:
            return {"secrets": {}, "trust": "", "until": "", "authorityUntil": ""}
        wanted = {each["secret"]: data[each["secret"]] for each in plan["leaves"]}
        ends = min(each.not_valid_after_utc for each in before)
        return _result(data, wanted, plan, _trust(before), ends)
    bundle = _bundle(list(dict.fromkeys(authorities)), before, now)
    trust = _trust(bundle)
    may_show = all(each == trust for each in trusted)
    wanted = {}
    for each, new in zip(plan["leaves"], issued):
        shown = data.get(each["secret"], {})
        if may_show or _may_replace(shown, new, authorities, now):
            shown = new
        pair = {key: shown[key] for key in ("tls.crt", "tls.key")}
        wanted[each["secret"]] = {"ca.crt": _pems(bundle), **pair}
    ends = min(each.not_valid_after_utc for each in authorities)
    return _result(data, wanted, plan, trust, ends)


def _may_replace(
    shown: Json, new: Json, authorities: list[x509.Certificate], now: datetime
) -> bool:
    """Whether the issuer's certificate may be shown though not all trust its authority for sure.

    It is of the one that is trusted already, or the certificate that is shown now has expired.
    """
    leaf, following = _leaf(shown), _leaf(new)
    if leaf is None or following is None or now >= leaf[0].not_valid_after_utc:
        return True
    keys = [_signers_key(each[0]) for each in (leaf, following)]
    is_same = leaf[0].issuer == following[0].issuer and keys[0] is not None and keys[0] == keys[1]
    return is_same or any(_is_signed(leaf[0], each) for each in authorities)


def _signers_key(leaf: x509.Certificate) -> bytes | None:
    try:
        kind = x509.AuthorityKeyIdentifier
        return leaf.extensions.get_extension_for_class(kind).value.key_identifier
    except x509.ExtensionNotFound:
        return None


def _is_signed(leaf: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(authority)
    except Exception:  # of another name, of another key: it says so in many ways
        return False
    return True


def _trusted_before(data: Json, plan: Json, known: Json) -> list[x509.Certificate]:
    """Those of the authority's Secret, or else of the first that is shown."""
    first: Json = data.get(plan["leaves"][0]["secret"], {})
    return _readable(known.get("ca.crt") or first.get("ca.crt", ""))


def _result(data: Json, wanted: Json, plan: Json, trust: str, ends: datetime) -> Json:
    shown = [_certificate(wanted[each["secret"]]) for each in plan["leaves"]]
    return {
        "secrets": {key: new for key, new in wanted.items() if data.get(key) != new},
        "trust": trust,
        "until": _text(min(each.not_valid_after_utc for each in shown)),
        "authorityUntil": _text(ends),
    }


def _authority(known: Json, plan: Json, now: datetime) -> tuple[x509.Certificate, Any] | None:
    found = _leaf(known)
    if found is None:
        return None
    reserve = _duration(plan["duration"]) / _AUTHORITY_RESERVE
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
    authorities: list[x509.Certificate], old: list[x509.Certificate], now: datetime
) -> list[x509.Certificate]:
    """The authorities that sign, then those of before that are still in force."""
    kept = [each for each in old if each not in authorities and each.not_valid_after_utc > now]
    return [*authorities, *kept]


def _trust(bundle: list[x509.Certificate]) -> str:
    """Names a set of authorities, in any order."""
    prints = sorted(each.fingerprint(hashes.SHA256()) for each in bundle)
    return hashlib.sha256(b"".join(prints)).hexdigest()[:16]


def _is_due(
    leaf: x509.Certificate, authority: x509.Certificate, may_sign: bool, now: datetime, plan: Json
) -> bool:
    """Of the same authority: near its end, or for other names. Of another: once all trust the new.

    One that has expired is of no use, so any successor is better.
    """
    if now >= leaf.not_valid_after_utc:
        return True
    if not _is_signed(leaf, authority):
        return may_sign
    life = leaf.not_valid_after_utc - leaf.not_valid_before_utc
    # One whose life was cut to its authority's must not be made anew in each run.
    reserve = min(_duration(plan["rotate_before"]), life * 0.9)
    wanted = {*plan.get("hosts", []), *plan.get("addresses", [])}
    return now >= leaf.not_valid_after_utc - reserve or _hosts(leaf) != wanted


def _hosts(leaf: x509.Certificate) -> set[str]:
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    return {str(name.value) for name in names}


def _new_authority(plan: Json, now: datetime) -> tuple[x509.Certificate, Any]:
    key = ec.generate_private_key(ec.SECP256R1())
    # Each has a name of its own: two of one name and different keys confuse those who look by name.
    subject = _subject(f"{plan['secret']}-{now:%Y%m%d%H%M%S}")
    ends = now + _duration(plan["duration"])
    builder = _builder(subject, subject, key.public_key(), key.public_key(), (now, ends))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
    builder = builder.add_extension(_key_usage(signs=True), True)
    return builder.sign(key, hashes.SHA256()), key


def _new_leaf(
    authority: tuple[x509.Certificate, Any], plan: Json, now: datetime
) -> tuple[x509.Certificate, Any]:
    signer, signers_key = authority
    key = ec.generate_private_key(ec.SECP256R1())
    ends = min(now + _duration(plan["duration"]), signer.not_valid_after_utc)
    public, signers = key.public_key(), signers_key.public_key()
    subject = _subject(plan["common_name"])
    builder = _builder(subject, signer.subject, public, signers, (now, ends))
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    builder = builder.add_extension(_key_usage(signs=False), True)
    hosts: list[x509.GeneralName] = [x509.DNSName(host) for host in plan.get("hosts", [])]
    hosts += [x509.IPAddress(ipaddress.ip_address(each)) for each in plan.get("addresses", [])]
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), False)
    usages = x509.ExtendedKeyUsage([_USAGES[each] for each in plan["usages"]])
    builder = builder.add_extension(usages, False)
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


# Also in `rolecall.certificates`: a collection works without the engine, which in turn imports none.
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
        "tls.crt": certificate.public_bytes(encoding),
        "tls.key": key.private_bytes(encoding, layout, serialization.NoEncryption()),
    }
    coded = {name: base64.b64encode(value).decode() for name, value in content.items()}
    return {"ca.crt": _pems(bundle), **coded}


def _pems(bundle: list[x509.Certificate]) -> str:
    encoding = serialization.Encoding.PEM
    return base64.b64encode(b"".join(each.public_bytes(encoding) for each in bundle)).decode()


def _duration(text: str) -> timedelta:
    """`720h`, as cert-manager writes it."""
    return timedelta(seconds=int(text[:-1]) * _UNITS[text[-1]])


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
