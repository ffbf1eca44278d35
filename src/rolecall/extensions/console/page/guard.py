"""What every request passes before a handler sees it: limits, who asks, and what a browser may do
with it.

A change needs the session's form token, and where the browser says from which site it comes, ours.
The headers allow scripts and styles of this page alone, nothing inline, and no frame around it.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from aiohttp import web

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.extensions.console.page.access import (
    AccessReviews,
    RateLimits,
    ReviewedClient,
    Session,
    Sessions,
    TokenSessions,
    is_for_page_alone,
)
from rolecall.extensions.console.page.access.reader import (
    LocalReader,
    PageReader,
    Plurals,
    ReaderClient,
    TokenReader,
)
from rolecall.extensions.console.page.answers import form_of
from rolecall.extensions.console.page.ports import PagePorts

_COOKIE = "rolecall_page"
_HEADERS = {
    "Server": "rolecall",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_LARGEST_TOKEN = 16_384

_logger = logging.getLogger(__name__)


class RefusedError(Exception):
    """A request that is answered with a page that says why not, and the way out."""

    def __init__(self, code: int, what: str, way_out: str) -> None:
        super().__init__(what)
        self.code, self.what, self.way_out = code, what, way_out


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, with the session where there is one."""

    reader: PageReader
    session: Session


PageHandler = Callable[[web.Request, Asker], Awaitable[web.StreamResponse]]


class Guard:
    def __init__(self, ports: PagePorts, *, local_token: str, is_tls: bool) -> None:
        self._ports, self._local_token, self._is_tls = ports, local_token, is_tls
        # With this prefix, a browser takes it from this host alone, and over TLS.
        self._cookie = f"__Host-{_COOKIE}" if is_tls else _COOKIE
        clock: Clock = ports.engine.clock
        self._sessions = Sessions(clock)
        self._reviews = AccessReviews(ports.own, clock)
        # Failures alone, and of each token by itself: who shares an address shares no limit.
        self._failures = RateLimits(clock, at_once=10, a_second=1 / 6)
        self._requests = RateLimits(clock, at_once=100, a_second=30)
        self._by_token = TokenSessions(self._sessions)

    @property
    def is_local(self) -> bool:
        return bool(self._local_token)

    @staticmethod
    def headers(response: web.StreamResponse) -> None:
        """What a browser may do with it."""
        response.headers.update(_HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")

    async def asker(self, request: web.Request) -> Asker | None:
        """Who asks; None: he has to log in."""
        name = request.cookies.get(self._cookie, "")
        session = await self._sessions.find(name) if name else None
        if session is None:
            session, name = await self._by_header(request)
        if session is None:
            return None
        self._requests.take(name)
        return Asker(session.reader, session)

    async def checked(self, request: web.Request, asker: Asker) -> None:
        """Raises `RefusedError` for a change that a page of another site sent."""
        self.check_site(request)
        form = await form_of(request)
        sent = form.get("form_token") or request.headers.get("X-Form-Token") or ""
        if not asker.session.has_form_token(sent):
            raise RefusedError(403, "This form is from another session", "Reload its page.")

    @staticmethod
    def check_site(request: web.Request) -> None:
        site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
        is_ours = origin in (None, "null") or _host_of(origin) == request.host
        if site not in (None, "same-origin", "none") or not is_ours:
            raise RefusedError(
                403, "This request came from another site", "Do it on the page itself."
            )

    async def log_in(self, request: web.Request, token: str, back: str) -> web.Response:
        """Begin a session; raises `RefusedError`."""
        session = await self._limited_session_of(request, token)
        if session is None:
            raise RefusedError(401, "Invalid token", "Ask for a new one.")
        return self._with_cookie(redirect(_safe(back)), session)

    async def log_in_here(self, request: web.Request) -> web.Response | None:
        """Log in with the address that was printed on this machine; None: its token is invalid."""
        if not self.is_local:
            return None
        sent = request.query.get("token", "").encode(errors="replace")
        if not hmac.compare_digest(sent, self._local_token.encode()):
            # Failures alone count: pages of others can send the browser here, too.
            self._failures.take(request.remote or "")
            return None
        session = await self._sessions.begin(LocalReader(self._ports.own))
        rest = [(name, value) for name, value in request.query.items() if name != "token"]
        return self._with_cookie(redirect(_safe(str(request.rel_url.with_query(rest)))), session)

    async def log_out(self, request: web.Request) -> web.Response:
        await self._sessions.end(request.cookies.get(self._cookie, ""))
        answer = redirect("/login")
        answer.del_cookie(self._cookie, path="/", secure=self._is_tls)
        return answer

    async def is_still_in(self, asker: Asker) -> bool:
        """Whether he would be let in now; for answers that last."""
        return await self._sessions.is_known(asker.session)

    async def close(self) -> None:
        """End all sessions."""
        await self._sessions.close()

    def _with_cookie(self, answer: web.Response, session: str) -> web.Response:
        answer.set_cookie(
            self._cookie, session, httponly=True, samesite="Strict", secure=self._is_tls, path="/"
        )
        return answer

    async def _by_header(self, request: web.Request) -> tuple[Session | None, str]:
        """The session of a program that sends its token each time, as `rolecall page` does."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        token = token.strip()
        if self.is_local or scheme.lower() != "bearer" or not _can_be_token(token):
            return None, ""

        async def log_in(token: str) -> str | None:
            return await self._limited_session_of(request, token)

        name, session = await self._by_token.of(token, log_in) or ("", None)
        return session, name

    async def _limited_session_of(self, request: web.Request, token: str) -> str | None:
        asker = f"{request.remote} {hashlib.sha256(token.encode()).hexdigest()}"
        self._failures.check(asker)
        session = await self._session_of(token)
        if session is None:
            self._failures.take(asker)
        return session

    async def _session_of(self, token: str) -> str | None:
        if self.is_local or not _can_be_token(token):
            return None
        try:
            user = await self._reviews.user_of(token)
        except ClusterError as failure:
            _logger.warning("could not ask whose a token is: %s", failure)
            raise RefusedError(
                503, "The API server did not review this token", "Try again in a moment."
            ) from failure
        if user is None:
            return None
        plurals: Plurals = self._ports.engine.plurals
        client: ReaderClient
        if is_for_page_alone(token):
            client = ReviewedClient(self._ports.own, user, self._reviews)
        else:
            client = self._ports.client_as(token)
        reader = TokenReader(user, token, client, self._reviews, plurals)
        return await self._sessions.begin(reader)


def redirect(to: str) -> web.Response:
    """To another page, by GET."""
    return web.Response(status=303, headers={"Location": to})


def login_of(request: web.Request) -> str:
    """Where to log in, and to come back from there."""
    return f"/login?back={quote(request.path_qs, safe='')}"


def _safe(back: str) -> str:
    """A path of this page; anything else leads to the overview.

    Browsers skip tabs and line ends in an address, and take `\\` for `/`.
    """
    is_path = back.startswith("/") and not back.startswith("//") and "\\" not in back
    return back if is_path and _is_visible_ascii(back) else "/"


def _can_be_token(text: str) -> bool:
    return 0 < len(text) <= _LARGEST_TOKEN and _is_visible_ascii(text)


def _is_visible_ascii(text: str) -> bool:
    """What may stand in a header as it is."""
    return text.isascii() and text.isprintable() and " " not in text


def _host_of(origin: str | None) -> str | None:
    """With its port; None: it is no address."""
    try:
        return urlsplit(origin or "").netloc or None
    except ValueError:
        return None
