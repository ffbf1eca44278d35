"""What a user may do, asked of the cluster: TokenReview for who, SubjectAccessReview for whether.

Answers are kept for half a minute, so a right that was taken away is gone by then; a cluster that
cannot be asked means no. The same question is asked once, however many requests wait for it, and a user
costs the API server a limited number of reviews. Tokens are kept nowhere here.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections import OrderedDict
from dataclasses import dataclass

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.extensions.console.page.access.limits import RateLimits
from rolecall.kube import ReviewApi, TokenUser, is_allowed, user_of
from rolecall.log_fields import log_fields

# Of tokens that `rolecall page` asks for: an API server takes none, so a pod can do nothing with it.
PAGE_AUDIENCE = "page.rolecall.dev"
_KEPT_S = 30.0
_MOST_KEPT = 20_000
# Of one user: enough for each kind in each namespace of a large cluster, one page view after the other.
_AT_ONCE, _A_SECOND = 500, 20.0
# Tokens that the cluster is asked about at the same time, for all who are not logged in.
_TOKENS_AT_ONCE = 8
# Of rights, for all who are: each takes a connection, and the engine keeps as many as it took.
_REVIEWS_AT_ONCE = 8
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """May a user do this?"""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""  # empty: in all of them, or of a kind without
    name: str = ""


_Asked = tuple[TokenUser, Question]


def is_for_page_alone(token: str) -> bool:
    """Whether it says that it is for the page; whether that is true, only the cluster knows."""
    payload = token.split(".")[1:2]
    try:
        claims = json.loads(base64.urlsafe_b64decode("".join(payload) + "=="))
    except (ValueError, RecursionError):
        return False
    audiences = claims.get("aud") if isinstance(claims, dict) else None
    return audiences == PAGE_AUDIENCE or (
        isinstance(audiences, list) and PAGE_AUDIENCE in audiences
    )


class AccessReviews:
    def __init__(self, client: ReviewApi, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._kept: OrderedDict[_Asked, tuple[float, bool]] = OrderedDict()
        self._asking: dict[_Asked, asyncio.Future[bool]] = {}
        self._limits = RateLimits(clock, at_once=_AT_ONCE, a_second=_A_SECOND)
        self._tokens = asyncio.Semaphore(_TOKENS_AT_ONCE)
        self._reviewing = asyncio.Semaphore(_REVIEWS_AT_ONCE)

    async def user_of(self, token: str) -> TokenUser | None:
        """Whose token it is; None: it is invalid. Raises `ClusterError` where that cannot be asked."""
        audience = PAGE_AUDIENCE if is_for_page_alone(token) else ""
        async with self._tokens:
            return await user_of(self._client, token, audience)

    async def allows(self, user: TokenUser, question: Question) -> bool:
        """Whether the user may; no, where the cluster does not say. Raises `TooManyError`."""
        now, key = self._clock.monotonic(), (user, question)
        until, kept = self._kept.get(key, (0.0, False))
        if now < until:
            return kept
        if (asking := self._asking.get(key)) is None:
            self._limits.take(user.name)
            asking = self._asking[key] = asyncio.ensure_future(self._asked(key))
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(asking)  # others may wait for it, too

    async def _asked(self, key: _Asked) -> bool:
        now = self._clock.monotonic()
        try:
            async with self._reviewing:
                allowed = await self._ask(*key)
        except ClusterError as failure:
            _logger.warning(
                "could not ask what a reader of the page may see",
                extra=log_fields(error=failure.message, hint=failure.hint),
            )
            return False
        self._kept[key] = (now + _KEPT_S, allowed)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return allowed

    async def _ask(self, user: TokenUser, question: Question) -> bool:
        wanted = {
            "verb": question.verb,
            "group": question.group,
            "resource": question.resource,
            "subresource": question.subresource,
            "namespace": question.namespace,
            "name": question.name,
        }
        attributes = {key: value for key, value in wanted.items() if value}
        return await is_allowed(self._client, user, resourceAttributes=attributes)
