"""Which fields of an object differ between now and after: paths with both values, secrets masked.

Left out is what the API server changes by itself with each write (`managedFields`, `resourceVersion`,
`status`...) and what it makes up for each object anew, so that the plan's value is not the run's (an
address out of a range, the labels that tie pods to their Job).

Paths are those of the run record. Elements of a list are held against each other by `name` where all
have one of their own, else by place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rolecall.json_object import Json

_SERVER_METADATA = (
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
# kubectl's copy of a whole manifest, Secrets included.
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MADE_UP_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SECRET_FIELDS = ("data", "stringData")


class _Absent:
    def __repr__(self) -> str:
        return "NOT_THERE"


NOT_THERE = _Absent()
HIDDEN, HIDDEN_NEW = "<hidden>", "<hidden, another value>"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    path: str
    before: Any  # NOT_THERE: it is not there
    after: Any


def differences_of(before: Json | None, after: Json | None) -> list[FieldDifference]:
    """All fields that differ; of a whole object that comes or goes, all that it has."""
    old, new = compared(before), compared(after)
    is_secret = "Secret" in {(before or {}).get("kind"), (after or {}).get("kind")}
    found = _differing("", old if before else NOT_THERE, new if after else NOT_THERE)
    rows = list(found) if before and after else _top_level(old, new)
    return [_masked(row) if is_secret else row for row in rows]


def compared(found: Json | None) -> Json:
    """What of an object counts."""
    if found is None:
        return {}
    kept = {key: value for key, value in found.items() if key != "status"}
    metadata = {
        key: value
        for key, value in (kept.get("metadata") or {}).items()
        if key not in _SERVER_METADATA
    }
    for name, dropped in (("annotations", (_LAST_APPLIED,)), ("labels", _MADE_UP_LABELS)):
        if isinstance(metadata.get(name), dict):
            metadata[name] = {k: v for k, v in metadata[name].items() if k not in dropped}
            if not metadata[name]:
                del metadata[name]
    kept["metadata"] = metadata
    match kept.get("kind"):
        case "Service" if isinstance(kept.get("spec"), dict):
            kept["spec"] = _without_addresses(kept["spec"])
        case "Job" if isinstance(kept.get("spec"), dict):
            kept["spec"] = _without_own_labels(kept["spec"])
    return kept


def _without_addresses(spec: Json) -> Json:
    if spec.get("clusterIP") == "None":
        return spec
    kept = {
        key: value
        for key, value in spec.items()
        if key not in ("clusterIP", "clusterIPs", "healthCheckNodePort")
    }
    if isinstance(kept.get("ports"), list):
        kept["ports"] = [
            {key: value for key, value in row.items() if key != "nodePort"}
            if isinstance(row, dict)
            else row
            for row in kept["ports"]
        ]
    return kept


def _without_own_labels(spec: Json) -> Json:
    kept = {key: value for key, value in spec.items() if key != "selector"}
    template = dict(kept.get("template") or {})
    metadata = dict(template.get("metadata") or {})
    labels = metadata.get("labels")
    if isinstance(labels, dict):
        metadata["labels"] = {k: v for k, v in labels.items() if k not in _MADE_UP_LABELS}
        kept["template"] = {**template, "metadata": metadata}
    return kept


def _top_level(old: Json, new: Json) -> list[FieldDifference]:
    """Of an object that comes or goes: its fields as they are, one for each below the first level."""
    rows = []
    for key in [*new, *(key for key in old if key not in new)]:
        if key not in ("apiVersion", "kind"):
            rows.append(
                FieldDifference(_step(key), old.get(key, NOT_THERE), new.get(key, NOT_THERE))
            )
    return rows


def _differing(path: str, old: Any, new: Any) -> Iterator[FieldDifference]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _differing(
                path + _step(str(key)), old.get(key, NOT_THERE), new.get(key, NOT_THERE)
            )
        return
    if isinstance(old, list) and isinstance(new, list):
        olds, news = _by_step(old, new)
        for step in [*olds, *(step for step in news if step not in olds)]:
            yield from _differing(path + step, olds.get(step, NOT_THERE), news.get(step, NOT_THERE))
        return
    yield FieldDifference(path, old, new)


def _by_step(old: list[Any], new: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if _are_named(old) and _are_named(new):
        both = ({f'[name="{row["name"]}"]': row for row in rows} for rows in (old, new))
    else:
        both = ({f"[{number}]": row for number, row in enumerate(rows)} for rows in (old, new))
    olds, news = both
    return olds, news


def _are_named(rows: list[Any]) -> bool:
    names = [row.get("name") if isinstance(row, dict) else None for row in rows]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _step(key: str) -> str:
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key)}]"


def _masked(row: FieldDifference) -> FieldDifference:
    top = row.path.removeprefix(".").partition(".")[0].partition("[")[0]
    if top not in _SECRET_FIELDS:
        return row
    return FieldDifference(row.path, _mask(row.before, HIDDEN), _mask(row.after, HIDDEN_NEW))


def _mask(value: Any, mask: str) -> Any:
    if value is NOT_THERE:
        return value
    if isinstance(value, dict):
        return {key: _mask(item, mask) for key, item in value.items()}
    return mask
