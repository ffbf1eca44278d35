"""Who may scrape, asked of the cluster: TokenReview for who, SubjectAccessReview for whether.

Answers are kept for a minute under a hash of the token, so that a scraper does not cost two calls each
time and no token stays in memory. A cluster that cannot be asked means no.
"""

from __future__ import annotations

import hashlib
import logging

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.kube import ReviewApi, is_allowed, user_of
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_KEPT_S = 60.0
# More tokens than any cluster has scrapers: more of them come from guesses.
_MOST_KEPT = 256


class Reviewer:
    """Answers with an HTTP code: 200, 401 or 403, or 500 where the cluster did not say."""

    def __init__(self, reviews: ReviewApi, clock: Clock) -> None:
        self._reviews = reviews
        self._clock = clock
        self._kept: dict[tuple[bytes, str], tuple[float, int]] = {}

    async def code_for(self, authorization: str, path: str) -> int:
        """Whether the holder of this `Authorization` header may `get` the path."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip() or not token.isascii():
            return 401
        key = (hashlib.sha256(token.encode()).digest(), path)
        until, code = self._kept.get(key, (0.0, 0))
        if self._clock.monotonic() < until:
            return code
        try:
            code = await self._ask(token.strip(), path)
        except ClusterError as failure:
            _logger.warning(
                "could not check the token of a scrape", extra=log_fields(error=failure.message)
            )
            return 500
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = (self._clock.monotonic() + _KEPT_S, code)
        return code

    async def _ask(self, token: str, path: str) -> int:
        user = await user_of(self._reviews, token)
        if user is None:
            return 401
        wanted = {"path": path, "verb": "get"}
        return 200 if await is_allowed(self._reviews, user, nonResourceAttributes=wanted) else 403
