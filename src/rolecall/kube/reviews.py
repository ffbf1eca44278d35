"""Who holds a token and what he may do, asked of the cluster: TokenReview, SubjectAccessReview.

Both raise `ClusterError` where the cluster does not say; what that means is the caller's to decide.
Nothing is kept here, tokens least of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rolecall.gvk import Gvk
from rolecall.json_object import Json

_TOKEN_REVIEW = Gvk("authentication.k8s.io", "v1", "TokenReview")
_ACCESS_REVIEW = Gvk("authorization.k8s.io", "v1", "SubjectAccessReview")


class ReviewApi(Protocol):
    """The call that a review makes; `Client` is the real one."""

    async def create(self, gvk: Gvk, body: Mapping[str, Any]) -> Json: ...


@dataclass(frozen=True, slots=True)
class TokenUser:
    """The user of a token, as TokenReview reports it."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    # Part of who it is: a token may be for less than its user, and says so here.
    extra: Json = field(default_factory=dict, hash=False)


async def user_of(api: ReviewApi, token: str, audience: str = "") -> TokenUser | None:
    """Whose token it is; None: it is invalid, or not for this audience (that of the API server)."""
    audiences = {"audiences": [audience]} if audience else {}
    status = await _answer(api, _TOKEN_REVIEW, {"token": token, **audiences})
    if audience and audience not in (status.get("audiences") or ()):
        return None
    user = status.get("user")
    if status.get("authenticated") is not True or not isinstance(user, dict):
        return None
    extra = user.get("extra")
    return TokenUser(
        str(user.get("username") or ""),
        str(user.get("uid") or ""),
        tuple(map(str, user.get("groups") or ())),
        extra if isinstance(extra, dict) else {},
    )


async def is_allowed(api: ReviewApi, user: TokenUser, **attributes: Mapping[str, str]) -> bool:
    """Whether he may; `resourceAttributes` or `nonResourceAttributes`, as the API has them."""
    spec = {
        "user": user.name,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": user.extra,
        **attributes,
    }
    return (await _answer(api, _ACCESS_REVIEW, spec)).get("allowed") is True


async def _answer(api: ReviewApi, gvk: Gvk, spec: Json) -> Json:
    body = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {}, "spec": spec}
    status = (await api.create(gvk, body)).get("status")
    return status if isinstance(status, dict) else {}
