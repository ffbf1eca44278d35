"""Why TLS with the API server failed, in one line, with the way out.

OpenSSL says `unable to get local issuer certificate`, and Python adds a line of its own source. So the
server is asked once more without verification, only for the message: which names its certificate has,
from when to when it is valid, who signed it, and what time it is there.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from rolecall.kube.credentials import Access
from rolecall.kube.errors import UnavailableError
from rolecall.kube.later import aiohttp, x509
from rolecall.kube.login import Login
from rolecall.kube.peer import Peer, look_at_peer

_SET_CLOCK = "set the clock of this machine"
_SHOWN_NAMES = 8
# OpenSSL's X509_V_ERR_*, which Python does not name.
_NOT_YET_VALID, _EXPIRED = 9, 10
_NO_ISSUER = {2, 7, 18, 19, 20, 21}
_OTHER_NAME = {62, 64}
_INSECURE = (
    "for a test only, `insecure-skip-tls-verify: true` in the kubeconfig turns this check off"
)
# What OpenSSL calls an answer that is no TLS, and what a server says of our own certificate.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
_OURS_REFUSED = (
    "ALERT_HANDSHAKE_FAILURE",  # before TLS 1.3, where none was sent
    "ALERT_CERTIFICATE_",
    "ALERT_BAD_CERTIFICATE",
    "ALERT_UNKNOWN_CA",
    "ALERT_UNSUPPORTED_CERTIFICATE",
)


class TlsError(UnavailableError):
    """One side could not trust the other; time, or a person, may mend it."""


@dataclass(frozen=True, slots=True)
class _Case:
    """Everything that a message is made of."""

    server: str
    name: str  # that the certificate should carry
    login: Login
    peer: Peer
    now: datetime

    @property
    def trusted(self) -> str:
        """Where the trusted authorities are named."""
        if self.login.ca_data:
            return "`certificate-authority-data` of the kubeconfig"
        if self.login.ca_file is not None:
            return f"`{self.login.ca_file}`"
        return "this machine's list of authorities (no `certificate-authority` is named)"


async def tls_error_for(failure: Exception, access: Access, now: datetime) -> TlsError | None:
    """The error that says what is wrong; None where it is no matter of trust."""
    if isinstance(failure, aiohttp.ClientConnectorCertificateError):
        refused = failure.certificate_error
        if isinstance(refused, ssl.SSLCertVerificationError):
            return await _server_refused(refused, access, now)
    # aiohttp's own errors are `ssl.SSLError`s too, but without a reason.
    reasons = (getattr(each, "reason", None) for each in _causes(failure))
    reason = next((str(each) for each in reasons if each), "")
    server = f"`{access.server}`"
    if reason in _NO_TLS:
        return TlsError(
            f"could not speak TLS with {server}: the server there does not use TLS",
            hint="check `server` in the kubeconfig: the port, and `http://` or `https://`",
        )
    if reason and any(each in reason for each in _OURS_REFUSED):
        return TlsError(
            f"could not log in to {server}: it refused the client certificate, or requires one"
            f" ({reason.lower()})",
            hint=fault_of_own_certificate(access.login, now)
            or "get the kubeconfig again: this one may be of an earlier cluster",
        )
    return None


def fault_of_own_certificate(login: Login, now: datetime) -> str:
    """What is wrong with the client certificate of a login, as a way out; empty: nothing, or none."""
    try:
        pem = login.certificate_data.encode()
        if not pem and login.certificate_file is not None:
            pem = login.certificate_file.read_bytes()
        certificate = x509.load_pem_x509_certificate(pem)
    except (OSError, ValueError):
        return ""
    if now > certificate.not_valid_after_utc:
        return f"renew the client certificate, which expired on {_day(certificate.not_valid_after_utc)}"
    if now < certificate.not_valid_before_utc:
        begins = _day(certificate.not_valid_before_utc)
        return f"the client certificate is valid from {begins} on: is the clock of this machine behind?"
    return ""


def lack_of_credentials(login: Login) -> str:
    """The way out for a login that proves no identity; empty: it has something to prove one."""
    proofs = (
        *(login.token, login.token_file, login.username, login.exec_plugin),
        *(login.certificate_data, login.certificate_file),
    )
    if any(proofs):
        return ""
    where = f"context `{login.context}`" if login.context else "this login"
    return (
        f"{where} has no credentials: give its user in the kubeconfig a token, a client certificate"
        " or an exec plugin"
    )


async def _server_refused(
    failure: ssl.SSLCertVerificationError, access: Access, now: datetime
) -> TlsError:
    name = access.login.tls_server_name or access.server.host or ""
    peer = Peer() if access.proxy is not None else await look_at_peer(access.server, name)
    case = _Case(str(access.server), name, access.login, peer, now)
    if failure.verify_code in (_NOT_YET_VALID, _EXPIRED):
        what, hint = _of_dates(case, is_expired=failure.verify_code == _EXPIRED)
    elif failure.verify_code in _OTHER_NAME:
        what, hint = _of_names(case)
    elif failure.verify_code in _NO_ISSUER:
        what, hint = _of_issuers(case)
    else:
        what, hint = f"its certificate was refused: {failure.verify_message}", _INSECURE
    return TlsError(f"could not trust the API server `{case.server}`: {what}", hint=hint)


def _of_dates(case: _Case, *, is_expired: bool) -> tuple[str, str]:
    # No text changes with the minute: the same trouble is logged once.
    word = "has expired" if is_expired else "is not valid yet"
    theirs, ours = case.peer.time, case.now
    bad = next((each for each in case.peer.chain if not _is_valid(each, ours)), None)
    if theirs is not None and (bad is None or _is_valid(bad, theirs)):
        off = _spelled(theirs - ours)
        return (
            f"its certificate {word} by the clock of this machine, which is {off} its own",
            _SET_CLOCK,
        )
    if bad is None:
        return f"its certificate {word}", f"renew it there, or {_SET_CLOCK}"
    whose = "its certificate" if bad is case.peer.chain[0] else f"`{_subject(bad)}` in its chain"
    if is_expired:
        return (
            f"{whose} expired on {_day(bad.not_valid_after_utc)}",
            f"renew it there, or {_SET_CLOCK} if that is ahead",
        )
    begins = f"{bad.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
    return f"{whose} is valid from {begins} on", f"{_SET_CLOCK} if that is behind"


def _spelled(late: timedelta) -> str:
    """How far off we are; at least a minute."""
    how = "behind" if late > timedelta() else "ahead of"
    minutes = max(1, round(abs(late).total_seconds() / 60))
    for unit, size in (("days", 1440), ("hours", 60)):
        if minutes >= 2 * size:
            return f"{minutes // size} {unit} {how}"
    return f"{minutes} minutes {how}"


def _of_names(case: _Case) -> tuple[str, str]:
    names = case.peer.names
    if not names:
        return (
            f"its certificate is not for `{case.name}`",
            "the server needs a certificate with that name (subjectAltName), or set `tls-server-name`"
            " in the kubeconfig",
        )
    listed = ", ".join(f"`{name}`" for name in names[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return (
        f"its certificate is for {listed}{more}, not for `{case.name}`",
        f"use one of these names in `server`, or set `tls-server-name: {names[0]}` in the kubeconfig",
    )


def _of_issuers(case: _Case) -> tuple[str, str]:
    if not case.peer.chain:
        return f"no authority in {case.trusted} signed its certificate", _INSECURE
    last = case.peer.last
    if last.issuer == last.subject:
        what = "its certificate is self-signed, and"
        if last is not case.peer.chain[0]:
            what = f"its certificate comes from the authority `{_subject(last)}`, which"
        what = f"{what} is not in {case.trusted}"
        return what, _name_authority(case.login)
    issuer = _text(last.issuer)
    if last.issuer in _subjects(case.login):
        return (
            f"its certificate is signed by another `{issuer}` than the one in {case.trusted}",
            "get the kubeconfig again: this one may be of an earlier cluster",
        )
    return (
        f"its chain ends with a certificate signed by `{issuer}`, which neither the server sent nor"
        f" {case.trusted} holds",
        f"let the server send its whole chain, or trust `{issuer}`: {_name_authority(case.login)}",
    )


def _name_authority(login: Login) -> str:
    place = (
        f"`{login.ca_file}`" if login.ca_file else "`certificate-authority-data` in the kubeconfig"
    )
    return f"put the authority's certificate into {place}; {_INSECURE}"


def _subjects(login: Login) -> set[x509.Name]:
    try:
        pem = login.ca_data.encode()
        if not pem and login.ca_file is not None:
            pem = login.ca_file.read_bytes()
        return {each.subject for each in x509.load_pem_x509_certificates(pem)} if pem else set()
    except (OSError, ValueError):
        return set()


def _causes(failure: BaseException | None) -> Iterable[BaseException]:
    while failure is not None:
        yield failure
        failure = getattr(failure, "os_error", None) or failure.__cause__ or failure.__context__


def _is_valid(certificate: x509.Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc


def _subject(certificate: x509.Certificate) -> str:
    return _text(certificate.subject)


def _text(name: x509.Name) -> str:
    return name.rfc4514_string()


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
