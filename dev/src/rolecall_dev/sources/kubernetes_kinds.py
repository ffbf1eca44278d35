"""The kinds of Kubernetes itself, by group and version: those of every release that is supported.

A table, because most projects are checked without an API server. Alpha and beta versions come and go,
so a finding about a version that is missing here is a guess, and reported as a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_ROWS = Path(__file__).with_suffix(".txt")  # an API version and kinds of it


def _kubernetes_kinds() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for row in _ROWS.read_text().splitlines():
        api_version, *kinds = row.split()
        group, _, version = api_version.rpartition("/")
        for kind in kinds:
            found.setdefault(group, {}).setdefault(kind, []).append(version)
    return found


def plural_of(kind: str) -> str:
    """The usual English plural, in lower case."""
    name = kind.lower()
    if re.search(r"(s|x|z|ch|sh)$", name):
        return f"{name}es"
    return re.sub(r"(?<=[^aeiou])y$", "ie", name) + "s"


# group -> kind -> versions, the one to use first
KUBERNETES_KINDS: Mapping[str, Mapping[str, list[str]]] = _kubernetes_kinds()


# Which resources belong to no namespace: a Role grants nothing of them, wherever it is.

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
