"""Filters that decide over the life of an etcd cluster: its version, its pods, and what is lost.

Pods are replaced by the role's own hand, never by the StatefulSet: a set knows whether pods are ready,
and only etcd knows whether its quorum bears that one goes.
"""

from __future__ import annotations

import hashlib
from typing import Any

Json = dict[str, Any]
_GOES_BACK = (3, 6)
_KEEPS_VOTERS = (3, 5, 26)


def etcdcluster_target(wanted: str, members: list[Json], said: Json) -> Json:
    """The version to go to, and why the wanted one is refused, if it is: `{version, refusal}`.

    A refusal keeps the version that was accepted last. What counts is what members ran: a version that
    no member ever started, such as a mistyped one, can be corrected to any other.
    """
    versions = [row["version"] for row in members + said.get("members", []) if row.get("version")]
    if not versions:
        return {"version": wanted, "refusal": ""}
    lowest, highest = min(versions, key=_parts), max(versions, key=_parts)
    refusal = _refusal(wanted, lowest, highest)
    accepted = said.get("targetVersion") or highest
    return {"version": accepted if refusal else wanted, "refusal": refusal}


def _refusal(wanted: str, lowest: str, highest: str) -> str:
    new, low, high = (_parts(each) for each in (wanted, lowest, highest))
    if new[0] != low[0] or new[1] > low[1] + 1:
        return f"etcd cannot go from {lowest} to {wanted} at once; go one minor release at a time"
    if new[1] < high[1] - 1 or (new[1] < low[1] and low < _GOES_BACK):
        return (
            f"etcd cannot go back from {highest} to {wanted}; from 3.6 on it can, one minor release at"
            " a time; else restore a backup into a new EtcdCluster"
        )
    if new >= _GOES_BACK > high and low < _KEEPS_VOTERS:
        return (
            f"etcd cannot go from {lowest} to {wanted} safely, since members that came later could turn"
            " into learners again (etcd issue 19557); go to 3.5.26 or a later 3.5 first"
        )
    return ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def etcdcluster_loss(told: list[Json], claims: list[Json]) -> Json:
    """What is left of members that status knows: `{reason, kept, others, code}`.

    `others` are members whose volume is there and is another, such as one that was copied back.
    `reason` is empty where the volumes of a majority are there. `code` names this loss: whoever answers
    it must have read it, and the same answer does not count for the next one.
    """
    there = {
        claim["metadata"]["name"].removeprefix("data-"): claim["metadata"]["uid"]
        for claim in claims
        if "deletionTimestamp" not in claim["metadata"]
        and claim.get("status", {}).get("phase") != "Lost"
    }
    voters = [member for member in told if not member.get("learner")]
    kept = [
        member["name"]
        for member in voters
        if member["name"] in there
        and (member.get("volume") or there[member["name"]]) == there[member["name"]]
    ]
    reason = "" if len(kept) * 2 > len(voters) else "QuorumLost" if kept else "DataLost"
    known = ",".join(sorted(f"{row.get('id', '')}={row.get('volume', '')}" for row in told))
    code = hashlib.sha256(known.encode()).hexdigest()[:8]
    others = [name for each in voters if (name := each["name"]) in there and name not in kept]
    return {"reason": reason if voters else "", "kept": kept, "others": others, "code": code}


def etcdcluster_adopted(told: list[Json], volumes: Json) -> list[Json]:
    """The members as told, with the volumes that are there now."""
    return [row | {"volume": volumes.get(row["name"], row.get("volume", ""))} for row in told]


def etcdcluster_recovery(answer: str, loss: Json) -> Json:
    """What a person said about this loss: `{do, member}`.

    `do` is nothing, `force`, `empty`, or `adopt`: to take the volumes that are there for the members'.
    """
    if loss["others"] and answer == f"volumes-{loss['code']}":
        return {"do": "adopt", "member": ""}
    if answer == f"empty-{loss['code']}":
        return {"do": "empty", "member": ""}
    for member in loss["kept"]:
        if answer == f"{member}-{loss['code']}":
            return {"do": "force", "member": member}
    return {"do": "", "member": ""}


def etcdcluster_renewal(
    pods: list[Json], found: Json, members: list[Json], image: str, is_forced: bool = False
) -> Json:
    """Pods to delete so that they come anew from the set's template.

    Also whom it waits for, how many are left and which are done: `{pods, waits_for, left, renewed}`.
    A pod whose etcd does not run costs nothing, nor one that is unwell while all others are well.
    One that runs is otherwise never taken: while a leader is elected all are unwell for a moment.
    Of healthy ones one goes at a time, the leader's last, and only while etcd says that every member
    is well and all other pods are ready; or no old pod is, as with a probe that is mended.
    `is_forced` while a person has a cluster made anew from one member, which cannot answer
    yet.
    """
    latest = found.get("status", {}).get("updateRevision", "")
    outdated = [pod for pod in pods if latest and not _is_going(pod) and _revision(pod) != latest]
    renewed = [_name(pod) for pod in pods if _revision(pod) == latest]
    if not outdated or not _is_observed(found):
        return {"pods": [], "waits_for": "", "left": 0, "renewed": renewed}
    healthy = {member["name"] for member in members if member["healthy"]}
    in_use = {_image(pod) for pod in pods if _name(pod) in healthy or _runs(pod)}
    down = [
        pod
        for pod in outdated
        if _name(pod) not in healthy and (is_forced or not _runs(pod) or _is_alone(pod, members))
    ]
    chosen = [_name(pod) for pod in down if is_forced or not _would_upgrade(pod, in_use, image)]
    unwell = [member for member in members if not member["healthy"] or member["learner"]]
    # First whoever does not answer: it is why the others are without a leader for a moment.
    sick = [member["name"] for member in sorted(unwell, key=lambda one: bool(one.get("version")))]
    going = [_name(pod) for pod in pods if _is_going(pod)]
    unready = {_name(pod) for pod in pods if not _is_ready(pod)}
    leaders = {member["name"] for member in members if member["leader"]}

    def turn(pod: Json) -> tuple[bool, bool, int]:
        return _name(pod) not in unready, _name(pod) in leaders, -_ordinal(_name(pod))

    first = _name(min(outdated, key=turn))
    is_like_others = unready == {_name(pod) for pod in outdated}
    missing = [] if is_like_others else sorted(unready - {first})
    waits_for = next(iter(sick + going + missing), "")
    if not chosen and not waits_for and members:
        chosen = [first]
    return {"pods": chosen, "waits_for": waits_for, "left": len(outdated), "renewed": renewed}


def _is_alone(pod: Json, members: list[Json]) -> bool:
    """Whether its member is the only one that is unwell."""
    others = [member for member in members if member["name"] != _name(pod)]
    return bool(members) and all(one["healthy"] and not one["learner"] for one in others)


def _would_upgrade(pod: Json, in_use: set[str], image: str) -> bool:
    """Whether a pod that is down would be the first to leave the version of the others.

    It stays with them, or the upgrade would begin while one is missing. One that is down with an image
    of its own is where an upgrade failed, and comes from a template that was mended since.
    """
    return _image(pod) in in_use and _image(pod) != image


def _is_observed(found: Json) -> bool:
    """Whether the set's controller has seen its latest template."""
    seen: int = found.get("status", {}).get("observedGeneration", 0)
    return seen >= found["metadata"].get("generation", 0)


def _is_going(pod: Json) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _is_ready(pod: Json) -> bool:
    conditions: list[Json] = pod.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _revision(pod: Json) -> str:
    labels: Json = pod["metadata"].get("labels", {})
    return str(labels.get("controller-revision-hash", ""))


def _name(pod: Json) -> str:
    return str(pod["metadata"]["name"])


def _ordinal(name: str) -> int:
    return int(name.rpartition("-")[2])


def _image(pod: Json) -> str:
    containers: list[Json] = pod["spec"]["containers"]
    return next((str(one["image"]) for one in containers if one["name"] == "etcd"), "")


def _runs(pod: Json) -> bool:
    statuses: list[Json] = pod.get("status", {}).get("containerStatuses", [])
    return any(one["name"] == "etcd" and "running" in one.get("state", {}) for one in statuses)


def etcdcluster_pods(found: Json, names: list[str], do: str, wanted: int, forced: str) -> Json:
    """Which pods the set has: `{start, replicas}`, numbers from `start` on.

    `names` are the members that have data. A set that somebody scaled down, or that was deleted, has
    a pod for each of them again. While a cluster is made anew from one member, that is the only pod.
    """
    if forced:
        return {"start": _ordinal(forced), "replicas": 1}
    if not found and not names:
        return {"start": 0, "replicas": wanted}
    now = etcdcluster_pods_end(found)
    needed = max([_ordinal(name) + 1 for name in names], default=0)
    return {"start": 0, "replicas": max(now, needed) + {"grow": 1, "shrink": -1}.get(do, 0)}


def etcdcluster_pods_end(found: Json) -> int:
    """The number after the last pod of a set."""
    spec = found.get("spec", {})
    return int(spec.get("ordinals", {}).get("start", 0)) + int(spec.get("replicas", 0))


def etcdcluster_running(pods: list[Json], told: list[Json]) -> list[str]:
    """Pods that may answer, those that were unwell last: asking one on a node that hangs takes long."""
    unwell = {member["name"] for member in told if not member.get("healthy")}
    running = [
        _name(pod)
        for pod in pods
        if pod.get("status", {}).get("phase") == "Running" and not _is_going(pod)
    ]
    return sorted(running, key=lambda name: (name in unwell, name))


def etcdcluster_volumes(claims: list[Json]) -> Json:
    """The uid of each member's claim, by the name of its pod."""
    return {_name(claim).removeprefix("data-"): claim["metadata"]["uid"] for claim in claims}


def etcdcluster_leftovers(claims: list[Json], members: list[Json], pods: list[Json]) -> list[str]:
    """Volumes of members that went: etcd does not list them, and no pod uses them."""
    kept = {f"data-{member['name']}" for member in members} | {f"data-{_name(pod)}" for pod in pods}
    return [_name(claim) for claim in claims if _name(claim) not in kept]


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_adopted": etcdcluster_adopted,
            "etcdcluster_leftovers": etcdcluster_leftovers,
            "etcdcluster_loss": etcdcluster_loss,
            "etcdcluster_pods": etcdcluster_pods,
            "etcdcluster_pods_end": etcdcluster_pods_end,
            "etcdcluster_recovery": etcdcluster_recovery,
            "etcdcluster_renewal": etcdcluster_renewal,
            "etcdcluster_running": etcdcluster_running,
            "etcdcluster_target": etcdcluster_target,
            "etcdcluster_volumes": etcdcluster_volumes,
        }
