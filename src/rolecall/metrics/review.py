"""Who may scrape, asked of the cluster: TokenReview for who, SubjectAccessReview for whether.

Answers are kept for a minute under a hash of the token, so that a scraper does not cost two calls each
time and no token stays in memory. A cluster that cannot be asked means no.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from typing import Any, Protocol

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.log_fields import log_fields

_logger = logging.getLogger(__name__)
_TOKEN_REVIEW = Gvk("authentication.k8s.io", "v1", "TokenReview")
_ACCESS_REVIEW = Gvk("authorization.k8s.io", "v1", "SubjectAccessReview")
_KEPT_S = 60.0
# More tokens than any cluster has scrapers: beyond, somebody is guessing.
_MOST_KEPT = 256


class Reviews(Protocol):
    """The call that a review makes; `kube.Client` is the real one."""

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json: ...


class Reviewer:
    """Answers with an HTTP code: 200, 401 or 403, or 500 where the cluster did not say."""

    def __init__(self, reviews: Reviews, clock: Clock) -> None:
        self._reviews = reviews
        self._clock = clock
        self._kept: dict[tuple[bytes, str], tuple[float, int]] = {}

    async def code_for(self, authorization: str, path: str) -> int:
        """Whether the holder of this `Authorization` header may `get` the path."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
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
        who = await self._create(_TOKEN_REVIEW, {"token": token})
        if who.get("authenticated") is not True:
            return 401
        user = who.get("user")
        if not isinstance(user, dict):
            return 401
        spec = {
            "user": user.get("username", ""),
            "uid": user.get("uid", ""),
            "groups": user.get("groups") or [],
            "extra": user.get("extra") or {},
            "nonResourceAttributes": {"path": path, "verb": "get"},
        }
        answer = await self._create(_ACCESS_REVIEW, spec)
        return 200 if answer.get("allowed") is True else 403

    async def _create(self, gvk: Gvk, spec: Json) -> Json:
        body = {
            "apiVersion": gvk.api_version,
            "kind": gvk.kind,
            "metadata": {},
            "spec": spec,
        }
        status = (await self._reviews.create(gvk, body)).get("status")
        return status if isinstance(status, dict) else {}
