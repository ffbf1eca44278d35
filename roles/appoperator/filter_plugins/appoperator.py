"""Filters that decide about rollouts: what the pods are to be now, and how it stands with them.

A rollout is known by its *attempt*: a digest of everything that may decide whether it succeeds. Neither
the number of pods nor the generation is in it, so whoever scales does not try a failed one again. The
clock is ours: a Deployment counts a container that starts again as progress, and would give a crashing
one time for ever.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

Json = dict[str, Any]
TEMPLATE = "tools.rolecall.dev/template"


def appoperator_plan(wishes: Json, facts: Json) -> Json:
    """The pod to run now: the one that is asked for, or the last good one where that failed.

    `wishes` follow from the spec, `facts` were found: status, Deployment, pods and the time.
    """
    status, revisions = facts["status"], _revisions(facts["status"])
    target = _target(wishes, revisions)
    attempt = _attempt(target, wishes, facts)
    has_failed_now = _ran_out_of_time(attempt, target, wishes, facts)
    has_failed = has_failed_now or (status.get("failed") or {}).get("attempt") == attempt
    good: Json = revisions[0]["template"] if revisions else target
    is_back = has_failed and good != target
    pod = good if is_back else target
    judged = target if has_failed_now else pod
    return {
        "pod": pod,
        "template": _template(pod, facts),
        "attempt": _attempt(pod, wishes, facts),
        "port": _port(pod),
        "isBack": is_back,
        "failed": attempt if has_failed else "",
        "hasFailedNow": has_failed_now,
        "failedImage": target["containers"][0]["image"],
        "revisions": revisions,
        "judgedPods": _pods_of(_template(judged, facts), facts["pods"]),
    }


def appoperator_is_complete(deployment: Json, template: str = "") -> bool:
    """Whether all of its pods are available, and of this template where one is named."""
    spec, status = deployment.get("spec", {}), deployment.get("status", {})
    counts = {status.get(f"{which}eplicas", 0) for which in ("r", "updatedR", "availableR")}
    generation = deployment.get("metadata", {}).get("generation")
    is_observed = status.get("observedGeneration") == generation
    is_that = template in ("", _template_of(spec.get("template", {})))
    return bool(spec) and is_observed and is_that and counts == {spec["replicas"]}


def appoperator_verdict(plan: Json, wishes: Json, facts: Json, why: str = "") -> Json:
    """How it stands after the run, as `rolecall.operator.report` tells it.

    `facts` have the Deployment as it is after the run; `why` is what the pods say.
    """
    deployment = facts["deployment"]
    is_complete = appoperator_is_complete(deployment, plan["template"])
    rollout = _rollout(plan, wishes, facts, is_complete)
    failed = _failed(plan, facts["status"], why)
    state = _state(plan, rollout, facts, is_complete)
    if state == "Available":
        failed = None
    revisions = plan["revisions"]
    if is_complete and not plan["isBack"]:
        revisions = _with_good(revisions, plan["pod"], wishes, facts)
    deadline = int(wishes["deadline"])
    since = _seconds(rollout.get("since"))
    return {
        "reason": state,
        "ready": state == "Available",
        "message": _message(state, plan, wishes, deployment, why or _refusal(deployment), failed),
        "isUnderWay": since is not None and _now(facts) - since <= deadline,
        "status": {
            **_counts(deployment),
            "currentImage": plan["pod"]["containers"][0]["image"],
            "lastGoodImage": revisions[0]["image"] if revisions else "",
            "revisions": revisions,
            "rollout": rollout,
            "failed": failed,
        },
    }


# --- what is asked for, and what was good ---------------------------------------------------------


def _target(wishes: Json, revisions: list[Json]) -> Json:
    """The pod of the spec, or of the revision that `rollbackTo` names."""
    number = int(wishes.get("rollbackTo") or 0)
    chosen = (one["template"] for one in revisions if one["revision"] == number)
    target: Json = next(chosen, wishes["pod"])
    return target


def _revisions(status: Json) -> list[Json]:
    """Those that completed, the newest first."""
    if "revisions" in status or not status.get("lastGood"):
        return list(status.get("revisions") or [])
    # As releases before 1.1 kept it.
    old = status["lastGood"]
    container = {"name": "app-container", "image": old["image"]}
    container |= {key: old[key] for key in ("env", "resources") if old.get(key)}
    if old.get("port"):
        container["ports"] = [{"name": "app", "containerPort": old["port"]}]
    return [{"revision": 1, "image": old["image"], "template": {"containers": [container]}}]


def _with_good(revisions: list[Json], pod: Json, wishes: Json, facts: Json) -> list[Json]:
    """With the one that is good now at the front, under the number that it had."""
    if revisions and revisions[0]["template"] == pod:
        return revisions
    old = next((one["revision"] for one in revisions if one["template"] == pod), 0)
    good = {
        "revision": old or max([one["revision"] for one in revisions], default=0) + 1,
        "image": pod["containers"][0]["image"],
        "completedAt": facts["moment"],
        "template": pod,
    }
    others = [one for one in revisions if one["template"] != pod]
    return [good, *others][: max(int(wishes["kept"]), 1)]


# --- what the pods refer to -----------------------------------------------------------------------


def appoperator_references(pods: list[Json]) -> list[Json]:
    """ConfigMaps and Secrets whose content containers of these pods see: `kind` and `name`."""
    found = {reference for pod in pods for reference in _references(pod)}
    return [{"kind": kind, "name": name} for kind, name in sorted(found)]


def appoperator_contents(objects: list[Json]) -> Json:
    """A digest of the content of each, by kind and name; labels and annotations do not count."""
    return {
        f"{one['kind']}/{one['metadata']['name']}": _digest(one.get("data"), one.get("binaryData"))
        for one in objects
    }


def _references(pod: Json) -> Iterator[tuple[str, str]]:
    for container in pod["containers"]:
        for source in container.get("envFrom") or []:
            yield from _named(source.get("configMapRef"), source.get("secretRef"))
        for variable in container.get("env") or []:
            value = variable.get("valueFrom") or {}
            yield from _named(value.get("configMapKeyRef"), value.get("secretKeyRef"))
    for volume in pod.get("volumes") or []:
        for source in [volume, *((volume.get("projected") or {}).get("sources") or [])]:
            yield from _named(source.get("configMap"), source.get("secret"))


def _named(config_map: Json | None, secret: Json | None) -> Iterator[tuple[str, str]]:
    for kind, reference in (("ConfigMap", config_map), ("Secret", secret)):
        # A volume calls it `secretName`, all else `name`.
        name = (reference or {}).get("name") or (reference or {}).get("secretName")
        if name:
            yield kind, str(name)


def _template(pod: Json, facts: Json) -> str:
    """What pods of this template are marked with; other content in a ConfigMap makes another."""
    seen = {f"{kind}/{name}" for kind, name in _references(pod)}
    contents = {key: value for key, value in facts["contents"].items() if key in seen}
    return _digest(pod, contents)


# --- the clock ------------------------------------------------------------------------------------


def _ran_out_of_time(attempt: str, pod: Json, wishes: Json, facts: Json) -> bool:
    """Whether no further pod became available for the whole deadline."""
    rollout = facts["status"].get("rollout") or {}
    since = _seconds(rollout.get("since"))
    if rollout.get("attempt") != attempt or rollout.get("completed") or since is None:
        return False
    template = _template(pod, facts)
    if appoperator_is_complete(facts["deployment"], template):
        return False
    is_late = _now(facts) - since > int(wishes["deadline"])
    return is_late and _available(template, wishes, facts) <= rollout.get("available", 0)


def _rollout(plan: Json, wishes: Json, facts: Json, is_complete: bool) -> Json:
    """How far this attempt came, and since when; written only when that changes."""
    before = facts["status"].get("rollout") or {}
    if before.get("attempt") != plan["attempt"]:
        before = {}
    if is_complete:
        # What is null is removed.
        return {"attempt": plan["attempt"], "completed": True, "available": None, "since": None}
    available = _available(plan["template"], wishes, facts)
    now = {"attempt": plan["attempt"], "completed": bool(before.get("completed"))}
    if before.get("since") and available <= before.get("available", 0):
        return {**now, "available": before.get("available", 0), "since": before["since"]}
    return {**now, "available": available, "since": facts["moment"]}


def _available(template: str, wishes: Json, facts: Json) -> int:
    """Pods of this template that have been ready for long enough."""
    ready = [_condition(pod, "Ready") for pod in _pods_of(template, facts["pods"])]
    since = [_seconds(row["lastTransitionTime"]) for row in ready if row.get("status") == "True"]
    latest = _now(facts) - int(wishes["minReady"])
    return sum(one is not None and one <= latest for one in since)


# --- what is told ---------------------------------------------------------------------------------


def _state(plan: Json, rollout: Json, facts: Json, is_complete: bool) -> str:
    if plan["isBack"]:
        return "RolledBack" if rollout["completed"] else "RollingBack"
    if is_complete:
        return "RouteNotServed" if facts.get("isRouteMissing") else "Available"
    if plan["failed"]:
        return "RolloutFailed"
    return "PodsNotReady" if rollout["completed"] else "RollingOut"


def _failed(plan: Json, status: Json, why: str) -> Json | None:
    """The attempt that failed, and why, which its pods can tell only while they are there."""
    if not plan["failed"]:
        return None
    if plan["hasFailedNow"]:
        return {"attempt": plan["failed"], "image": plan["failedImage"], "why": why}
    kept: Json = status["failed"]
    return kept


def _message(
    state: str, plan: Json, wishes: Json, deployment: Json, why: str, failed: Json | None
) -> str:
    counts = _counts(deployment)
    ready = f"{counts['readyReplicas']} of {deployment['spec']['replicas']} pods"
    image = plan["pod"]["containers"][0]["image"]
    if failed and state != "Available":
        return _failure(state, image, failed, int(wishes["deadline"]))
    if state == "RouteNotServed":
        return (
            "the cluster does not serve HTTPRoute of gateway.networking.k8s.io/v1, so nothing leads"
            " to the application: install the Gateway API, or remove spec.httpRoute"
        )
    if state == "Available":
        chosen = int(wishes.get("rollbackTo") or 0)
        return f"{ready} run `{image}`" + (f", revision {chosen}" if chosen else "")
    return f"{ready} are ready" + (f": {why}" if why else "")


def _failure(state: str, image: str, failed: Json, deadline: int) -> str:
    because = f" ({failed['why']})" if failed.get("why") else ""
    lost = f"the rollout of `{failed['image']}` made no progress for {deadline} s{because}"
    if state == "RollingBack":
        return f"{lost}; going back to `{image}`"
    if state == "RolledBack":
        return f"{lost} and was rolled back to `{image}`; mend the spec to try again"
    return f"{lost}, and there is no earlier one to go back to"


def _counts(deployment: Json) -> Json:
    status = deployment.get("status", {})
    ready = status.get("readyReplicas", 0)
    return {
        "replicas": status.get("replicas", 0),
        "readyReplicas": ready,
        "progress": f"{ready}/{deployment['spec']['replicas']}",
    }


def _refusal(deployment: Json) -> str:
    """Why pods cannot even be created: a quota, or Pod Security."""
    found = _condition(deployment, "ReplicaFailure")
    return str(found.get("message", "")) if found.get("status") == "True" else ""


# --- reading --------------------------------------------------------------------------------------


def _attempt(pod: Json, wishes: Json, facts: Json) -> str:
    return _digest(_template(pod, facts), int(wishes["deadline"]), int(wishes["minReady"]))


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _port(pod: Json) -> int:
    ports = pod["containers"][0].get("ports") or [{"containerPort": 0}]
    return int(ports[0]["containerPort"])


def _pods_of(template: str, pods: list[Json]) -> list[Json]:
    alive = (pod for pod in pods if "deletionTimestamp" not in pod["metadata"])
    return [pod for pod in alive if _template_of(pod) == template]


def _template_of(pod: Json) -> str:
    annotations = pod.get("metadata", {}).get("annotations") or {}
    return str(annotations.get(TEMPLATE, ""))


def _condition(obj: Json, kind: str) -> Json:
    rows = obj.get("status", {}).get("conditions") or []
    found: Json = next((row for row in rows if row["type"] == kind), {})
    return found


def _now(facts: Json) -> float:
    """The time of this run."""
    return datetime.fromisoformat(facts["moment"]).timestamp()


def _seconds(moment: str | None) -> float | None:
    return datetime.fromisoformat(moment).timestamp() if moment else None


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "appoperator_is_complete": appoperator_is_complete,
            "appoperator_contents": appoperator_contents,
            "appoperator_plan": appoperator_plan,
            "appoperator_references": appoperator_references,
            "appoperator_verdict": appoperator_verdict,
        }
