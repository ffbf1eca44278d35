"""One request of a play and all that the proxy's parts ask about it.

Promise: what is sent on is what the play sent, without what belongs to the connection between the play
and us (hop-by-hop headers) and without the play's own `Authorization`: towards the API server, all
plays are the engine. `Impersonate-*` is refused unless `--allow-impersonation` is set; then it is kept,
and RBAC decides. A header that came several times goes on several times: of `Impersonate-Group`, each
is a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy

from rolecall.dry_run import is_dry_run
from rolecall.proxy.following import ExchangeFollower
from rolecall.proxy.request_info import RequestInfo, parse_request_info
from rolecall.proxy.run_credentials import RunCredential

# Those of RFC 9110 plus what only makes sense on the first hop.
_HOP_BY_HOP = frozenset(
    {
        "authorization",
        "connection",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_IMPERSONATING = "impersonate-"
_ENDLESS_SUBRESOURCES = frozenset({"attach", "exec", "log", "portforward", "proxy"})


@dataclass(slots=True, eq=False)
class Exchange:
    request: web.BaseRequest
    credential: RunCredential
    info: RequestInfo
    target: str  # path and query, encoded as they came
    headers: CIMultiDict[str]  # to send on
    at_s: float  # when it came, on the clock that never jumps
    follower: ExchangeFollower | None = None

    @classmethod
    def of(cls, request: web.BaseRequest, credential: RunCredential, at_s: float) -> Exchange:
        """Read what a request is about."""
        url = request.rel_url
        info = parse_request_info(request.method, url.raw_path, url.raw_query_string)
        headers = end_to_end(request.headers)
        exchange = cls(request, credential, info, url.raw_path_qs, headers, at_s)
        exchange.follower = credential.follower.begin(exchange)
        if exchange.follower is not None or info.is_about_secrets:
            # Compressed bytes cannot be searched, and the play is on this machine.
            headers["Accept-Encoding"] = "identity"
        return exchange

    @property
    def method(self) -> str:
        return self.request.method

    @property
    def query(self) -> str:
        return self.request.rel_url.raw_query_string

    @property
    def agent(self) -> str:
        return self.request.headers.get("User-Agent", "")

    @property
    def impersonates(self) -> bool:
        """Whether the play asks to impersonate another user."""
        return any(name.lower().startswith(_IMPERSONATING) for name in self.request.headers)

    @property
    def media_type(self) -> str:
        """The type of the body, without parameters; JSON where none is said, as the server has it."""
        said = self.request.headers.get("Content-Type", "")
        return said.partition(";")[0].strip().lower() or "application/json"

    @property
    def is_endless(self) -> bool:
        """Whether the answer may stay open for hours and every piece of it must pass at once."""
        info = self.info
        return info.verb in {"watch", "proxy"} or info.subresource in _ENDLESS_SUBRESOURCES

    @property
    def is_upgrade(self) -> bool:
        """Whether the connection shall become one of another protocol (exec, port-forward)."""
        headers = self.request.headers
        tokens = headers.get("Connection", "").lower().split(",")
        return "upgrade" in {token.strip() for token in tokens} and "Upgrade" in headers

    def is_dry_run(self, body: object) -> bool:
        """Whether nothing will be kept of a write that was sent with this body."""
        return is_dry_run(self.method, self.query, body)

    def headers_with(self, changes: Mapping[str, str]) -> CIMultiDict[str]:
        """The headers to send on, with these replaced."""
        headers = self.headers.copy()
        headers.update(changes)
        return headers

    def headers_to_read(self, accept: str) -> CIMultiDict[str]:
        """Headers for a read of our own in the play's name."""
        headers = CIMultiDict(
            pair
            for pair in self.headers.items()
            if pair[0].lower().startswith(_IMPERSONATING) or pair[0].lower() == "user-agent"
        )
        headers.update({"Accept": accept, "Accept-Encoding": "identity"})
        return headers


def end_to_end(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """The headers that are meant for the other end."""
    dropped = _HOP_BY_HOP
    if connection := headers.get("Connection"):
        dropped = dropped | {token.strip().lower() for token in connection.split(",")}
    return CIMultiDict(pair for pair in headers.items() if pair[0].lower() not in dropped)
