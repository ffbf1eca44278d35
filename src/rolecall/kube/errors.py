"""What the API server answers when it says no, sorted by what the caller can do about it.

Promise: a message names the verb, the object and the server's own reason, and nothing else of the
answer. Only the `message` of a `Status` is quoted, because that is written for people; any other
body may hold a Secret, or a whole HTML page of some gateway. A `ForbiddenError` carries the missing
rule, so that messages can show the way out.

`NoSuchKindError` is not a `NotFoundError` on purpose: a CR that is gone is forgotten, folder and
all, and that must not happen because its CRD is being replaced or a discovery answer came late.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rolecall.errors import ClusterError
from rolecall.gvk import Gvk
from rolecall.kube.answers import UNREADABLE
from rolecall.kube.resource import Resource


@dataclass(frozen=True, slots=True)
class Target:
    """What a call was about, in the words of RBAC."""

    verb: str
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    path: str = ""  # for what is no resource, such as discovery

    @property
    def rbac_name(self) -> str:
        """`deployments.apps`, `pods/status`: what a rule must list."""
        if self.resource is None:
            return self.path
        sub = f"/{self.subresource}" if self.subresource else ""
        group = f".{self.resource.gvk.group}" if self.resource.gvk.group else ""
        return f"{self.resource.plural}{sub}{group}"

    @property
    def rule(self) -> str:
        """The rule that a role must have for it, in YAML's flow style."""
        if self.resource is None:
            return f'{{nonResourceURLs: ["{self.path}"], verbs: [{self.verb}]}}'
        sub = f"/{self.subresource}" if self.subresource else ""
        return (
            f'{{apiGroups: ["{self.resource.gvk.group}"], resources: [{self.resource.plural}{sub}], '
            f"verbs: [{self.verb}]}}"
        )

    def __str__(self) -> str:
        if self.resource is None:
            return f"{self.verb} `{self.path}`"
        place = "/".join(part for part in (self.namespace, self.name) if part)
        return f"{self.verb} {self.rbac_name}" + (f" `{place}`" if place else "")


class ApiError(ClusterError):
    """The API server answered, and the answer was no."""

    def __init__(
        self, message: str, *, code: int = 0, reason: str = "", target: Target, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.reason = reason
        self.target = target


class NotFoundError(ApiError):
    """There is no such object."""


class ConflictError(ApiError):
    """The object changed since it was read: read it again and decide again."""


class AlreadyExistsError(ConflictError):
    """Another client created the object first."""


class GoneError(ApiError):
    """A `resourceVersion` or a list's `continue` is too old: list again."""


class UnprocessableError(ApiError):
    """The object breaks its schema or a rule of admission; trying again does not help."""


class UnauthorizedError(ApiError):
    """The credentials were refused, also after they had been renewed."""


class ForbiddenError(ApiError):
    """RBAC or admission said no; `rule` is what a role lacks."""

    @property
    def rule(self) -> str:
        """The rule to add to a role."""
        return self.target.rule


class WebhookDownError(ApiError):
    """A webhook that must be asked before the write did not answer; whose it is, the message says."""


class NoSuchKindError(ClusterError):
    """The cluster does not serve this kind, now; it may later."""

    def __init__(self, gvk: Gvk) -> None:
        super().__init__(
            f"the cluster does not serve kind `{gvk.kind}` in `{gvk.api_version}`",
            hint="install its CustomResourceDefinition with `kubectl apply`, or wait for it",
        )
        self.gvk = gvk


class UnavailableError(ClusterError):
    """No answer, or one that asks to come back later; the same call may succeed then."""

    def __init__(
        self, message: str, *, code: int = 0, is_timeout: bool = False, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.is_timeout = is_timeout


class CredentialsError(ClusterError):
    """How to reach the cluster could not be found out."""


class NoClusterNamedError(CredentialsError):
    """No kubeconfig, or one without a current context: no cluster is named at all."""


_BY_CODE: dict[int, type[ApiError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: UnprocessableError,
}
GATEWAY_HINT = (
    "check gateways and proxies between here and the API server: one of them may have answered"
    " instead"
)
_WEBHOOK_DOWN = "failed calling webhook"  # the API server's words; the code is that of any bug
BUSY_CODES = frozenset({429, 502, 503, 504})


def error_for(target: Target, code: int, body: bytes) -> ClusterError:
    status = _status_of(body)
    if code == 404 and status is None and target.resource is not None:
        # Not the object is missing but its whole path: the server has no Status for it.
        return NoSuchKindError(target.resource.gvk)
    return error_from_status(target, code, status or {})


def error_from_status(target: Target, code: int, status: dict[str, Any]) -> ClusterError:
    """Turn a `Status` (an answer's body, or an ERROR event of a watch) into the error it means."""
    reason = str(status.get("reason") or "")
    said = str(status.get("message") or "") or f"the server answered {code}"
    message = f"could not {target}: {said}"
    if code in BUSY_CODES or reason == "Timeout":
        return UnavailableError(message, code=code, is_timeout=code == 504 or reason == "Timeout")
    if code == 409 and reason == "AlreadyExists":
        return AlreadyExistsError(message, code=code, reason=reason, target=target)
    kind = _BY_CODE.get(code, ApiError)
    if code == 500 and _WEBHOOK_DOWN in said:
        kind = WebhookDownError
    hint = missing_rule_hint(target) if kind is ForbiddenError else ""
    return kind(message, code=code, reason=reason, target=target, hint=hint)


def missing_rule_hint(target: Target) -> str:
    """How the operator comes by a right, in words to paste."""
    return f"add `- {target.rule}` to a role in config/rbac, or let `rolecall rbac` write it"


def _status_of(body: bytes) -> dict[str, Any] | None:
    try:
        status = json.loads(body)
    except UNREADABLE:
        return None
    return status if isinstance(status, dict) and status.get("kind") == "Status" else None
