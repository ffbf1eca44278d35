"""A digest of what a run is given: the CR as its play sees it, the watch, and the world around.

Left out of the CR is what changes with each write of ours: its version, managed fields, and of the
conditions that the engine writes all but type, status and reason. All else of status counts, as the
play sees it: a role that reads what it wrote into status gets another input the next time, and is run
again until that stays as it is.

Not seen is a role that reads times or messages of the engine's own conditions. Its next run would find
others, and so did each run before; nothing can depend on them and come to rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from rolecall.json_object import Json
from rolecall.watches import Watch

_LENGTH = 32
_OWN_CONDITIONS = frozenset(
    {"Running", "Successful", "Failure", "Ready", "NotConverging", "Paused"}
)
_LEFT_OUT = frozenset({"resourceVersion", "managedFields", "selfLink"})
_OURS = "rolecall.dev/"
# Ansible, the Kubernetes client, Python and the C library read these in any run.
_CONFIGURING = ("ANSIBLE_", "K8S_AUTH_", "LANG", "LC_", "PYTHON", "TZ")


def digest_of(*parts: Any) -> str:
    """Of anything that JSON can hold, sets included."""
    text = json.dumps(parts, sort_keys=True, default=_plain, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def digest_of_cr(cr: Json, before: Json) -> str:
    """Of the CR as the play sees it; `before` has its conditions from before the run began."""
    return digest_of(
        {key: value for key, value in cr.items() if key not in ("metadata", "spec", "status")},
        cr["spec"] if isinstance(cr.get("spec"), dict) else {},  # as plays get it
        _metadata_of(cr),
        _status_of(cr),
        _own_conditions(before),
    )


def digest_of_watch(watch: Watch) -> str:
    """Of the entry of watches.yaml, wherever it stands in the file."""
    return digest_of(asdict(replace(watch, line=0)))


def digest_of_variables(names: Iterable[str], environment: Mapping[str, str]) -> str:
    """Of the variables that configure each run, and those that a play asked for."""
    configuring = {name for name in environment if name.startswith(_CONFIGURING)}
    return digest_of({name: environment.get(name) for name in {*names, *configuring}})


def _metadata_of(cr: Json) -> Json:
    metadata = {key: value for key, value in cr["metadata"].items() if key not in _LEFT_OUT}
    annotations = metadata.pop("annotations", None) or {}
    kept = {key: value for key, value in annotations.items() if not key.startswith(_OURS)}
    return {**metadata, "annotations": kept}


def _status_of(cr: Json) -> Any:
    status = cr.get("status")
    if not isinstance(status, dict):
        return status or {}
    rest = {
        key: value
        for key, value in status.items()
        if key not in ("conditions", "observedGeneration")
    }
    others = [each for each in _conditions(cr) if not _is_own(each)]
    return {**rest, "conditions": others} if others else rest


def _own_conditions(cr: Json) -> list[list[Any]]:
    return [
        [each.get("type"), each.get("status"), each.get("reason")]
        for each in _conditions(cr)
        if isinstance(each, dict) and _is_own(each)
    ]


def _conditions(cr: Json) -> list[Any]:
    status = cr.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return conditions if isinstance(conditions, list) else []


def _is_own(condition: Any) -> bool:
    return isinstance(condition, dict) and condition.get("type") in _OWN_CONDITIONS


def _plain(value: Any) -> Any:
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)
