"""A login: all that a kubeconfig or a pod says about reaching one server, as plain values.

Promise: `Login` is data only; turning it into TLS and headers is done by two functions that read
the files it names afresh each time, so rotated certificates and tokens are seen.

The hard part is that Python's `ssl` reads client certificates from files only: inline ones touch
the disk for a moment, in a file that only we may read and that is gone before the function returns.
"""

from __future__ import annotations

import base64
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rolecall.kube.errors import CredentialsError

_NO_PAIR = "check the kubeconfig: the client certificate does not belong to the key"
_NO_PEM = (
    "check the kubeconfig: certificates and keys must be PEM, in base64 where the name ends"
    " with `-data`"
)


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A program that prints credentials."""

    command: str
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    api_version: str = "client.authentication.k8s.io/v1"
    provide_cluster: bool = False
    install_hint: str = ""
    directory: Path = Path()  # that of its kubeconfig: relative commands start there


@dataclass(frozen=True, slots=True)
class Login:
    """One server and one user. Data in PEM wins over the file of the same thing."""

    server: str
    namespace: str = "default"
    context: str = ""  # of the kubeconfig; empty in a pod
    ca_data: str = ""
    ca_file: Path | None = None
    insecure: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    certificate_data: str = ""
    certificate_file: Path | None = None
    key_data: str = ""
    key_file: Path | None = None
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    username: str = ""
    password: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)  # impersonation
    exec_plugin: ExecPlugin | None = None

    @property
    def tls_files(self) -> tuple[Path, ...]:
        named = (self.ca_file, self.certificate_file, self.key_file)
        return tuple(path for path in named if path is not None)

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file whose change means another way to log in."""
        return (*self.tls_files, self.token_file) if self.token_file else self.tls_files


class _NamedContext(ssl.SSLContext):
    """TLS that can expect the server's certificate to carry another name than its address."""

    server_name = ""

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """Open TLS over memory buffers, as asyncio does, under the configured name if there is one."""
        name = self.server_name or server_hostname
        return super().wrap_bio(incoming, outgoing, server_side, name, session)


def tls_of(login: Login) -> ssl.SSLContext:
    """The TLS settings of a login; reads its files."""
    # Not `create_default_context`: since Python 3.13 it refuses authorities that Go accepts, for what
    # their certificates lack in form. As in Go, a named certificate is trusted, be it a root or not.
    context = _NamedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.server_name = login.tls_server_name
    try:
        _trust(context, login)
        _identify(context, login)
    except (OSError, ValueError) as failure:
        hint = ""
        if isinstance(failure, ssl.SSLError):
            hint = _NO_PAIR if failure.reason == "KEY_VALUES_MISMATCH" else _NO_PEM
        raise CredentialsError(
            f"could not set up TLS for `{login.server}`: {failure}", hint=hint
        ) from failure
    return context


def without_token(login: Login) -> Login:
    """The same login as far as TLS is concerned."""
    return replace(login, token="", token_file=None)


def as_bearer(login: Login, token: str) -> Login:
    """The same server for the user of this token: without certificates, passwords, impersonation."""
    return Login(
        server=login.server,
        namespace=login.namespace,
        context=login.context,
        ca_data=login.ca_data,
        ca_file=login.ca_file,
        insecure=login.insecure,
        tls_server_name=login.tls_server_name,
        proxy_url=login.proxy_url,
        token=token,
    )


def headers_of(login: Login) -> dict[str, str]:
    """The headers that identify us; reads the token's file."""
    headers = dict(login.headers)
    token = login.token
    if login.token_file is not None:
        try:
            token = login.token_file.read_text(encoding="utf-8").strip()
        except OSError as failure:
            raise CredentialsError(f"could not read the token's file: {failure}") from failure
        except UnicodeDecodeError:
            name = login.token_file
            raise CredentialsError(f"the token's file `{name}` is not UTF-8 text") from None
    if token:
        headers["Authorization"] = f"Bearer {token}"
    elif login.username:
        words = f"{login.username}:{login.password}".encode(errors="replace")
        pair = base64.b64encode(words).decode()
        headers["Authorization"] = f"Basic {pair}"
    for header, value in headers.items():
        if not value.isprintable():
            what = "token" if header == "Authorization" else "user to act as"
            raise CredentialsError(
                f"the {what} of the login has characters that no HTTP header can have",
                hint="check the kubeconfig, or the token's file, for line breaks",
            )
    return headers


def _trust(context: ssl.SSLContext, login: Login) -> None:
    if login.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif login.ca_data:
        context.load_verify_locations(cadata=login.ca_data)
    elif login.ca_file is not None:
        context.load_verify_locations(cafile=login.ca_file)
    else:
        context.load_default_certs()


def _identify(context: ssl.SSLContext, login: Login) -> None:
    with tempfile.TemporaryDirectory(prefix="rolecall-tls-") as folder:  # made 0700
        certificate = _as_file(login.certificate_data, login.certificate_file, folder, "crt")
        key = _as_file(login.key_data, login.key_file, folder, "key")
        if certificate is not None:
            context.load_cert_chain(certificate, key, password=_refuse_password)


def _refuse_password() -> str:
    """Else OpenSSL would ask the terminal, and wait."""
    raise ValueError(
        "the client key is encrypted; use one that is not encrypted; kubectl needs that too"
    )


def _as_file(data: str, file: Path | None, folder: str, name: str) -> Path | None:
    if not data:
        return file
    path = Path(folder, name)
    path.touch(mode=0o600)
    path.write_text(data, encoding="ascii")
    return path
