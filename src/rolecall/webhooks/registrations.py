"""What the API server is told of our webhooks: the parts of CRDs and webhook configurations.

Every field is written out, defaults too: what the API server answers is then the same as what it was
sent, and a look tells whether somebody changed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall.webhooks.read import Admission, AdmissionKeys

CONVERT_PATH = "/convert"
# In place of the core group, which has no name.
_CORE = "core"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Which requests are asked about, where, and what happens where nobody answers."""

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


def webhooks_of(watches: Iterable[Watch]) -> list[Webhook]:
    """One for each `validate` and `mutate` that has a play; rules alone are the API server's job."""
    asked = ((watch, watch.extension(AdmissionKeys)) for watch in watches)
    return [
        _webhook(watch, admission, is_mutating=is_mutating)
        for watch, keys in asked
        if keys is not None
        for admission, _, is_mutating in keys.asked
    ]


def _webhook(watch: Watch, admission: Admission, *, is_mutating: bool) -> Webhook:
    gvk = watch.gvk
    return Webhook(
        is_mutating=is_mutating,
        group=gvk.group,
        version=gvk.version,
        kind=gvk.kind,
        operations=admission.operations,
        subresources=admission.subresources,
        failure_policy=admission.failure_policy,
        timeout_s=admission.timeout_s,
        match_conditions=admission.match_conditions,
        namespace_selector=admission.namespace_selector,
        object_selector=admission.object_selector,
    )


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
