"""The files of config/webhooks, a component of kustomize that config/default takes up in one line.

They grant what the engine needs for telling the API server where to ask, and no more. Objects that it
fills (the Secret, the webhook configurations) are made here, empty: so it needs no right to create any,
and a Secret of a type that is a login cannot be made with its rights. `kubectl apply` leaves alone what
the engine filled in, since these files never had it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rolecall.json_object import Json
from rolecall.webhooks import conversion_of, registration_of
from rolecall_dev.sources import as_yaml
from rolecall_dev.webhook_manifests.names import (
    SERVER_PORT,
    OverlayNames,
    WebhookSubjects,
    service_config,
)

FOLDER = "config/webhooks"
DEFAULT_OVERLAY = "config/default/kustomization.yaml"
ITEM = "../webhooks"  # in the `components` of DEFAULT_OVERLAY
_HEAD = (
    "---\n# Made by `rolecall webhooks` from watches.yaml, conversions.yaml and the CRDs: make it anew"
    " instead of\n# editing it, `rolecall check` compares."
)
_NAMESPACE = "system"
_ADMISSION = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_KINDS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


def manifest_files(
    subjects: WebhookSubjects, names: OverlayNames, labels: Mapping[str, str]
) -> dict[str, str]:
    """Contents by path below the project; `labels` are those of the operator's pods."""
    if subjects.is_empty:
        return {}
    files: dict[str, Sequence[Any]] = {}
    if subjects.policies:
        files["policies.yaml"] = subjects.policies
    patches: list[Json] = []
    if subjects.has_server:
        files["service.yaml"] = [_service(names, labels), _secret(names)]
        files["roles.yaml"] = _roles(subjects, names)
        files["network_policy.yaml"] = [_network_policy(names, labels)]
        if subjects.webhooks:
            files["configurations.yaml"] = [_configuration(kind, names) for kind in _KINDS]
        files["manager_patch.yaml"] = [_manager_patch(names)]
        patches.append(_patch("manager_patch.yaml", "Deployment", "controller-manager"))
    if subjects.converted:
        files["conversion_patch.yaml"] = [_conversion_patch(names)]
        patches += [
            _patch("conversion_patch.yaml", "CustomResourceDefinition", kind.name)
            for kind in subjects.converted
        ]
    for crd, steps in subjects.schema_rules:
        path = f"{crd.partition('.')[0]}_rules_patch.yaml"
        files[path] = [list(steps)]
        patches.append(_patch(path, "CustomResourceDefinition", crd))
    files["kustomization.yaml"] = [_component(files, patches)]
    if subjects.has_server:
        files |= cert_manager_files(subjects, names)
    return {f"{FOLDER}/{path}": _text(documents) for path, documents in sorted(files.items())}


def _text(documents: Sequence[Any]) -> str:
    return _HEAD + "\n" + "---\n".join(as_yaml(each, sort_keys=False) for each in documents)


def _component(files: Mapping[str, Sequence[Any]], patches: Sequence[Json]) -> Json:
    resources = [name for name in sorted(files) if not name.endswith("_patch.yaml")]
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": resources,
        "patches": list(patches),
    }


def _patch(path: str, kind: str, name: str) -> Json:
    return {"path": path, "target": {"kind": kind, "name": name}}


def _service(names: OverlayNames, labels: Mapping[str, str]) -> Json:
    port = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": SERVER_PORT}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": names.short, "namespace": _NAMESPACE},
        "spec": {"ports": [port], "selector": dict(labels)},
    }


def _secret(names: OverlayNames) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": names.short, "namespace": _NAMESPACE},
        "type": "Opaque",
    }


def _configuration(kind: str, names: OverlayNames) -> Json:
    return {"apiVersion": f"{_ADMISSION}/v1", "kind": kind, "metadata": {"name": names.short}}


def _roles(subjects: WebhookSubjects, names: OverlayNames) -> list[Json]:
    secrets = _rule("", "secrets", [names.full], ["get", "update"])
    wide = []
    if subjects.converted:
        crds = [kind.name for kind in subjects.converted]
        group, resource = "apiextensions.k8s.io", "customresourcedefinitions"
        wide.append(_rule(group, resource, crds, ["get", "patch"]))
    if subjects.webhooks:
        both = [f"{kind.lower()}s" for kind in _KINDS]
        wide.append({**_rule(_ADMISSION, "", [names.full], ["get", "patch"]), "resources": both})
    return [
        *_granted("ClusterRole", names, wide, {}),
        *_granted("Role", names, [secrets], {"namespace": _NAMESPACE}),
    ]


def _rule(group: str, resource: str, names: Sequence[str], verbs: Sequence[str]) -> Json:
    return {
        "apiGroups": [group],
        "resources": [resource],
        "resourceNames": list(names),
        "verbs": list(verbs),
    }


def _granted(kind: str, names: OverlayNames, rules: Sequence[Json], place: Json) -> list[Json]:
    """A role with its binding to the operator's service account."""
    metadata = {"name": names.short, **place}
    account = {"kind": "ServiceAccount", "name": "controller-manager", "namespace": _NAMESPACE}
    version = f"{_RBAC}/v1"
    return [
        {"apiVersion": version, "kind": kind, "metadata": metadata, "rules": list(rules)},
        {
            "apiVersion": version,
            "kind": f"{kind}Binding",
            "metadata": metadata,
            "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": names.short},
            "subjects": [account],
        },
    ]


def _network_policy(names: OverlayNames, labels: Mapping[str, str]) -> Json:
    """From anywhere: the API server is no pod in most clusters, so no selector would find it."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": f"allow-{names.short}", "namespace": _NAMESPACE},
        "spec": {
            "podSelector": {"matchLabels": dict(labels)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"port": SERVER_PORT, "protocol": "TCP"}]}],
        },
    }


def _manager_patch(names: OverlayNames) -> Json:
    container = {
        "name": "manager",
        "env": [{"name": "ROLECALL_WEBHOOK_SERVICE", "value": names.full}],
        "ports": [{"name": "webhooks", "containerPort": SERVER_PORT}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "controller-manager"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def _conversion_patch(names: OverlayNames) -> Json:
    """From the beginning, so that nothing is stored unconverted before the operator is there."""
    conversion = conversion_of(service_config(names, "/convert"))
    del conversion["webhook"]["clientConfig"]["url"]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "any"},
        "spec": {"conversion": conversion},
    }


# config/webhooks/cert-manager: certificates of cert-manager in place of the operator's own.
# Then cert-manager tells the API server whom to trust, and the operator publishes nothing. So the
# webhook configurations are complete here, and the operator needs no right to write anything; those
# that it has without cert-manager stay, and are not used.

_CERT_MANAGER = "cert-manager"
_CERTIFICATES = "cert-manager.io"
_MOUNTED_AT = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108 - a published path


def cert_manager_files(subjects: WebhookSubjects, names: OverlayNames) -> dict[str, Sequence[Json]]:
    """The files of the component, below config/webhooks."""
    files: dict[str, Sequence[Json]] = {
        "certificate.yaml": [_issuer(names), _certificate(names)],
        "manager_patch.yaml": [_mounting_patch(names)],
    }
    patches = [_patch("manager_patch.yaml", "Deployment", "controller-manager")]
    if subjects.converted:
        files["crd_patch.yaml"] = [
            _annotated("apiextensions.k8s.io/v1", "CustomResourceDefinition", names)
        ]
        patches += [
            _patch("crd_patch.yaml", "CustomResourceDefinition", kind.name)
            for kind in subjects.converted
        ]
    for is_mutating, verb in ((False, "Validating"), (True, "Mutating")):
        kind, path = f"{verb}WebhookConfiguration", f"{verb.lower()}_patch.yaml"
        if rows := _registrations(subjects, names, is_mutating=is_mutating):
            body = _annotated("admissionregistration.k8s.io/v1", kind, names)
            files[path] = [{**body, "webhooks": rows}]
            patches.append(_patch(path, kind, names.short))
    files["kustomization.yaml"] = [
        {
            "apiVersion": "kustomize.config.k8s.io/v1alpha1",
            "kind": "Component",
            "resources": ["certificate.yaml"],
            "patches": patches,
        }
    ]
    return {f"{_CERT_MANAGER}/{path}": documents for path, documents in files.items()}


def _registrations(
    subjects: WebhookSubjects, names: OverlayNames, *, is_mutating: bool
) -> list[Json]:
    return [
        registration_of(webhook, kind.plural, service_config(names, webhook.path), names.user)
        for webhook, kind in subjects.webhooks
        if webhook.is_mutating is is_mutating
    ]


def _issuer(names: OverlayNames) -> Json:
    return {
        "apiVersion": f"{_CERTIFICATES}/v1",
        "kind": "Issuer",
        "metadata": {"name": names.short, "namespace": "system"},
        "spec": {"selfSigned": {}},
    }


def _certificate(names: OverlayNames) -> Json:
    host = f"{names.full}.{names.namespace}.svc"
    spec = {
        "dnsNames": [host, f"{host}.cluster.local"],
        "issuerRef": {"kind": "Issuer", "name": names.full},
        "secretName": f"{names.full}-cert-manager",
    }
    metadata = {"name": names.short, "namespace": "system"}
    head = {"apiVersion": f"{_CERTIFICATES}/v1", "kind": "Certificate"}
    return {**head, "metadata": metadata, "spec": spec}


def _mounting_patch(names: OverlayNames) -> Json:
    mount = {"name": "webhook-certificate", "mountPath": _MOUNTED_AT, "readOnly": True}
    secret = {"secretName": f"{names.full}-cert-manager"}
    pod = {
        "containers": [{"name": "manager", "volumeMounts": [mount]}],
        "volumes": [{"name": mount["name"], "secret": secret}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "controller-manager"},
        "spec": {"template": {"spec": pod}},
    }


def _annotated(api_version: str, kind: str, names: OverlayNames) -> Json:
    place = f"{names.namespace}/{names.full}"
    annotations = {f"{_CERTIFICATES}/inject-ca-from": place}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "any", "annotations": annotations},
    }
