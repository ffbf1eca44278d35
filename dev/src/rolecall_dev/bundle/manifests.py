"""Rendered manifests, sorted by what OLM does with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from rolecall.errors import InputError
from rolecall.json_object import Json

# What OLM makes anew from the CSV, or what belongs to the cluster and not to a bundle. NetworkPolicies
# are refused by OLM before 0.32, and then the whole bundle is.
_LEFT_OUT = ("Namespace", "ServiceAccount", "NetworkPolicy")
_RBAC = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
_CRD = "CustomResourceDefinition"


@dataclass(slots=True)
class Manifests:
    """The documents of a rendered `config/manifests`."""

    crds: list[Json] = field(default_factory=list)
    deployments: list[Json] = field(default_factory=list)
    rbac: list[Json] = field(default_factory=list)
    samples: list[Json] = field(default_factory=list)
    others: list[Json] = field(default_factory=list)  # go into the bundle as they are
    scorecard: Json | None = None
    base: Json | None = None  # the CSV's words for people

    def bound_rules(self, account: str, kind: str) -> list[Json]:
        """Rules that bindings of a kind (`Role` or `ClusterRole`) give to a service account."""
        rules: list[Json] = []
        for binding in self.rbac:
            if binding["kind"] != f"{kind}Binding" or not _has_subject(binding, account):
                continue
            wanted = (binding["roleRef"]["kind"], binding["roleRef"]["name"])
            roles = [it for it in self.rbac if (it["kind"], it["metadata"]["name"]) == wanted]
            if not roles:
                raise InputError(
                    f"{kind}Binding `{name_of(binding)}` binds `{wanted[1]}`, which is missing"
                )
            rules += roles[0].get("rules") or []
        return rules

    @property
    def unbound_roles(self) -> list[Json]:
        """ClusterRoles for people: nothing binds them here."""
        bound = {it["roleRef"]["name"] for it in self.rbac if it["kind"].endswith("Binding")}
        return [it for it in self.rbac if it["kind"] == "ClusterRole" and name_of(it) not in bound]


def split(text: str) -> Manifests:
    """Sort the documents of a rendered kustomization."""
    try:
        documents = [it for it in yaml.safe_load_all(text) if it is not None]
    except yaml.YAMLError as error:
        raise InputError(f"the manifests are not valid YAML: {error}") from error
    found = Manifests()
    kinds = {
        (it["spec"]["group"], it["spec"]["names"]["kind"])
        for it in documents
        if isinstance(it, dict) and it.get("kind") == _CRD
    }
    for document in documents:
        if not isinstance(document, dict) or "kind" not in document or "metadata" not in document:
            raise InputError(
                "the manifests contain something that is not a Kubernetes object",
                hint="`kubectl kustomize config/manifests | rolecall bundle ...`",
            )
        _sort_in(document, found, is_sample=(_group(document), document["kind"]) in kinds)
    if not found.deployments or not found.crds:
        raise InputError(
            "the manifests hold no Deployment or no CustomResourceDefinition, so there is nothing to"
            " install",
            hint="`kubectl kustomize config/manifests | rolecall bundle ...`",
        )
    return found


def _sort_in(document: Json, found: Manifests, *, is_sample: bool) -> None:
    kind = document["kind"]
    if kind == _CRD:
        found.crds.append(document)
    elif kind == "Deployment":
        found.deployments.append(document)
    elif kind in _RBAC:
        found.rbac.append(document)
    elif kind == "ClusterServiceVersion":
        found.base = document
    elif kind == "Configuration" and _group(document) == "scorecard.operatorframework.io":
        found.scorecard = document
    elif is_sample:
        found.samples.append(document)
    elif kind not in _LEFT_OUT:
        found.others.append(document)


def name_of(document: Mapping[str, Any]) -> str:
    return str(document["metadata"]["name"])


def _group(document: Mapping[str, Any]) -> str:
    return str(document.get("apiVersion", "")).rpartition("/")[0]


def _has_subject(binding: Json, account: str) -> bool:
    subjects = binding.get("subjects") or []
    return any((it.get("kind"), it.get("name")) == ("ServiceAccount", account) for it in subjects)
