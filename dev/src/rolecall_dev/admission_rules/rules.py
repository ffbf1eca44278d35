"""`rules` of watches.yaml as what the API server evaluates itself: policies, and rules of schemas."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall.webhooks import Admission, AdmissionRule, not_by, validation_of

# Writes rules about requests: for each kind a ValidatingAdmissionPolicy and its binding.

_API_VERSION = "admissionregistration.k8s.io/v1"


def policies_of(
    watches: Iterable[Watch], plural_of: Callable[[Gvk], str], *, own_user: str = ""
) -> list[Json]:
    """Policies and bindings, in the order of the watches; `own_user` is never denied anything."""
    return [
        document
        for watch in watches
        for document in _of(watch, plural_of(watch.gvk) if _rules(watch) else "", own_user)
    ]


def _rules(watch: Watch) -> list[AdmissionRule]:
    asked = validation_of(watch)
    return [rule for rule in asked.rules if not rule.is_of_schema] if asked is not None else []


def _of(watch: Watch, plural: str, own_user: str) -> Iterator[Json]:
    rules, asked = _rules(watch), validation_of(watch)
    if not rules or asked is None:
        return
    # Several versions of a kind may be watched, and each says its own.
    name = f"{watch.gvk.version}.{watch.gvk.kind.lower()}.{watch.gvk.group or 'core'}"
    yield {
        "apiVersion": _API_VERSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": asked.failure_policy,
            "matchConstraints": _constraints(watch.gvk, asked, plural),
            "matchConditions": _conditions(asked, own_user),
            "validations": [{"expression": it.rule, "message": it.message} for it in rules],
        },
    }
    yield {
        "apiVersion": _API_VERSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }


def _constraints(gvk: Gvk, asked: Admission, plural: str) -> Json:
    resources = [plural, *(f"{plural}/{name}" for name in asked.subresources)]
    rule = {
        "apiGroups": [gvk.group],
        "apiVersions": [gvk.version],
        "operations": list(asked.operations),
        "resources": resources,
    }
    constraints: Json = {"matchPolicy": "Equivalent", "resourceRules": [rule]}
    if asked.namespace_selector:
        constraints["namespaceSelector"] = dict(asked.namespace_selector)
    if asked.object_selector:
        constraints["objectSelector"] = dict(asked.object_selector)
    return constraints


def _conditions(asked: Admission, own_user: str) -> list[Json]:
    conditions: list[Json] = [dict(condition) for condition in asked.match_conditions]
    if own_user:
        conditions.append(not_by(own_user))
    return conditions


# Writes rules with `self` into a CRD: the API server then checks them whenever it stores an object.
# They are at the root of the schema, beside rules that the author wrote by hand. A rule has no field
# for a mark, so an annotation of the CRD lists the rules from watches.yaml; the next call replaces only
# them.

# Version to texts of rules.
WRITTEN = "rolecall.dev/rules-of-watches"
_RULES = "x-kubernetes-validations"


def with_rules(crd: Mapping[str, Any], watches: Iterable[Watch]) -> Json:
    """The CRD with the rules that its watches say, and without those that they said before."""
    found: Json = copy.deepcopy(dict(crd))
    wanted = _wanted(found, watches)
    before = _before(found)
    for version in found["spec"].get("versions") or ():
        name = version["name"]
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if isinstance(schema, dict):
            _write(schema, wanted.get(name, ()), before.get(name, ()))
    _mark(found, {name: [rule["rule"] for rule in rules] for name, rules in wanted.items()})
    return found


def _wanted(crd: Json, watches: Iterable[Watch]) -> dict[str, list[Json]]:
    spec = crd["spec"]
    kind = (spec.get("group"), (spec.get("names") or {}).get("kind"))
    found: dict[str, list[Json]] = {}
    for watch in watches:
        asked = validation_of(watch)
        if (watch.gvk.group, watch.gvk.kind) != kind or asked is None:
            continue
        rules = [
            {"rule": rule.rule, "message": rule.message}
            for rule in asked.rules
            if rule.is_of_schema
        ]
        if rules:
            found[watch.gvk.version] = rules
    return found


def _before(crd: Json) -> dict[str, Sequence[str]]:
    annotations = (crd.get("metadata") or {}).get("annotations") or {}
    try:
        found = json.loads(annotations.get(WRITTEN, "{}"))
    except (TypeError, json.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(schema: Json, wanted: Sequence[Json], before: Sequence[str]) -> None:
    replaced = {*before, *(rule["rule"] for rule in wanted)}
    others = [rule for rule in schema.get(_RULES) or () if rule.get("rule") not in replaced]
    if others or wanted:
        schema[_RULES] = [*others, *wanted]
    else:
        schema.pop(_RULES, None)


def _mark(crd: Json, written: Mapping[str, Sequence[str]]) -> None:
    metadata = crd.setdefault("metadata", {})
    annotations = metadata.get("annotations") or {}
    if written:
        metadata["annotations"] = annotations | {WRITTEN: json.dumps(written)}
    elif WRITTEN in annotations:
        del annotations[WRITTEN]
        if not annotations:
            del metadata["annotations"]
