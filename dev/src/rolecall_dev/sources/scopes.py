"""Which resources belong to no namespace: a Role grants nothing of them, wherever it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_OF_KUBERNETES = {
    "": "componentstatuses namespaces nodes persistentvolumes",
    "admissionregistration.k8s.io": "mutatingwebhookconfigurations validatingwebhookconfigurations"
    " validatingadmissionpolicies validatingadmissionpolicybindings",
    "apiextensions.k8s.io": "customresourcedefinitions",
    "apiregistration.k8s.io": "apiservices",
    "authentication.k8s.io": "selfsubjectreviews tokenreviews",
    "authorization.k8s.io": "selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews",
    "cert-manager.io": "clusterissuers",
    "certificates.k8s.io": "certificatesigningrequests",
    "networking.k8s.io": "ingressclasses",
    "node.k8s.io": "runtimeclasses",
    "rbac.authorization.k8s.io": "clusterrolebindings clusterroles",
    "scheduling.k8s.io": "priorityclasses",
    "storage.k8s.io": "csidrivers csinodes storageclasses volumeattachments",
}


def resources_of_no_namespace(crds: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, str]]:
    """(group, plural) of those of Kubernetes, and of these CRDs that have the scope `Cluster`."""
    known = {(group, name) for group, names in _OF_KUBERNETES.items() for name in names.split()}
    specs = [crd.get("spec") or {} for crd in crds]
    wide = [spec for spec in specs if spec.get("scope") == "Cluster"]
    names = {(str(it.get("group")), str((it.get("names") or {}).get("plural"))) for it in wide}
    return frozenset(known | names)
