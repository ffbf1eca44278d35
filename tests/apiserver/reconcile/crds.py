"""Kinds to reconcile: one as scaffolds make them, and three whose CRDs have a fault each."""

from __future__ import annotations

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from tests.fixtures.crds import ANYTHING, crd_for

GROUP = "story.example.com"
_STRICT_CONDITION: Json = {
    "type": "object",
    "required": ["type", "status"],
    "properties": {
        name: {"type": "string"}
        for name in ("type", "status", "reason", "message", "lastTransitionTime")
    },
}
_CONDITIONS: Json = {"type": "array", "items": _STRICT_CONDITION}
_NAMED_REASON: Json = {
    **_STRICT_CONDITION,
    "properties": {
        **_STRICT_CONDITION["properties"],
        "reason": {"type": "string", "minLength": 1},
    },
}

STORY = Gvk(GROUP, "v1", "Story")
PRUNING = Gvk(GROUP, "v1", "Pruning")  # drops `ansibleResult` and `observedGeneration`
STATUSLESS = Gvk(GROUP, "v1", "Statusless")  # has no status subresource
STRICT = Gvk(GROUP, "v1", "Strict")  # wants a reason in every condition

_STATUS: dict[Gvk, Json] = {
    STORY: ANYTHING,
    PRUNING: {"type": "object", "properties": {"conditions": _CONDITIONS}},
    STATUSLESS: ANYTHING,
    STRICT: {
        "type": "object",
        "properties": {"conditions": {"type": "array", "items": _NAMED_REASON}},
    },
}
ALL_KINDS = tuple(_STATUS)


def all_crds() -> list[Json]:
    """The CRDs, ready to be created."""
    return [
        crd_for(gvk, status=status, has_status=gvk != STATUSLESS) for gvk, status in _STATUS.items()
    ]
