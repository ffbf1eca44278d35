"""Filters that read what etcd prints, and what its pods and volumes are; `vars/main` decides by it.

A member that is not of a pod of this cluster was added by a person: it counts where health counts, and
is never removed or replaced.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
_CAUGHT_UP = 0.9  # etcd itself asks that of a learner before it may vote
_FULL = (
    "alarm:NOSPACE"  # of the cluster, reported by each member; such a member can still be replaced
)


def etcdcluster_members(
    list_json: str, status_json: str, name: str, volumes: Json, lag: int, known: list[Json]
) -> list[Json]:
    """Members in order of their numbers, from what `member list` and `endpoint status` print.

    Without a list they are those that are `known`, as status last had them. `volumes` maps a pod to
    the uid of its claim, and `lag` is how many entries a healthy one may lack. A member that never
    started has no name yet; its address shows which pod it is for. `number` is -1 for a member that is
    not ours, `reported` is what goes into status, and `size` is 0 where a member does not answer.
    """
    states = _states(status_json)
    newest = max((int(state.get("raftIndex", 0)) for state in states.values()), default=0)
    before = {member["id"]: member for member in known}
    as_known = [{"ID": int(member["id"], 16), "name": member["name"]} for member in known]
    members = []
    for row in json.loads(list_json)["members"] if list_json else as_known:
        member_id = _id(row["ID"])
        state, last = states.get(member_id, {}), before.get(member_id, {})
        url = next(iter(row.get("peerURLs") or []), "")
        pod = row.get("name") or _pod_of(url)
        volume, had = volumes.get(pod, ""), last.get("volume", "")
        version, healthy = state.get("version", ""), _is_healthy(state, newest, lag)
        member = {
            "name": pod,
            "id": member_id,
            "healthy": healthy,
            "learner": bool(row.get("isLearner")),
            "version": version,
            "volume": volume,
        }
        # A volume that was lost is still known when the others are well enough to replace its member,
        # and a member that does not answer counts in what the cluster can go back to.
        kept = {"volume": volume if healthy else had, "version": version or last.get("version", "")}
        size, used = int(state.get("dbSize", 0)), int(state.get("dbSizeInUse", 0))
        members.append(
            member
            | {
                "reported": member | kept,
                "number": _number(pod, name),
                "url": url,
                "started": bool(row.get("name")),
                "leader": bool(state) and _id(state.get("leader", 0)) == member_id,
                "storage": state.get("storageVersion", ""),
                "goes_back": (state.get("downgradeInfo") or {}).get("targetVersion", ""),
                # By its id: the member that came in its place would be replaced again and again.
                "lost_volume": bool(had and volume and volume != had),
                "is_full": any(_FULL in str(error) for error in state.get("errors") or []),
                "quota": int(state.get("dbSizeQuota", 0)),
                "size": size,
                "used": used,
                "unused_percent": (size - used) * 100 / size if size else 0,
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


def etcdcluster_alone(asked: list[Json]) -> list[Json]:
    """What members said of themselves that were asked one by one, with their names."""
    return [
        {"name": each["item"], "raftTerm": 0, "raftIndex": 0} | state
        for each in asked
        for state in _states(each.get("stdout") or "").values()
    ]


def etcdcluster_pods(
    pods: list[Json], found: Json, members: list[Json], reported: list[Json]
) -> list[Json]:
    """Pods as a change of their template needs them, in order of their numbers.

    `is_old`: of an older template than the set `found` has. `is_alone`: all members but its own are
    well. `version` is the tag of its image, or else what its member ran: an image may be another than
    was asked for, where a webhook names a mirror of the registry.
    """
    latest = found.get("status", {}).get("updateRevision", "")
    versions = {member["name"]: member.get("version", "") for member in reported}
    of = {member["name"]: member for member in members}
    rows = []
    for pod in pods:
        name, status = pod["metadata"]["name"], pod.get("status", {})
        labels = pod["metadata"].get("labels", {})
        annotations = pod["metadata"].get("annotations") or {}
        others = [member for member in members if member["name"] != name]
        true = [one["type"] for one in status.get("conditions") or [] if one["status"] == "True"]
        containers = status.get("containerStatuses") or []
        running = [one["name"] for one in containers if "running" in one.get("state", {})]
        rows.append(
            {
                "name": name,
                "number": int(name.rpartition("-")[2]),
                "is_old": bool(latest) and labels.get("controller-revision-hash", "") != latest,
                "is_going": "deletionTimestamp" in pod["metadata"],
                "is_ready": "Ready" in true,
                "runs": "etcd" in running,
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


def etcdcluster_loss(reported: list[Json], there: Json) -> Json:
    """What is left of members that status knows: `{voters, kept, others, adopted}`.

    `there` maps a pod's name to the uid of its claim. `kept` are voters whose volume is there, `others`
    those where there is another, such as a copy; `adopted` are all, with the volumes that are there.
    """
    voters = [member for member in reported if not member.get("learner")]
    found = [member for member in voters if member["name"] in there]
    kept = [row["name"] for row in found if row.get("volume") in (None, "", there[row["name"]])]
    others = [row["name"] for row in found if row["name"] not in kept]
    adopted = [row | {"volume": there.get(row["name"], row.get("volume", ""))} for row in reported]
    return {"voters": len(voters), "kept": kept, "others": others, "adopted": adopted}


def etcdcluster_text(found: list[Json], key: str) -> str:
    """A text in the first Secret; empty where there is none."""
    data = (found[0].get("data") or {}) if found else {}
    try:
        return base64.b64decode(data.get(key) or "").decode()
    except ValueError:
        return ""


class FilterModule:
    """How Ansible finds the filters: all functions here that have the role's name."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {name: each for name, each in globals().items() if name.startswith("etcdcluster_")}
