"""The scorecard's basic and OLM checks, by the names that the Operator SDK gave them, without pods.

They read the bundle's files; whether an API server takes its objects is for a cluster to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

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
