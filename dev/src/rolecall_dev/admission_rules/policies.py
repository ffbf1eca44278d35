"""Writes rules about requests: for each kind a ValidatingAdmissionPolicy and its binding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall.webhooks import Admission, AdmissionRule, not_by, validation_of

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
