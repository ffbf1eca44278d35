"""Plans as an engine makes them, for tests of what the page shows."""

from __future__ import annotations

from typing import Any

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.plan import (
    Certainty,
    PlannedChange,
    PlannedObject,
    PlannedRun,
    PlanNote,
    TaskPlace,
)

AT = TaskPlace("run the web server", "roles/website/tasks/main.yml:12")


def config_map(text: str = "a", *, kind: str = "ConfigMap") -> Json:
    metadata = {"name": "conf", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": {"conf": text}}


def planned(before: Json | None, after: Json | None, **more: Any) -> PlannedObject:
    there = PlannedChange.CREATE if before is None else PlannedChange.CHANGE
    change = PlannedChange.DELETE if after is None else there
    shown = after or before or {}
    facts: dict[str, Any] = {"certainty": Certainty.EXACT, "tasks": (AT,), **more}
    return PlannedObject(
        change, Gvk("", "v1", shown["kind"]), "shop", "conf", before, after, **facts
    )


def plan(*objects: PlannedObject, **more: Any) -> PlannedRun:
    return PlannedRun("Website", "shop", "blog", objects, **more)


def note(kind: str, what: str) -> PlanNote:
    return PlanNote(kind, what, AT)
