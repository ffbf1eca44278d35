"""Filters that decide for a PodSet: which pods to keep, remove and create, and what is said of them.

What must outlive a run is in the status of the PodSet: how often pods ended in a row, when last, how
many replacements wait. A pod is out of date by the hash of the template that it was made from, which is
in a label of ours: what an admission webhook made of the pod's spec says nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

Json = dict[str, Any]

OWNER_LABEL = "apps.rolecall.dev/podset"
TEMPLATE_LABEL = "apps.rolecall.dev/template"
# As the kubelet does it for containers: the first at once, then this, doubled up to that.
_FIRST_S, _LONGEST_S = 10, 300
_GOOD_S = 600  # of running without an end, and the next one is the first again
_YOUNG_S = 60  # pods that take longer to be ready are looked at less often
_FORM = "%Y-%m-%dT%H:%M:%SZ"


def podset_plan(
    pods: list[Json], cr: Json, wish: Json, now: str, everybody: Iterable[Json] = ()
) -> Json:
    """The step from the pods that are there to those that are wanted.

    `wish` has `replicas`, `template` and `strategy`. `everybody`: all pods of the namespace, which are
    needed only where `create` is not empty without them. New pods get numbered names that no pod has,
    not even one that is going: a pod whose creation was not reported is met by its name, not doubled.
    """
    everybody = list(everybody)
    ours = list({_name(pod): pod for pod in (*pods, *everybody) if _is_ours(pod, cr)}.values())
    taken = {_name(pod) for pod in (*ours, *everybody)}
    staying = [pod for pod in ours if "deletionTimestamp" not in pod["metadata"]]
    ended = sorted((pod for pod in staying if _has_ended(pod)), key=_end)
    template = _hash(wish["template"])
    alive = [pod for pod in staying if not _has_ended(pod)]
    alive.sort(key=lambda pod: _worth(pod, template))
    most = wish["replicas"] + _surge(alive, wish)
    keep, surplus = alive[:most], alive[most:]
    last = ended[-1] if ended and wish["replicas"] else None
    failure = _failure(ended, cr.get("status", {}), now)
    if last is not None and _is_outdated(last, template):
        # What the old template did says nothing of the present one: no waiting for its sake.
        failure |= {"failures": 0, "waiting": 0}
    rolled = _outdated_to_remove(keep, last, failure, wish, now)
    keep = [pod for pod in keep if pod not in rolled]
    is_going_on = not (_is_paused(wish) or _is_halted(last, failure, wish))
    more = _surge(keep, wish) if is_going_on else 0
    missing = wish["replicas"] + more - len(keep)
    waiting = _waiting(failure, missing, now)
    created = _free_names(cr["metadata"]["name"], missing - waiting, taken)
    return {
        "keep": keep,
        "create": [_pod(name, cr, wish["template"]) for name in created],
        "created": created,
        "remove": [_named(pod) for pod in (*ended, *surplus, *rolled) if pod is not last],
        "mark": [_marks(pod, cr, template) for pod in alive if _lacks_mark(pod, cr)],
        "outdated": [_name(pod) for pod in keep if _is_outdated(pod, template)],
        "last": last,
        "failure": {**failure, "waiting": waiting},
    }


def podset_verdict(plan: Json, cr: Json, wish: Json, now: str, why: str) -> Json:
    """`ready`, `reason`, `message`, `status`, and `again`: when to look again; `why`: not ready."""
    replicas, failure = wish["replicas"], plan["failure"]
    ready = sum(is_ready(pod) for pod in plan["keep"])
    names = sorted([*map(_name, plan["keep"]), *plan["created"]])
    updated = len(names) - len(plan["outdated"])
    is_rolling = _movable(plan["keep"], wish) > 0
    words = [f"{ready} of {replicas} pods are ready{f': {why}' if why else ''}"]
    if plan["outdated"]:
        words.append(f"{updated} of {len(names)} have the present template")
    if plan["last"] is not None and failure["failures"]:
        words.append(_failure_told(plan["last"], failure, is_rolling=is_rolling))
    reason = "AllReady"
    if failure["waiting"]:
        reason = "BackOff"
    elif ready < replicas or len(names) < replicas or (not is_rolling and len(names) != ready):
        reason = "PodsPending"
    elif is_rolling and _is_paused(wish):
        reason = "RolloutPaused"
    elif is_rolling:
        reason = "RolloutHalted" if _is_halted(plan["last"], failure, wish) else "Rolling"
    return {
        "ready": reason == "AllReady",
        "reason": reason,
        "message": "; ".join(words),
        "status": _status(plan, cr, names, ready, updated),
        "again": "" if reason == "AllReady" else _again(plan, now),
    }


def _status(plan: Json, cr: Json, names: list[str], ready: int, updated: int) -> Json:
    failure = plan["failure"]
    status = {
        "replicas": len(names),
        "readyReplicas": ready,
        "updatedReplicas": updated,
        "podNames": names,
        "selector": f"{OWNER_LABEL}={cr['metadata']['uid']}",
    }
    if not failure["since"]:
        return status
    return {
        **status,
        "failures": failure["failures"],
        "lastFailureTime": failure["since"],
        "waitingReplicas": failure["waiting"],
        "lastFailedPod": _name(plan["last"]) if plan["last"] is not None else "",
    }


def _failure_told(last: Json, failure: Json, *, is_rolling: bool) -> str:
    """With the time of the replacement and not what is left until then: that would never rest."""
    name, times = _name(last), failure["failures"]
    text = f"{name} {_why_ended(last)}"
    if times > 1:
        text += f", failure {times} in a row"
    if failure["waiting"]:
        text += f", replaced at {_due(failure).strftime(_FORM)}"
    elif is_rolling:
        text += ", so the rollout waits"
    return f"{text}; see kubectl logs {name}"


def _why_ended(pod: Json) -> str:
    status = pod.get("status", {})
    if status.get("reason"):
        return f"ended: {status['reason']}: {status.get('message', '')}".rstrip(": ")[:200]
    rows = (row.get("state", {}).get("terminated") for row in status.get("containerStatuses", []))
    codes = [row["exitCode"] for row in rows if row]
    code = next((code for code in codes if code), codes[0] if codes else None)
    return "ended" if code is None else f"ended with exit code {code}"


def _again(plan: Json, now: str) -> str:
    if plan["failure"]["waiting"]:
        return f"{max(int((_due(plan['failure']) - _time(now)).total_seconds()), 1)}s"
    ages = [_time(now) - _time(pod["metadata"]["creationTimestamp"]) for pod in plan["keep"]]
    is_young = plan["created"] or any(age < timedelta(seconds=_YOUNG_S) for age in ages)
    return "soon" if is_young else "later"


def _failure(ended: list[Json], status: Json, now: str) -> Json:
    """How often pods ended in a row, and since when the last time counts.

    One that is older than the last that counted does not count again: ten pods that end together are
    one failure and no thousand seconds of waiting.
    """
    failures, since = status.get("failures", 0), status.get("lastFailureTime", "")
    known = {"failures": failures, "since": since, "waiting": status.get("waitingReplicas", 0)}
    new = [pod for pod in ended if _name(pod) in status.get("podNames", [])]
    is_good = failures and _time(now) >= _due(known) + timedelta(seconds=_GOOD_S)
    if is_good:
        failures = 0
    waiting = known["waiting"] + len(new)
    if any(not failures or pod["metadata"]["creationTimestamp"] >= since for pod in new):
        return {"failures": failures + 1, "since": now, "waiting": waiting}
    return {"failures": failures, "since": since, "waiting": waiting}


def _due(failure: Json) -> datetime:
    """When pods that ended are replaced."""
    doubled = min(_FIRST_S * 2 ** min(failure["failures"] - 2, 10), _LONGEST_S)
    return _time(failure["since"]) + timedelta(seconds=doubled if failure["failures"] > 1 else 0)


def _waiting(failure: Json, missing: int, now: str) -> int:
    """How many of the missing pods are not made yet, since those before them ended."""
    if not failure["since"] or _time(now) >= _due(failure):
        return 0
    return int(min(failure["waiting"], missing))


def _is_rolling(wish: Json) -> bool:
    return bool(wish["strategy"].get("type") == "RollingUpdate")


def _is_paused(wish: Json) -> bool:
    return bool(wish["strategy"].get("paused"))


def _movable(pods: list[Json], wish: Json) -> int:
    """How many pods of another template are to be replaced: all but those of the partition."""
    outdated = sum(_is_outdated(pod, _hash(wish["template"])) for pod in pods)
    is_rolling = _is_rolling(wish)
    return max(outdated - int(wish["strategy"].get("partition", 0)), 0) if is_rolling else 0


def _surge(pods: list[Json], wish: Json) -> int:
    """How many pods there may be beyond the wanted number while others are replaced."""
    return min(int(wish["strategy"].get("maxSurge", 0)), _movable(pods, wish))


def _is_halted(last: Json | None, failure: Json, wish: Json) -> bool:
    """Whether a pod of the present template ended lately: no good one is given up for another."""
    return bool(failure["failures"] and last and not _is_outdated(last, _hash(wish["template"])))


def _outdated_to_remove(
    keep: list[Json], last: Json | None, failure: Json, wish: Json, now: str
) -> list[Json]:
    """Pods of another template, those that are not ready first, as many as may be missing.

    New pods that are not ready yet and pods that are missing count; ready pods are taken only while no
    more than that are unavailable at all.
    """
    if not _is_rolling(wish) or _is_paused(wish) or _is_halted(last, failure, wish):
        return []
    template, strategy = _hash(wish["template"]), wish["strategy"]
    patience = timedelta(seconds=strategy.get("minReadySeconds", 0))
    outdated = [pod for pod in keep if _is_outdated(pod, template)]
    idle = [pod for pod in outdated if not is_ready(pod)]
    serving = [pod for pod in outdated if is_ready(pod)]
    available = [pod for pod in keep if _is_ready_for(pod, patience, now)]
    is_new = sum(not _is_outdated(pod, template) for pod in available)
    most = strategy.get("maxUnavailable", 1)
    room = max(most - (wish["replicas"] - len(outdated) - is_new), 0)
    spare = max(min(most - (wish["replicas"] - len(available)), room - len(idle)), 0)
    return (idle[:room] + serving[:spare])[: _movable(keep, wish)]


def _is_ready_for(pod: Json, patience: timedelta, now: str) -> bool:
    rows = pod.get("status", {}).get("conditions", [])
    since = next((row.get("lastTransitionTime") for row in rows if row["type"] == "Ready"), None)
    return is_ready(pod) and (not since or _time(now) - _time(since) >= patience)


def is_ready(pod: Json) -> bool:
    """Whether the pod's `Ready` condition is true."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)


def _has_ended(pod: Json) -> bool:
    return pod.get("status", {}).get("phase") in ("Failed", "Succeeded")


def _end(pod: Json) -> tuple[str, str, str]:
    """Sorts by the time at which a pod ended."""
    rows = (row.get("state", {}) for row in pod["status"].get("containerStatuses", []))
    times = [row["terminated"].get("finishedAt") or "" for row in rows if row.get("terminated")]
    return (max(times, default=""), pod["metadata"]["creationTimestamp"], _name(pod))


def _is_ours(pod: Json, cr: Json) -> bool:
    """By our label, or as owner, where somebody took the label off."""
    uid, metadata = cr["metadata"]["uid"], pod["metadata"]
    owners = {owner["uid"] for owner in metadata.get("ownerReferences", [])}
    return uid in owners or _label(pod, OWNER_LABEL) == uid


def _is_outdated(pod: Json, template: str) -> bool:
    """A pod without the mark of a template is taken for one of the present one, and marked."""
    return _label(pod, TEMPLATE_LABEL) not in ("", template)


def _lacks_mark(pod: Json, cr: Json) -> bool:
    is_found = _label(pod, OWNER_LABEL) == cr["metadata"]["uid"]
    return not is_found or not _label(pod, TEMPLATE_LABEL) or _lacks_owner(pod, cr)


def _lacks_owner(pod: Json, cr: Json) -> bool:
    """Without an owner, the pod would outlive its PodSet. A pod may have one controller only."""
    owners = pod["metadata"].get("ownerReferences", [])
    is_owned = any(owner["uid"] == cr["metadata"]["uid"] for owner in owners)
    return not is_owned and not any(owner.get("controller") for owner in owners)


def _owner(cr: Json) -> Json:
    owner = {key: cr[key] for key in ("apiVersion", "kind")}
    owner |= {key: cr["metadata"][key] for key in ("name", "uid")}
    return {**owner, "controller": True, "blockOwnerDeletion": True}


def _marks(pod: Json, cr: Json, template: str) -> Json:
    """Only what is missing: the spec of a pod that a webhook changed could not be written again."""
    labels = {
        OWNER_LABEL: cr["metadata"]["uid"],
        TEMPLATE_LABEL: _label(pod, TEMPLATE_LABEL) or template,
    }
    named = _named(pod)
    owners = {"ownerReferences": [_owner(cr)]} if _lacks_owner(pod, cr) else {}
    return {**named, "metadata": {**named["metadata"], "labels": labels, **owners}}


def _named(pod: Json) -> Json:
    names = {key: pod["metadata"][key] for key in ("name", "namespace")}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": names}


def _pod(name: str, cr: Json, template: Json) -> Json:
    metadata = template.get("metadata", {})
    ours = {OWNER_LABEL: cr["metadata"]["uid"], TEMPLATE_LABEL: _hash(template)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": cr["metadata"]["namespace"],
            "labels": {**metadata.get("labels", {}), **ours},
            "annotations": metadata.get("annotations", {}),
            "ownerReferences": [_owner(cr)],
        },
        "spec": template["spec"],
    }


def _free_names(name: str, count: int, taken: set[str]) -> list[str]:
    numbered = (f"{name}-{number}" for number in range(max(count, 0) + len(taken)))
    return [candidate for candidate in numbered if candidate not in taken][: max(count, 0)]


def _hash(template: Json) -> str:
    text = json.dumps(template, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _worth(pod: Json, template: str) -> tuple[bool, bool, str, str]:
    """Sorts whom to keep first: the ready, then those of the present template, then the older."""
    created = pod["metadata"]["creationTimestamp"]
    return (not is_ready(pod), _is_outdated(pod, template), created, _name(pod))


def _label(pod: Json, key: str) -> str:
    return str(pod["metadata"].get("labels", {}).get(key, ""))


def _name(pod: Json) -> str:
    return str(pod["metadata"]["name"])


def _time(text: str) -> datetime:
    return datetime.strptime(text, _FORM)


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {"podset_plan": podset_plan, "podset_verdict": podset_verdict}
