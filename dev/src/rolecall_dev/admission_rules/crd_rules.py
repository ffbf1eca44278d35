"""Writes rules with `self` into a CRD: the API server then checks them wherever an object is stored.

They stand at the root of the schema, beside what somebody wrote there by hand. Such a rule has no room
for a mark; so an annotation of the CRD says which ones came from watches.yaml, and the next time just
these are replaced.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rolecall.json_object import Json
from rolecall.watches import Watch
from rolecall.webhooks import validation_of

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
