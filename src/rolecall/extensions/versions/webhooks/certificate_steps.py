"""What the Secret with our certificate should hold next, after what it holds now.

    ca.crt, ca.key            the authority that signs, and after it the one that signed before
    next-ca.crt, next-ca.key  the authority that will sign
    tls.crt, tls.key          what servers show, always signed by `ca.key`
    trusted.crt               the authorities that all registrations at the API server contain

A new authority waits as the next one until `trusted.crt` contains it, and signs only then. So each step
may be the last one for a while, and any replica may do it: after every step, servers show a certificate
that the API server trusts. The registrations contain only authorities: a renewal of the server's
certificate needs no new registration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from rolecall.certificates import Holder, PemPair, issue

TRUSTED = "trusted.crt"
_AUTHORITY_LIFE = timedelta(days=3650)
_SERVER_LIFE = timedelta(days=90)
_PAIRS = ("ca", "next-ca", "tls")
KEYS = (*(f"{name}.{end}" for name in _PAIRS for end in ("crt", "key")), TRUSTED)

Content = Mapping[str, bytes]


def next_content(
    content: Content, names: Sequence[str], now: datetime, *, is_asked: bool = False
) -> dict[str, bytes]:
    """The same if there is nothing to do; `is_asked`: the user requested a new authority."""
    signing, coming = _pair(content, "ca", now), _pair(content, "next-ca", now)
    before = certificates(content.get("ca.crt", b""))
    former = [each for each in before[1:] if not is_over(each, now)][:1]
    if coming is not None and coming.certificate in certificates(content.get(TRUSTED, b"")):
        former = [signing.certificate] if signing else former
        signing, coming = coming, None
    elif signing is None:
        former = [each for each in before if not is_over(each, now)][:1]
        signing, coming = coming or new_authority(now), None
    elif coming is None and (is_asked or signing.is_late(now)):
        coming = new_authority(now)
    server = _pair(content, "tls", now)
    if server is None or not _fits(server, signing, names, now):
        server = new_server(signing, _joined(names, server), now)
    result = {TRUSTED: content[TRUSTED]} if TRUSTED in content else {}
    signing = PemPair(signing.certificate + b"".join(former), signing.key)
    for name, pair in (("ca", signing), ("next-ca", coming), ("tls", server)):
        if pair is not None:
            result |= {f"{name}.crt": pair.certificate, f"{name}.key": pair.key}
    return result


def new_authority(now: datetime) -> PemPair:
    return issue(Holder("rolecall webhooks"), now, _AUTHORITY_LIFE)


def new_server(authority: PemPair, names: Sequence[str], now: datetime) -> PemPair:
    """A certificate for these names, signed by the authority."""
    return issue(Holder(names[0][:64], hosts=names), now, _SERVER_LIFE, authority)


def to_trust(content: Content) -> bytes:
    """The authorities to register at the API server: the current, the next and the former one."""
    return content.get("ca.crt", b"") + content.get("next-ca.crt", b"")


def may_be_shown(content: Content, shown: bytes, now: datetime) -> bool:
    """Whether servers may replace the certificate that they show by `tls.crt`.

    They may if its authority is registered at the API server, if that authority also signed the shown
    certificate, or if the shown certificate is missing or expired.
    """
    if not shown or is_over(shown, now):
        return True
    (signing, *_) = certificates(content.get("ca.crt", b"")) or [b""]
    if signing in certificates(content.get(TRUSTED, b"")):
        return True
    return bool(signing) and PemPair(shown, b"").is_signed_by(PemPair(signing, b""))


def is_over(certificate: bytes, now: datetime) -> bool:
    """Whether a certificate has ended, or cannot be read."""
    try:
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc <= now
    except ValueError:
        return True


def certificates(bundle: bytes) -> list[bytes]:
    """Each certificate of a bundle by itself; whatever cannot be read is left out."""
    found = []
    for part in bundle.split(b"-----BEGIN CERTIFICATE-----")[1:]:
        try:
            loaded = x509.load_pem_x509_certificate(b"-----BEGIN CERTIFICATE-----" + part)
        except ValueError:
            continue
        found.append(loaded.public_bytes(serialization.Encoding.PEM))
    return found


def _pair(content: Content, name: str, now: datetime) -> PemPair | None:
    """A valid certificate and its key; None if they are missing, expired or corrupt."""
    found = certificates(content.get(f"{name}.crt", b""))[:1]
    if not found or is_over(found[0], now):
        return None
    pair = PemPair(found[0], content.get(f"{name}.key", b""))
    return pair if pair.belongs_together else None


def _fits(server: PemPair, signing: PemPair, names: Sequence[str], now: datetime) -> bool:
    is_known = set(names) <= set(server.names)
    return is_known and not server.is_late(now) and server.is_signed_by(signing)


def _joined(names: Sequence[str], server: PemPair | None) -> list[str]:
    """Replicas of two versions may want different names: neither takes the other's away."""
    others = [name for name in (server.names if server else []) if name not in names]
    return [*names, *others][:16]
