"""What a user may do, asked of the cluster: TokenReview for who, SubjectAccessReview for whether.

Answers are kept for half a minute, so a right that was taken away is gone by then; a cluster that
cannot be asked means no. Tokens are kept nowhere here.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from rolecall.clock import Clock
from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.log_fields import log_fields

_TOKEN_REVIEW = Gvk("authentication.k8s.io", "v1", "TokenReview")
_ACCESS_REVIEW = Gvk("authorization.k8s.io", "v1", "SubjectAccessReview")
_KEPT_S = 30.0
_MOST_KEPT = 20_000
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class User:
    """As TokenReview tells of whoever holds a token."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Json = field(default_factory=dict, compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class Question:
    """May a user do this?"""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""  # empty: in all of them, or of a kind without
    name: str = ""


class Reviews:
    def __init__(self, client: Client, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._kept: OrderedDict[tuple[User, Question], tuple[float, bool]] = OrderedDict()

    async def user_of(self, token: str) -> User | None:
        """Whose token it is; None: nobody's. Raises `ClusterError` where that cannot be asked."""
        status = await self._create(_TOKEN_REVIEW, {"token": token})
        user = status.get("user")
        if status.get("authenticated") is not True or not isinstance(user, dict):
            return None
        groups = tuple(map(str, user.get("groups") or ()))
        extra = user.get("extra")
        name, uid = str(user.get("username") or ""), str(user.get("uid") or "")
        return User(name, uid, groups, extra if isinstance(extra, dict) else {})

    async def allows(self, user: User, question: Question) -> bool:
        """Whether the user may; no, where the cluster does not say."""
        now, key = self._clock.monotonic(), (user, question)
        until, kept = self._kept.get(key, (0.0, False))
        if now < until:
            return kept
        try:
            allowed = await self._ask(user, question)
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

    async def _ask(self, user: User, question: Question) -> bool:
        attributes = {
            "verb": question.verb,
            "group": question.group,
            "resource": question.resource,
            "subresource": question.subresource,
            "namespace": question.namespace,
            "name": question.name,
        }
        spec = {
            "user": user.name,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": user.extra,
            "resourceAttributes": {key: value for key, value in attributes.items() if value},
        }
        return (await self._create(_ACCESS_REVIEW, spec)).get("allowed") is True

    async def _create(self, gvk: Gvk, spec: Json) -> Json:
        body: dict[str, Any] = {
            "apiVersion": gvk.api_version,
            "kind": gvk.kind,
            "metadata": {},
            "spec": spec,
        }
        status = (await self._client.create(gvk, body)).get("status")
        return status if isinstance(status, dict) else {}
