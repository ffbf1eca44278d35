"""How the engine reaches its API server: found once at start, fresh at every request.

Promise: `current()` always describes the files as they are now. Kubernetes rotates a pod's token
about once an hour by swapping a symlink, so the files' stats are compared on each call
(microseconds) rather than trusting a timer. After a 401, `renew()` reads the kubeconfig itself
again and runs the credential plugin again; many callers at once lead to one renewal.

Where to look is the order of controller-runtime: `KUBECONFIG`, then the pod's service account, then
`~/.kube/config`. The environment is passed in, as everywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import ssl
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from yarl import URL

from rolecall.clock import Clock, SystemClock
from rolecall.kube.errors import CredentialsError, NoClusterNamedError
from rolecall.kube.exec_plugin import Issued, run_exec_plugin
from rolecall.kube.kubeconfig import read_kubeconfig
from rolecall.kube.login import Login, as_bearer, headers_of, tls_of, without_token

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
# Short-lived credentials are renewed a little early, so that none dies between us and the server.
_EARLY = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Access:
    """One moment's answer to: where to, with which TLS, saying who we are."""

    server: URL  # with its base path, if any
    headers: Mapping[str, str] = field(repr=False)
    tls: ssl.SSLContext | None
    proxy: URL | None
    login: Login = field(repr=False)  # what this was made from


class _Tls:
    """The TLS settings of logins that differ in their tokens at most, who then share connections."""

    def __init__(self) -> None:
        self._stamp: tuple[object, ...] | None = None
        self._context: ssl.SSLContext | None = None

    def of(self, login: Login) -> ssl.SSLContext | None:
        """Made anew where a file of theirs changed; raises `CredentialsError`."""
        stamp = _stamp_of(without_token(login), login.tls_files)
        if stamp != self._stamp:
            self._context = tls_of(login) if URL(login.server).scheme == "https" else None
            self._stamp = stamp
        return self._context


class Credentials:
    """Logs in, and stays logged in."""

    def __init__(
        self,
        find_login: Callable[[], Login],
        *,
        environ: Mapping[str, str],
        clock: Clock | None = None,
        tls: _Tls | None = None,
    ) -> None:
        self._find_login = find_login
        self._environ = dict(environ)
        self._clock = clock or SystemClock()
        self._login = find_login()
        self._tls, self._tls_of_tokens = tls or _Tls(), _Tls()
        self._stamp: tuple[object, ...] | None = None  # what `_access` was made from
        self._access: Access | None = None
        self._expires: datetime | None = None
        self._renewing = asyncio.Lock()

    @classmethod
    def load(
        cls, environ: Mapping[str, str], *, home: Path | None = None, clock: Clock | None = None
    ) -> Credentials:
        """Find the cluster; raises `CredentialsError` with all places that were looked at."""

        def find_login() -> Login:
            return _find_login(environ, home or Path(environ.get("HOME") or "/"))

        return cls(find_login, environ=environ, clock=clock)

    def copy(self) -> Credentials:
        """The same for another event loop; the two renew themselves independently."""
        return Credentials(self._find_login, environ=self._environ, clock=self._clock)

    def with_token(self, token: str) -> Credentials:
        """The same server, as the user of this token; nothing of our own login goes with it."""

        def find_login() -> Login:
            return as_bearer(self._login, token)  # ours follows its files; to read them takes 10 ms

        tls = self._tls_of_tokens  # never our own: it may have a certificate, which would be us
        return Credentials(find_login, environ=self._environ, clock=self._clock, tls=tls)

    @property
    def server(self) -> URL:
        """The API server's address, with its base path."""
        return URL(self._login.server)

    @property
    def target(self) -> str:
        """Which cluster this is, for people: `context kind-dev, https://127.0.0.1:6443`."""
        where = f"context {self._login.context}" if self._login.context else "of this pod"
        return f"{where}, {self._login.server}"

    @property
    def server_digest(self) -> str:
        """Identifies a server by address and authority; the same file gives the same."""
        login = self._login
        authority = login.ca_data.encode()
        if not authority and login.ca_file is not None:
            with contextlib.suppress(OSError):  # what it lacks is reported when it is used
                authority = login.ca_file.read_bytes()
        return hashlib.sha256(b"\0".join((login.server.encode(), authority))).hexdigest()

    @property
    def namespace(self) -> str:
        """The namespace of the context, or the pod's own."""
        return self._login.namespace

    async def current(self) -> Access:
        """How to reach the server now."""
        if self._access is None or self._is_stale():
            async with self._renewing:
                if self._access is None or self._is_stale():
                    await self._make_access()
        if self._access is None:
            raise CredentialsError("the credentials could not be prepared")
        return self._access

    async def renew(self, refused: Access) -> None:
        """Log in anew, because the server refused `refused`; others may have done so already."""
        async with self._renewing:
            if self._access is not None and self._access is not refused:
                return
            self._login = self._find_login()
            await self._make_access()

    def _is_stale(self) -> bool:
        if self._expires is not None and self._clock.now() >= self._expires - _EARLY:
            return True
        return self._stamp != _stamp_of(self._login, self._login.files)

    async def _make_access(self) -> None:
        stamp = _stamp_of(self._login, self._login.files)
        issued = Issued(self._login, None)
        if self._login.exec_plugin is not None:
            issued = await run_exec_plugin(self._login, self._environ)
        server = URL(self._login.server)
        tls = self._tls.of(issued.login)
        proxy = _proxy_of(self._login, server, self._environ)
        self._access = Access(server, headers_of(issued.login), tls, proxy, issued.login)
        self._stamp, self._expires = stamp, issued.expires


def _find_login(environ: Mapping[str, str], home: Path) -> Login:
    named = environ.get("KUBECONFIG", "")
    if named:
        return read_kubeconfig([Path(part) for part in named.split(os.pathsep) if part])
    in_cluster = _in_cluster(environ)
    if in_cluster is not None:
        return in_cluster
    default = home / ".kube" / "config"
    if not default.exists():
        raise NoClusterNamedError(
            "no cluster was found: KUBECONFIG is not set, not running in a pod,"
            f" and `{default}` does not exist",
            hint="set KUBECONFIG to the file of a cluster",
        )
    return read_kubeconfig([default])


def _in_cluster(environ: Mapping[str, str]) -> Login | None:
    folder = SERVICE_ACCOUNT
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not (folder / "token").exists():
        return None
    namespace_file = folder / "namespace"
    authority = folder / "ca.crt"
    return Login(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        namespace=namespace_file.read_text().strip() if namespace_file.exists() else "default",
        ca_file=authority if authority.exists() else None,
        token_file=folder / "token",
    )


def _stamp_of(login: Login, files: Iterable[Path]) -> tuple[object, ...]:
    stamp: list[object] = [login]
    for path in files:
        try:
            stat = path.stat()
        except OSError:
            stamp.append(None)  # between two versions; reading it will show
        else:
            stamp += [stat.st_mtime_ns, stat.st_ino, stat.st_size]
    return tuple(stamp)


def _proxy_of(login: Login, server: URL, environ: Mapping[str, str]) -> URL | None:
    if login.proxy_url:
        return URL(login.proxy_url)
    lower = {name.lower(): value for name, value in environ.items()}
    proxy = lower.get(f"{server.scheme}_proxy")
    no_proxy = {"no": lower.get("no_proxy", "")}
    # Undocumented, yet the standard library's one reader of NO_PROXY's host patterns.
    bypasses = urllib.request.proxy_bypass_environment  # type: ignore[attr-defined]
    return None if not proxy or bypasses(server.authority, no_proxy) else URL(proxy)
