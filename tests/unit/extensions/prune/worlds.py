"""Records of runs as tests write them: what was asked for, in which task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rolecall.extensions.prune import Inventory, Prune, wanted_by
from rolecall.gvk import Gvk
from rolecall.record import RecordedRequest, RecordedTask, RunRecord, TouchedByRun, touched_by
from rolecall.watches import Play, Watch
from tests.fixtures.requests import recorded

SHELF = Gvk("demo.example.com", "v1", "Shelf")
K8S, INFO = "kubernetes.core.k8s", "kubernetes.core.k8s_info"
_FILE = "roles/shelf/tasks/main.yml"
TASKS = tuple(
    RecordedTask(action, f"run {action}", f"{_FILE}:{line}", action, 0.0, 1.0, "ok")
    for line, action in enumerate((K8S, INFO), 1)
)


def watch(prune: Prune | None = Prune()) -> Watch:  # noqa: B008 - frozen
    play = Play(Path("roles/shelf"), is_role=True)
    return Watch(SHELF, play, of_extensions=() if prune is None else (prune,))


def asked(verb: str, name: str = "", **fields: Any) -> RecordedRequest:
    """A request; of an object it is answered with that, owned by the CR."""
    shown: dict[str, Any] = (
        {"uid": f"uid-{name}", "object_version": "1", "is_owned": True} if name else {}
    )
    if verb in ("create", "patch", "update"):
        shown["task"] = 0
    return recorded(verb=verb, name=name, **(shown | fields))


def looked(name: str, action: str = K8S, **fields: Any) -> RecordedRequest:
    """A read by name, in a task of this action."""
    return asked("get", name, task=[K8S, INFO].index(action), **fields)


def missing(name: str) -> RecordedRequest:
    return replace(looked(name), code=404, uid="", object_version="", is_owned=False)


def record(
    requests: Sequence[RecordedRequest],
    incomplete: str = "",
    tasks: Sequence[RecordedTask] = TASKS,
) -> RunRecord:
    numbered = tuple(replace(each, number=number) for number, each in enumerate(requests))
    began = datetime(2026, 1, 1, tzinfo=UTC)
    return RunRecord("1", began, 0.0, tuple(tasks), numbered, 1.0, incomplete)


def touched(*requests: RecordedRequest, tasks: Sequence[RecordedTask] = TASKS) -> TouchedByRun:
    return touched_by(record(requests, tasks=tasks))


def inventory(
    *requests: RecordedRequest,
    old: Inventory | None = None,
    tasks: Sequence[RecordedTask] = TASKS,
) -> Inventory:
    """What is kept after a good run that asked for this."""
    kinds = {"configmaps": "ConfigMap", "persistentvolumeclaims": "PersistentVolumeClaim"}
    return wanted_by(
        old or Inventory("cr"),
        touched(*requests, tasks=tasks),
        lambda each: kinds.get(each.place.resource, each.place.resource.removesuffix("s").title()),
    )
