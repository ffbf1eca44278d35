"""Records of runs, as tests of what is shown of them want them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rolecall.record import NO_TASK, RecordedRequest, RecordedTask, RunRecord

BEGAN = datetime(2026, 11, 1, 10, tzinfo=UTC)
ORIGIN_S = 1000.0


def task(
    number: int, began_s: float, ended_s: float | None, outcome: str = "ok", name: str = ""
) -> RecordedTask:
    """One that began so many seconds after its run."""
    place = f"roles/web/tasks/main.yml:{number}"
    ended = None if ended_s is None else ORIGIN_S + ended_s
    return RecordedTask(
        f"u{number}", name or f"task {number}", place, "k8s", ORIGIN_S + began_s, ended, outcome
    )


def request(verb: str, at_s: float, number: int = NO_TASK, **more: Any) -> RecordedRequest:
    """One of the task with this index."""
    facts: dict[str, Any] = {
        "number": 0,
        "seconds": 0.01,
        "group": "apps",
        "version": "v1",
        "resource": "deployments",
        "subresource": "",
        "namespace": "default",
        "name": "web",
        "code": 200,
        "task": number,
        **more,
    }
    return RecordedRequest(at_s=ORIGIN_S + at_s, verb=verb, **facts)


def record(
    run: str, tasks: list[RecordedTask], requests: list[RecordedRequest], **more: Any
) -> RunRecord:
    facts = {"ended_s": ORIGIN_S + 1.0, **more}
    return RunRecord(run, BEGAN, ORIGIN_S, tuple(tasks), tuple(requests), **facts)


def usual(run: str = "aa11") -> RunRecord:
    """A task that reads and creates, one that asks nothing, and a request without a task."""
    leaves = (".spec.replicas", ".spec.template", ".metadata.labels.app", ".metadata.labels.b")
    return record(
        run,
        [task(3, 0.1, 0.5, "changed", "make it"), task(9, 0.6, 0.8)],
        [
            request("get", 0.2, 0, code=404),
            request("create", 0.3, 0, code=201, leaves=leaves, manager="OpenAPI-Generator"),
            request("list", 0.55, name="", items=3),
        ],
    )
