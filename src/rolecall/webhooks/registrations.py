"""What the API server is told of our webhooks: the parts of CRDs and webhook configurations.

Every field is written out, defaults too: what the API server answers is then the same as what it was
sent, and a look tells whether somebody changed it.
"""

from __future__ import annotations

from rolecall.admission import Webhook
from rolecall.json_object import Json

CONVERT_PATH = "/convert"


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
