"""What is registered of our webhooks at the API server: the parts of CRDs and webhook configurations.

Every field is written out, defaults too: what the API server answers is then the same as what it was
sent, and a look shows whether a user changed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rolecall.errors import RolecallError
from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.watches import Watch

CONVERT_PATH = "/convert"
# In place of the core group, which has no name.
_CORE = "core"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Which requests are asked about, where, and what happens without an answer."""

    is_mutating: bool
    group: str
    version: str  # that of the watch; objects at others are converted before they are shown
    kind: str
    operations: Sequence[str] = ("CREATE", "UPDATE")
    subresources: Sequence[str] = ()  # `scale`, `status`; the object itself always counts
    failure_policy: str = "Fail"
    timeout_s: int = 10
    match_conditions: Sequence[Mapping[str, str]] = ()  # name and expression, as the API has them
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What users read in a denial: `validate.appoperator.tools.rolecall.dev`."""
        return f"{self._verb}.{self.kind.lower()}.{self.group or _CORE}"

    @property
    def path(self) -> str:
        """Where it is asked: `/validate/tools.rolecall.dev/v1/appoperator`.

        In small letters: behind a Service, the API server takes no others.
        """
        return f"/{self._verb}/{self.group or _CORE}/{self.version}/{self.kind.lower()}"

    @property
    def _verb(self) -> str:
        return "mutate" if self.is_mutating else "validate"


@runtime_checkable
class AsksForReviews(Protocol):
    """Keys of watches.yaml by which the API server asks before it stores objects of their kind."""

    def webhooks(self, gvk: Gvk) -> Iterable[Webhook]: ...


class NoVerdictError(RolecallError):
    """No verdict came about: HTTP 500 with this text, so that `failurePolicy` decides."""


def webhooks_of(watches: Iterable[Watch]) -> list[Webhook]:
    """All that the API server asks; rules alone are its own job."""
    return [
        webhook
        for watch in watches
        for keys in watch.of_extensions
        if isinstance(keys, AsksForReviews)
        for webhook in keys.webhooks(watch.gvk)
    ]


def conversion_of(client_config: Json) -> Json:
    """`spec.conversion` of a CRD. What is null is taken away from what is there."""
    other = {"url": None} if "service" in client_config else {"service": None}
    webhook = {"clientConfig": {**client_config, **other}, "conversionReviewVersions": ["v1"]}
    return {"strategy": "Webhook", "webhook": webhook}


def registration_of(webhook: Webhook, plural: str, client_config: Json, own_user: str) -> Json:
    """One of the `webhooks` of a webhook configuration; our own user's writes are not asked about."""
    rule = {
        "apiGroups": [webhook.group],
        "apiVersions": [webhook.version],
        "operations": list(webhook.operations),
        "resources": [plural, *(f"{plural}/{name}" for name in webhook.subresources)],
        "scope": "*",
    }
    body: Json = {
        "name": webhook.name,
        "clientConfig": client_config,
        "rules": [rule],
        "failurePolicy": webhook.failure_policy,
        "matchPolicy": "Equivalent",
        "namespaceSelector": dict(webhook.namespace_selector),
        "objectSelector": dict(webhook.object_selector),
        "sideEffects": "None",
        "timeoutSeconds": webhook.timeout_s,
        "admissionReviewVersions": ["v1"],
    }
    conditions = [dict(condition) for condition in webhook.match_conditions]
    if own_user:
        conditions.append(not_by(own_user))
    if conditions:
        body["matchConditions"] = conditions
    if webhook.is_mutating:
        body["reinvocationPolicy"] = "Never"
    return body


def not_by(user: str) -> Json:
    """A match condition that leaves this user's writes alone."""
    quoted = user.replace("\\", "\\\\").replace("'", "\\'")
    return {"name": "not-the-operator", "expression": f"request.userInfo.username != '{quoted}'"}


def without_nulls(value: Json) -> Json:
    """What is there after a merge patch with this."""
    return {
        key: without_nulls(each) if isinstance(each, dict) else each
        for key, each in value.items()
        if each is not None
    }
