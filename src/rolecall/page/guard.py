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
from rolecall.page.access import AccessReviews, RateLimits, Session, Sessions
from rolecall.page.access.reader import LocalReader, PageReader, Plurals, TokenReader
from rolecall.page.ports import PagePorts

COOKIE = "rolecall_page"
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
        clock: Clock = ports.engine.clock
        self._sessions = Sessions(clock)
        self._reviews = AccessReviews(ports.own, clock)
        self._logins = RateLimits(clock, at_once=10, a_second=1 / 6)
        self._requests = RateLimits(clock, at_once=100, a_second=30)
        self._by_token: dict[bytes, str] = {}  # sessions of forwarders, by a hash of their token

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
        name = request.cookies.get(COOKIE, "")
        session = await self._sessions.find(name) if name else None
        if session is None:
            session, name = await self._by_header(request)
        if session is None:
            return None
        self._requests.take(name)
        return Asker(session.reader, session)

    async def checked(self, request: web.Request, asker: Asker) -> None:
        """Raises `RefusedError` for a change that a page of somebody else's sent."""
        self.check_site(request)
        form = await request.post()
        told = form.get("form_token") or request.headers.get("X-Form-Token") or ""
        if not isinstance(told, str) or not asker.session.has_form_token(told):
            raise RefusedError(403, "This form is not of this session", "Load its page again.")

    @staticmethod
    def check_site(request: web.Request) -> None:
        site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
        is_ours = origin in (None, "null") or urlsplit(origin or "").netloc == request.host
        if site not in (None, "same-origin", "none") or not is_ours:
            raise RefusedError(403, "Another site sent this", "Do it on the page itself.")

    async def log_in(self, request: web.Request, token: str, back: str) -> web.Response:
        """Begin a session; raises `RefusedError`."""
        self._logins.take(request.remote or "")
        session = await self._session_of(token)
        if session is None:
            raise RefusedError(401, "This token is nobody's", "Ask for a new one.")
        return self._with_cookie(redirect(_safe(back)), session)

    async def log_in_here(self, request: web.Request) -> web.Response | None:
        """Whoever has the address that was printed on this machine; None: it has another token."""
        self._logins.take(request.remote or "")
        told = request.query.get("token", "")
        if not self.is_local or not hmac.compare_digest(told.encode(), self._local_token.encode()):
            return None
        session = await self._sessions.begin(LocalReader(self._ports.own))
        return self._with_cookie(redirect(request.path), session)

    async def log_out(self, request: web.Request) -> web.Response:
        await self._sessions.end(request.cookies.get(COOKIE, ""))
        answer = redirect("/login")
        answer.del_cookie(COOKIE)
        return answer

    async def is_still_in(self, asker: Asker) -> bool:
        """Whether he would be let in now; for answers that last."""
        return await self._sessions.is_known(asker.session)

    async def close(self) -> None:
        """End all sessions."""
        await self._sessions.close()

    def _with_cookie(self, answer: web.Response, session: str) -> web.Response:
        answer.set_cookie(
            COOKIE, session, httponly=True, samesite="Strict", secure=self._is_tls, path="/"
        )
        return answer

    async def _by_header(self, request: web.Request) -> tuple[Session | None, str]:
        """The session of a program that sends its token each time, as `rolecall page` does."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        token = token.strip()
        if self.is_local or scheme.lower() != "bearer" or not token:
            return None, ""
        key = hashlib.sha256(token.encode()).digest()
        name = self._by_token.get(key, "")
        if name and (session := await self._sessions.find(name)) is not None:
            return session, name
        self._logins.take(request.remote or "")
        name = await self._session_of(token) or ""
        if not name:
            return None, ""
        if len(self._by_token) > 1000:
            self._by_token.clear()
        self._by_token[key] = name
        return await self._sessions.find(name), name

    async def _session_of(self, token: str) -> str | None:
        if self.is_local or not token or len(token) > _LARGEST_TOKEN:
            return None
        try:
            user = await self._reviews.user_of(token)
        except ClusterError as failure:
            _logger.warning("could not ask whose a token is: %s", failure)
            raise RefusedError(
                503, "The cluster does not say whose this token is", "Try again in a moment."
            ) from failure
        if user is None:
            return None
        plurals: Plurals = self._ports.engine.plurals
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
    """A path of this page; anything else leads to the overview."""
    return back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/"
