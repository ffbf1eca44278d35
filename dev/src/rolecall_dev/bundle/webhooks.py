"""Webhooks in a bundle: OLM makes Service, certificate and configurations from the CSV.

What config/webhooks has for clusters without OLM is therefore left out. OLM chooses the namespaces that
a webhook is asked about, and knows no match conditions; policies it does not take at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rolecall.errors import InputError
from rolecall.json_object import Json
from rolecall.webhooks import Webhook
from rolecall_dev.bundle.manifests import Manifests, name_of

_SERVICE_VARIABLE = "ROLECALL_WEBHOOK_SERVICE"
_SERVICE_PORT, _SERVER_PORT = 443, 9443
_TYPES = ("ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook")
_POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


def leave_to_olm(manifests: Manifests) -> None:
    """Take out what config/webhooks brought, but the patches of CRDs and of the Deployment's port."""
    names = set()
    for deployment in manifests.deployments:
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            env = container.get("env") or []
            names |= {row.get("value") for row in env if row["name"] == _SERVICE_VARIABLE}
            container["env"] = [row for row in env if row["name"] != _SERVICE_VARIABLE]
    manifests.others = [
        it for it in manifests.others if it["kind"] not in _POLICIES and name_of(it) not in names
    ]
    manifests.rbac = [it for it in manifests.rbac if name_of(it) not in names]


def is_converted(crd: Json) -> bool:
    return bool((crd["spec"].get("conversion") or {}).get("strategy") == "Webhook")


def webhook_definitions(manifests: Manifests, webhooks: Sequence[Webhook]) -> list[Json]:
    """`spec.webhookdefinitions` of the CSV."""
    if not manifests.deployments:
        return []
    shared = {
        "deploymentName": name_of(manifests.deployments[0]),
        "containerPort": _SERVICE_PORT,
        "targetPort": _SERVER_PORT,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    }
    rows = [{**shared, **_admission(webhook, manifests.crds)} for webhook in webhooks]
    converted = sorted(name_of(crd) for crd in manifests.crds if is_converted(crd))
    if converted:
        own = {
            "type": "ConversionWebhook",
            "generateName": f"convert.{converted[0].partition('.')[2]}",
            "webhookPath": "/convert",
            "conversionCRDs": converted,
        }
        rows.append({**shared, **own})
    return rows


def _admission(webhook: Webhook, crds: Sequence[Json]) -> Json:
    specs = [crd["spec"] for crd in crds]
    found = [
        spec["names"]["plural"]
        for spec in specs
        if (spec["group"], spec["names"]["kind"]) == (webhook.group, webhook.kind)
    ]
    if not found:
        raise InputError(f"no CRD of `{webhook.kind}` in `{webhook.group}` is in the manifests")
    plural = found[0]
    resources = [plural, *(f"{plural}/{name}" for name in webhook.subresources)]
    row: Json = {
        "type": _TYPES[1 if webhook.is_mutating else 0],
        "generateName": webhook.name,
        "webhookPath": webhook.path,
        "failurePolicy": webhook.failure_policy,
        "matchPolicy": "Equivalent",
        "timeoutSeconds": webhook.timeout_s,
        "rules": [
            {
                "apiGroups": [webhook.group],
                "apiVersions": [webhook.version],
                "operations": list(webhook.operations),
                "resources": resources,
            }
        ],
    }
    if webhook.object_selector:
        row["objectSelector"] = dict(webhook.object_selector)
    if webhook.is_mutating:
        row["reinvocationPolicy"] = "Never"
    return row


def lost_under_olm(webhooks: Sequence[Webhook], *, has_policies: bool) -> Iterator[str]:
    """What is asked for and OLM cannot carry."""
    for webhook in webhooks:
        if webhook.match_conditions:
            yield f"`{webhook.name}` has match conditions: OLM knows none, so it asks about more"
        if webhook.namespace_selector:
            yield (
                f"`{webhook.name}` has a namespace selector: OLM puts one in its place, for the"
                " namespaces of the OperatorGroup"
            )
    if has_policies:
        yield (
            "`rules` became ValidatingAdmissionPolicies, which no bundle may have: apply"
            " config/webhooks/policies.yaml beside OLM"
        )


def definition_faults(spec: Json, crds: dict[str, Json]) -> Iterator[str]:
    """Whether OLM can do with the definitions what it will do."""
    rows = spec.get("webhookdefinitions") or []
    install = (spec.get("install") or {}).get("spec") or {}
    deployments = {row.get("name") for row in install.get("deployments") or []}
    seen: set[str] = set()
    for number, row in enumerate(rows):
        field = f"webhookdefinitions[{number}]"
        yield from (f"{field} {fault}" for fault in _row_faults(row, deployments))
        if row.get("generateName") in seen:
            yield f"{field} has the name of another, `{row['generateName']}`"
        seen.add(str(row.get("generateName")))
    yield from _conversion_faults(spec, rows, crds)


def _row_faults(row: Json, deployments: set[str]) -> Iterator[str]:
    if row.get("type") not in _TYPES:
        yield f"is of type `{row.get('type')}`, which is none of {', '.join(_TYPES)}"
    if row.get("deploymentName") not in deployments:
        yield f"is served by `{row.get('deploymentName')}`, which the CSV does not install"
    if not str(row.get("webhookPath") or "").startswith("/"):
        yield "has no webhookPath"
    if row.get("sideEffects") not in ("None", "NoneOnDryRun"):
        yield "has side effects other than `None`"
    if "v1" not in (row.get("admissionReviewVersions") or []):
        yield "does not take reviews of `v1`"
    if row.get("type") != _TYPES[2] and len(str(row.get("generateName")).split(".")) < 3:
        yield f"`generateName: {row.get('generateName')}` must have three parts, separated by dots"
    for rule in row.get("rules") or []:
        if {"*", "operators.coreos.com"} & set(rule.get("apiGroups") or []):
            yield "asks about groups that OLM needs itself, which it refuses"


def _conversion_faults(spec: Json, rows: Sequence[Json], crds: dict[str, Json]) -> Iterator[str]:
    named = [name for row in rows for name in row.get("conversionCRDs") or []]
    converted = {name for name, crd in crds.items() if is_converted(crd)}
    for name in sorted(set(named) - set(crds)):
        yield f"converts `{name}`, which is not a CRD of this bundle"
    for name in sorted(converted - set(named)):
        yield f"CRD `{name}` is converted by a webhook, and no ConversionWebhook names it"
    modes = {row.get("type") for row in spec.get("installModes") or [] if row.get("supported")}
    if named and modes != {"AllNamespaces"}:
        yield (
            "has a conversion webhook, and OLM installs such a one for all namespaces alone:"
            " installModes must support AllNamespaces and no other"
        )
