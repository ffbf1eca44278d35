"""The scorecard's basic and OLM checks, by the names that the Operator SDK gave them, without pods.

They read the bundle's files; whether an API server takes its objects is for a cluster to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from rolecall.json_object import Json
from rolecall_dev.bundle.faults import Files, validate

Check = Callable[[Files], Iterator[str]]


def scores(files: Files) -> dict[str, list[str]]:
    """Test -> what is wrong; empty where it passed."""
    return {name: list(check(files)) for name, check in _CHECKS.items()}


def _spec_block(files: Files) -> Iterator[str]:
    for example in json.loads(files.csv["metadata"]["annotations"].get("alm-examples", "[]")):
        if not isinstance(example.get("spec"), dict):
            yield f"the example of {example.get('kind')} has no spec"


def _bundle_validation(files: Files) -> Iterator[str]:
    yield from (problem.what for problem in validate(files) if not problem.is_warning)


def _crds_have_validation(files: Files) -> Iterator[str]:
    for name, version, schema in _schemas(files):
        for part in ("spec", "status"):
            fields = schema.get("properties", {}).get(part, {})
            if not fields.get("properties"):
                yield f"{name} {version}: the schema says nothing about {part}"


def _crds_have_resources(files: Files) -> Iterator[str]:
    for row in _owned(files):
        if not row.get("resources"):
            yield f"{row['kind']}: no resources are named, so a console shows none"


def _descriptors(part: str) -> Check:
    def check(files: Files) -> Iterator[str]:
        rows = {(row["name"], row["version"]): row for row in _owned(files)}
        for name, version, schema in _schemas(files):
            described = {it["path"] for it in rows[name, version].get(f"{part}Descriptors") or []}
            fields = schema.get("properties", {}).get(part, {}).get("properties") or {}
            for field in sorted(set(fields) - described):
                yield f"{name} {version}: {part}.{field} has no descriptor"

    return check


def _owned(files: Files) -> list[Json]:
    return list(files.spec["customresourcedefinitions"]["owned"])


def _schemas(files: Files) -> Iterator[tuple[str, str, Json]]:
    for name, crd in files.crds.items():
        for version in crd["spec"]["versions"]:
            if version.get("served"):
                yield name, version["name"], version.get("schema", {}).get("openAPIV3Schema", {})


_CHECKS: dict[str, Check] = {
    "basic-check-spec": _spec_block,
    "olm-bundle-validation": _bundle_validation,
    "olm-crds-have-validation": _crds_have_validation,
    "olm-crds-have-resources": _crds_have_resources,
    "olm-spec-descriptors": _descriptors("spec"),
    "olm-status-descriptors": _descriptors("status"),
}


# The scorecard's other half: faults of a bundle that only an API server finds, and not its files.
# Defaults that do not fit their schema, rules that cost too much, fields that no Deployment has: we
# send each object as OLM would, with strict validation, and a warning counts as a fault. The objects
# are created and stay: the cluster is meant to be thrown away.

# Arguments and an object for stdin -> what kubectl had against it; empty: nothing.
Kubectl = Callable[[list[str], str], str]

_NAMESPACE = "scorecard"
_LEVELS = ("enforce", "warn")  # the first judges pods only, the second what makes them
_RBAC = "rbac.authorization.k8s.io"
# What kubectl gives up with where a CRD was made a moment ago, and has no conditions yet.
_TOO_NEW = "conditions accessor error"
_TRIES = 20


def takes(files: Files, kubectl: Kubectl) -> dict[str, list[str]]:
    """Test -> what the API server refused; empty where it took everything."""
    labels = {f"pod-security.kubernetes.io/{level}": "restricted" for level in _LEVELS}
    metadata = {"name": _NAMESPACE, "labels": labels}
    _refusals(kubectl, [{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    return {
        "cluster-takes-crds": _refusals(kubectl, files.crds.values()) or _wait(kubectl),
        "cluster-takes-examples": _refusals(kubectl, _examples(files)),
        "cluster-takes-install": _refusals(
            kubectl, [*_accounts(files), *_rights(files), *_deployments(files)]
        ),
    }


def _refusals(kubectl: Kubectl, objects: Iterable[Json]) -> list[str]:
    """All of them, one for each object."""
    strict = ["--validate=strict", "--warnings-as-errors", f"--namespace={_NAMESPACE}"]
    found = []
    for each in objects:
        if refusal := kubectl(["create", *strict, "-f", "-"], json.dumps(each)):
            name = each.get("metadata", {}).get("name")
            found.append(f"{each.get('kind')} {name}: {refusal}")
    return found


def _wait(kubectl: Kubectl) -> list[str]:
    """Examples can be judged once their kinds are served."""
    wait = ["wait", "--for=condition=Established", "--timeout=180s", "crd", "--all"]
    for _ in range(_TRIES):
        refusal = kubectl(wait, "")
        if _TOO_NEW not in refusal:
            break
    return [refusal] if refusal else []


def _examples(files: Files) -> list[Json]:
    text = files.csv["metadata"]["annotations"].get("alm-examples", "[]")
    found: list[Json] = json.loads(text)
    for example in found:
        example.get("metadata", {}).pop("namespace", None)
    return found


def _accounts(files: Files) -> Iterator[Json]:
    rows = (*_install(files, "permissions"), *_install(files, "clusterPermissions"))
    for name in dict.fromkeys(row["serviceAccountName"] for row in rows):
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}


def _rights(files: Files) -> Iterator[Json]:
    for key, kind in (("permissions", "Role"), ("clusterPermissions", "ClusterRole")):
        for number, row in enumerate(_install(files, key)):
            metadata = {"name": f"{row['serviceAccountName']}-{number}"}
            yield {
                "apiVersion": f"{_RBAC}/v1",
                "kind": kind,
                "metadata": metadata,
                "rules": row["rules"],
            }


def _deployments(files: Files) -> Iterator[Json]:
    for row in _install(files, "deployments"):
        yield {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": row["name"], "labels": row.get("label") or {}},
            "spec": row["spec"],
        }


def _install(files: Files, key: str) -> list[Json]:
    return list(files.spec["install"]["spec"].get(key) or [])
