"""The files of config/webhooks, a component of kustomize that config/default takes up in one line.

They grant what the engine needs for telling the API server where to ask, and no more. Objects that it
fills (the Secret, the webhook configurations) are made here, empty: so it needs no right to create any,
and a Secret of a type that is a login cannot be made with its rights. `kubectl apply` leaves alone what
the engine filled in, since these files never had it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from rolecall.json_object import Json
from rolecall.webhooks import conversion_of, registration_of
from rolecall_dev.sources import as_yaml, filled_in
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
_TEMPLATES = Path(__file__).parent / "templates"
_ADMISSION = "admissionregistration.k8s.io"


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
        for path in ("service.yaml", "network_policy.yaml"):
            files[path] = _filled(path, names, labels=dict(labels))
        files["roles.yaml"] = _filled("roles.yaml", names, rules=_wide_rules(subjects, names))
        if subjects.webhooks:
            files["configurations.yaml"] = _filled("configurations.yaml", names)
        files["manager_patch.yaml"] = _filled("manager_patch.yaml", names)
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
    resources = [name for name in sorted(files) if not name.endswith("_patch.yaml")]
    files["kustomization.yaml"] = [_component(resources, patches)]
    if subjects.has_server:
        files |= cert_manager_files(subjects, names)
    return {f"{FOLDER}/{path}": _text(documents) for path, documents in sorted(files.items())}


def _text(documents: Sequence[Any]) -> str:
    return _HEAD + "\n" + "---\n".join(as_yaml(each, sort_keys=False) for each in documents)


def _filled(path: str, names: OverlayNames, **values: object) -> list[Json]:
    """The documents of a template; values beside names stand in it as JSON, which is YAML as well."""
    known = {"short": names.short, "full": names.full, "namespace": names.namespace}
    shown = {key: json.dumps(value) for key, value in {"port": SERVER_PORT, **values}.items()}
    text = (_TEMPLATES / path).read_text(encoding="utf-8")
    return list(yaml.safe_load_all(filled_in(text, known | shown)))


def _component(resources: Sequence[str], patches: Sequence[Json]) -> Json:
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": list(resources),
        "patches": list(patches),
    }


def _patch(path: str, kind: str, name: str) -> Json:
    return {"path": path, "target": {"kind": kind, "name": name}}


def _wide_rules(subjects: WebhookSubjects, names: OverlayNames) -> list[Json]:
    rules = []
    if subjects.converted:
        crds = [kind.name for kind in subjects.converted]
        rules.append(_rule("apiextensions.k8s.io", ["customresourcedefinitions"], crds))
    if subjects.webhooks:
        both = ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"]
        rules.append(_rule(_ADMISSION, both, [names.full]))
    return rules


def _rule(group: str, resources: Sequence[str], names: Sequence[str]) -> Json:
    return {
        "apiGroups": [group],
        "resources": list(resources),
        "resourceNames": list(names),
        "verbs": ["get", "patch"],
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
# Then cert-manager registers the authority at the API server, and the operator registers nothing. So
# the webhook configurations are complete here, and the operator needs no write rights; the rights that
# it has without cert-manager stay, and are not used.

_CERT_MANAGER = "cert-manager"


def cert_manager_files(subjects: WebhookSubjects, names: OverlayNames) -> dict[str, Sequence[Json]]:
    """The files of the component, below config/webhooks."""
    files: dict[str, Sequence[Json]] = {
        path: _filled(f"{_CERT_MANAGER}/{path}", names)
        for path in ("certificate.yaml", "manager_patch.yaml")
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
            body = _annotated(f"{_ADMISSION}/v1", kind, names)
            files[path] = [{**body, "webhooks": rows}]
            patches.append(_patch(path, kind, names.short))
    files["kustomization.yaml"] = [_component(["certificate.yaml"], patches)]
    return {f"{_CERT_MANAGER}/{path}": documents for path, documents in files.items()}


def _registrations(
    subjects: WebhookSubjects, names: OverlayNames, *, is_mutating: bool
) -> list[Json]:
    return [
        registration_of(webhook, kind.plural, service_config(names, webhook.path), names.user)
        for webhook, kind in subjects.webhooks
        if webhook.is_mutating is is_mutating
    ]


def _annotated(api_version: str, kind: str, names: OverlayNames) -> Json:
    place = f"{names.namespace}/{names.full}"
    annotations = {"cert-manager.io/inject-ca-from": place}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "any", "annotations": annotations},
    }
