"""What spans say: names and places, never a value of a CR, of a task, or of an object.

Names are those of OpenTelemetry's semantic conventions where there is one, else begin with `rolecall.`.
Left out for what they may hold: queries of requests (selectors), messages of failures, arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

from rolecall.extending import Act, EndedTurn
from rolecall.reconcile import TurnTrail
from rolecall.record import RecordedRequest, RecordedTask, RunRecord
from rolecall.runner import outcome_of
from rolecall.workqueue import Key

Attributes = Mapping[str, str | bool | int | float]
_METHODS = {
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
# Resources whose names have an attribute in the semantic conventions.
_NAMED = {
    ("", "pods"): "k8s.pod.name",
    ("", "services"): "k8s.service.name",
    ("", "nodes"): "k8s.node.name",
    ("", "persistentvolumeclaims"): "k8s.persistentvolumeclaim.name",
    ("", "persistentvolumes"): "k8s.persistentvolume.name",
    ("", "replicationcontrollers"): "k8s.replicationcontroller.name",
    ("", "resourcequotas"): "k8s.resourcequota.name",
    ("apps", "deployments"): "k8s.deployment.name",
    ("apps", "statefulsets"): "k8s.statefulset.name",
    ("apps", "daemonsets"): "k8s.daemonset.name",
    ("apps", "replicasets"): "k8s.replicaset.name",
    ("autoscaling", "horizontalpodautoscalers"): "k8s.hpa.name",
    ("batch", "jobs"): "k8s.job.name",
    ("batch", "cronjobs"): "k8s.cronjob.name",
    ("storage.k8s.io", "storageclasses"): "k8s.storageclass.name",
}
_NAMESPACE = "k8s.namespace.name"
_NOT_FOUND = 404


def of_act(key: Key, act: Act) -> Attributes:
    return _said(
        {
            **_of_cr(key),
            "rolecall.handler.name": act.name,
            "rolecall.handler.outcome": act.outcome,
            **_code(act.place),
            **_error("HandlerFailed" if act.is_bad else ""),
        }
    )


def of_turn(ended: EndedTurn, trail: TurnTrail) -> Attributes:
    key, turn = ended.turn.key, ended.turn
    return _said(
        {
            **_of_cr(key),
            "rolecall.cr.uid": trail.uid,
            "rolecall.turn.cause": turn.cause.text,
            "rolecall.turn.urgency": turn.urgency.name.lower(),
            "rolecall.turn.waited_s": round(turn.waited_s, 6),
        }
    )


def of_run(ended: EndedTurn, trail: TurnTrail) -> Attributes:
    ran, result, record = ended.outcome.ran, trail.result, ended.findings.of(RunRecord)
    values: dict[str, str | bool | int | float] = {
        "rolecall.run.id": result.run_id,
        "rolecall.run.way": result.way,
        "rolecall.run.outcome": outcome_of(result),
        "rolecall.run.ending": result.ending.value,
        "rolecall.run.is_finalizer": bool(ran.get("finalizer")),
        "rolecall.run.changed_tasks": len(result.changed_tasks),
        **_error(kind_of_failure(trail)),
    }
    if isinstance(generation := ran.get("generation"), int):
        values["rolecall.cr.generation"] = generation
    if result.cpu_s is not None:
        values["rolecall.run.cpu_s"] = round(result.cpu_s, 6)
    if record is not None:
        values["rolecall.run.requests"] = len(record.requests)
        values["rolecall.run.is_record_complete"] = record.is_complete
    return _said(values)


def of_task(task: RecordedTask) -> Attributes:
    return _said(
        {
            **_code(task.place),
            "rolecall.task.action": task.action,
            "rolecall.task.outcome": task.outcome,
            **_error("TaskFailed" if is_failed(task) else ""),
        }
    )


def of_request(request: RecordedRequest) -> Attributes:
    group, resource = request.group, request.resource
    values: dict[str, str | bool | int | float] = {
        "http.request.method": _METHODS.get(request.verb, "GET"),
        "http.request.body.size": request.sent_bytes,
        "http.response.body.size": request.answered_bytes,
        "url.path": request.path,
        _NAMESPACE: request.namespace,
        _NAMED.get((group, resource), ""): request.name,
        "rolecall.request.verb": request.verb,
        "rolecall.request.resource": f"{resource}.{group}" if group else resource,
        "rolecall.request.version": request.version,
        "rolecall.request.subresource": request.subresource,
        "rolecall.request.name": request.name,
        "rolecall.request.is_dry_run": request.is_dry_run,
        **_error(error_of(request)),
    }
    if request.code:
        values["http.response.status_code"] = request.code
    if request.items is not None:
        values["rolecall.request.items"] = request.items
    return _said(values)


def kind_of_failure(trail: TurnTrail) -> str:
    """Empty of a run that went well, and of one that was cancelled on purpose."""
    result = trail.result
    if outcome_of(result) != "failed":
        return ""
    return "TaskFailed" if result.ending.value == "Finished" else result.ending.value


def is_failed(task: RecordedTask) -> bool:
    return task.outcome in ("failed", "unreachable")


def error_of(request: RecordedRequest) -> str:
    """What went wrong with a request; that an object is not there, is an answer and no error."""
    if request.code == 0:
        return "NoAnswer"
    is_answer = request.verb == "get" and request.code == _NOT_FOUND
    return "" if request.code < 400 or is_answer else str(request.code)


def _error(kind: str) -> Attributes:
    return {"error.type": kind} if kind else {}


def _code(place: str) -> Attributes:
    file, _, line = place.rpartition(":")
    if file and line.isdigit():
        return {"code.file.path": file, "code.line.number": int(line)}
    return {"code.file.path": place}


def _of_cr(key: Key) -> Attributes:
    return {
        _NAMESPACE: key.namespace,
        "rolecall.cr.api_version": key.gvk.api_version,
        "rolecall.cr.kind": key.gvk.kind,
        "rolecall.cr.name": key.name,
    }


def _said(values: Attributes) -> Attributes:
    """Without what says nothing."""
    return {name: value for name, value in values.items() if name and value != ""}
