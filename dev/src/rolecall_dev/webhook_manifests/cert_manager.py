"""config/webhooks/cert-manager: certificates of cert-manager in place of the operator's own.

Then cert-manager tells the API server whom to trust, and the operator publishes nothing. So the webhook
configurations are complete here, and the operator needs no right to write anything; those that it has
without cert-manager stay, and are not used.
"""

from __future__ import annotations

from collections.abc import Sequence

from rolecall.json_object import Json
from rolecall.webhooks import registration_of
from rolecall_dev.webhook_manifests.overlay import OverlayNames
from rolecall_dev.webhook_manifests.service import service_config
from rolecall_dev.webhook_manifests.subjects import WebhookSubjects

_FOLDER = "cert-manager"
_CERTIFICATES = "cert-manager.io"
_MOUNTED_AT = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108 - a published path


def cert_manager_files(subjects: WebhookSubjects, names: OverlayNames) -> dict[str, Sequence[Json]]:
    """The files of the component, below config/webhooks."""
    files: dict[str, Sequence[Json]] = {
        "certificate.yaml": [_issuer(names), _certificate(names)],
        "manager_patch.yaml": [_manager_patch(names)],
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
    return {f"{_FOLDER}/{path}": documents for path, documents in files.items()}


def _registrations(
    subjects: WebhookSubjects, names: OverlayNames, *, is_mutating: bool
) -> list[Json]:
    return [
        registration_of(webhook, kind.plural, service_config(names, webhook.path), names.user)
        for webhook, kind in subjects.webhooks
        if webhook.is_mutating is is_mutating
    ]


def _patch(path: str, kind: str, name: str) -> Json:
    return {"path": path, "target": {"kind": kind, "name": name}}


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


def _manager_patch(names: OverlayNames) -> Json:
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
