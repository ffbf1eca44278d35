"""Filters that read what etcd prints, and what its pods and volumes are; `vars/main` decides by it.

A member that is not of a pod of this cluster was added by a person: it counts where health counts, and
is never removed or replaced.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
_CAUGHT_UP = 0.9  # etcd itself asks that of a learner before it may vote
_FULL = "alarm:NOSPACE"  # of the cluster, told by each member; such a member can still be replaced


def etcdcluster_members(
    list_json: str, status_json: str, name: str, volumes: Json, lag: int, known: list[Json]
) -> list[Json]:
    """Members in order of their numbers, from what `member list` and `endpoint status` print.

    `volumes` maps a pod's name to the uid of its claim, `known` are the members as status told them
    last, and `lag` is how many entries a healthy one may lack. A member that never started has no name
    yet; its address tells which pod it is for. `number` is -1 for a member that is not ours.
    """
    states = _states(status_json)
    newest = max((int(state.get("raftIndex", 0)) for state in states.values()), default=0)
    before = {member["id"]: member.get("volume", "") for member in known}
    members = []
    for row in json.loads(list_json)["members"]:
        member_id = _id(row["ID"])
        state = states.get(member_id, {})
        url = next(iter(row.get("peerURLs") or []), "")
        pod = row.get("name") or _pod_of(url)
        volume, last = volumes.get(pod, ""), before.get(member_id, "")
        members.append(
            {
                "name": pod,
                "id": member_id,
                "number": _number(pod, name),
                "url": url,
                "healthy": _is_healthy(state, newest, lag),
                "started": bool(row.get("name")),
                "learner": bool(row.get("isLearner")),
                "leader": bool(state) and _id(state.get("leader", 0)) == member_id,
                "version": state.get("version", ""),
                "storage": state.get("storageVersion", ""),
                "goes_back": (state.get("downgradeInfo") or {}).get("targetVersion", ""),
                "volume": volume,
                # By its id: the member that came in its place would be replaced again and again.
                "lost_volume": bool(last and volume and volume != last),
            }
        )
    return sorted(members, key=lambda one: (one["number"] < 0, one["number"], one["name"]))


def _is_healthy(state: Json, newest: int, lag: int) -> bool:
    """Whether a member answers, knows a leader, and has applied what the others have.

    The share alone would allow more and more the older a cluster is.
    """
    faults = [error for error in state.get("errors") or [] if _FULL not in str(error)]
    if not state or faults or not state.get("leader"):
        return False
    behind = newest - int(state.get("raftAppliedIndex", newest))
    return behind <= min(lag, newest * (1 - _CAUGHT_UP))


def etcdcluster_list_as_told(status_json: str, said: Json, wanted: int, name: str) -> str:
    """What `member list` would print, where it need not be asked; empty where it must be.

    That is while the cluster was healthy when it was told last, and each member that was told answers
    and is ours: of others the address counts.
    """
    told = said.get("members", [])
    ready = next((one for one in said.get("conditions", []) if one["type"] == "Ready"), {})
    is_as_told = set(_states(status_json)) == {member["id"] for member in told}
    is_ours = all(_number(member["name"], name) >= 0 for member in told)
    is_well = ready.get("reason") == "Healthy" and ready.get("status") == "True"
    if not (is_as_told and is_ours and is_well and len(told) == wanted):
        return ""
    return json.dumps({"members": [{"ID": int(m["id"], 16), "name": m["name"]} for m in told]})


def _states(text: str) -> Json:
    """What `endpoint status` prints of each member that answers, by its id; null where none does."""
    rows: list[Json] = json.loads(text or "[]") or []
    return {_id(row["Status"]["header"]["member_id"]): row["Status"] for row in rows}


def _id(number: int) -> str:
    """Identities are numbers in JSON, and hexadecimal on the command line."""
    return format(int(number), "x")


def _pod_of(url: str) -> str:
    """The pod that an address names; the whole host where it names none, as an IP address does."""
    host = urlsplit(url).hostname or url
    first = host.partition(".")[0]
    return host if first.isdecimal() or ":" in host else first


def _number(pod: str, name: str) -> int:
    """Which pod of the cluster it is; -1: a member that is not ours."""
    found = re.fullmatch(rf"{re.escape(name)}-(0|[1-9][0-9]*)", pod)
    return int(found[1]) if found else -1


def etcdcluster_told(members: list[Json], known: list[Json]) -> list[Json]:
    """Members as status tells them.

    A member that is not healthy keeps the volume that it was last healthy with: that is how a lost
    volume is still known when the others are well enough to replace the member. One that does not
    answer keeps its version, so that it counts in what the cluster can go back to.
    """
    before = {member["id"]: member for member in known}
    told = []
    for member in members:
        last = before.get(member["id"], {})
        kept = {
            "volume": member["volume"] if member["healthy"] else last.get("volume", ""),
            "version": member["version"] or last.get("version", ""),
        }
        fields = ("name", "id", "healthy", "learner")
        told.append({field: member[field] for field in fields} | kept)
    return told


def etcdcluster_alone(asked: list[Json]) -> list[Json]:
    """How far members got that were asked one by one, newest first: `{name, term, index}`."""
    found = []
    for each in asked:
        for state in _states(each.get("stdout") or "").values():
            term, index = int(state.get("raftTerm", 0)), int(state.get("raftIndex", 0))
            found.append({"name": each["item"], "term": term, "index": index})
    return sorted(found, key=lambda one: (one["term"], one["index"]), reverse=True)


def etcdcluster_pods(
    pods: list[Json], found: Json, members: list[Json], told: list[Json]
) -> list[Json]:
    """Pods as a change of their template needs them, in order of their numbers.

    `is_old`: of an older template than the set `found` has. `is_alone`: all members but its own are
    well. `version` is the tag of its image, or else what its member ran: an image may be another than
    was asked for, where a webhook names a mirror of the registry.
    """
    latest = found.get("status", {}).get("updateRevision", "")
    versions = {member["name"]: member.get("version", "") for member in told}
    of = {member["name"]: member for member in members}
    rows = []
    for pod in pods:
        name, status = pod["metadata"]["name"], pod.get("status", {})
        labels = pod["metadata"].get("labels", {})
        annotations = pod["metadata"].get("annotations") or {}
        others = [member for member in members if member["name"] != name]
        rows.append(
            {
                "name": name,
                "number": int(name.rpartition("-")[2]),
                "is_old": bool(latest) and labels.get("controller-revision-hash", "") != latest,
                "is_going": "deletionTimestamp" in pod["metadata"],
                "is_ready": any(
                    one["type"] == "Ready" and one["status"] == "True"
                    for one in status.get("conditions") or []
                ),
                "runs": any(
                    one["name"] == "etcd" and "running" in one.get("state", {})
                    for one in status.get("containerStatuses") or []
                ),
                "healthy": of.get(name, {}).get("healthy", False),
                "leader": of.get(name, {}).get("leader", False),
                "is_alone": bool(members)
                and all(one["healthy"] and not one["learner"] for one in others),
                "version": _tag(pod) or versions.get(name, ""),
                "trust": annotations.get("mycompany.com/trust", ""),
                "user": annotations.get("mycompany.com/user", ""),
            }
        )
    return sorted(rows, key=lambda row: row["number"])


def _tag(pod: Json) -> str:
    images = [one["image"] for one in pod["spec"]["containers"] if one["name"] == "etcd"]
    found = re.search(r":v?([^:/]+)$", images[0].partition("@")[0]) if images else None
    return found[1] if found else ""


def etcdcluster_loss(told: list[Json], claims: list[Json]) -> Json:
    """What is left of members that status knows: `{voters, kept, others, code}`.

    `kept` are voters whose volume is there, `others` those where there is another, such as a copy.
    `code` names this loss: a person who answers it must have read it, and the same answer does not
    count for the next one.
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
    known = ",".join(sorted(f"{row.get('id', '')}={row.get('volume', '')}" for row in told))
    code = hashlib.sha256(known.encode()).hexdigest()[:8]
    others = [name for each in voters if (name := each["name"]) in there and name not in kept]
    return {"voters": len(voters), "kept": kept, "others": others, "code": code}


def etcdcluster_adopted(told: list[Json], volumes: Json) -> list[Json]:
    """The members as told, with the volumes that are there now."""
    return [{**row, "volume": volumes.get(row["name"], row.get("volume", ""))} for row in told]


def etcdcluster_text(found: list[Json], key: str) -> str:
    """A text in the first Secret; empty where there is none."""
    data = (found[0].get("data") or {}) if found else {}
    try:
        return base64.b64decode(data.get(key) or "").decode()
    except ValueError:
        return ""


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_adopted": etcdcluster_adopted,
            "etcdcluster_alone": etcdcluster_alone,
            "etcdcluster_list_as_told": etcdcluster_list_as_told,
            "etcdcluster_loss": etcdcluster_loss,
            "etcdcluster_members": etcdcluster_members,
            "etcdcluster_pods": etcdcluster_pods,
            "etcdcluster_text": etcdcluster_text,
            "etcdcluster_told": etcdcluster_told,
        }
