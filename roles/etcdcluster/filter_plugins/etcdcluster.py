"""Filters that decide for an etcd cluster: who is a member, and what the next step is.

One step at a time, and none that could cost the quorum: members come and go only while all others are
healthy, a new one first learns and votes only when it has caught up. A member that is not of a pod of
this cluster was added by a person: it counts where health counts, and is never removed or replaced.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
_CAUGHT_UP = 0.9
_FULL = "alarm:NOSPACE"


def etcdcluster_members(
    list_json: str, status_json: str, name: str, volumes: Json, lag: int = 5000
) -> list[Json]:
    """Members in order of their numbers, from what `member list` and `endpoint status` print.

    `volumes` maps a pod's name to the uid of its claim, `lag` is how many entries a healthy one may
    lack. A member that never started has no name yet;
    its address tells which pod it is for.
    """
    states = _states(status_json)
    newest = max((int(state.get("raftIndex", 0)) for state in states.values()), default=0)
    members = []
    for row in json.loads(list_json)["members"]:
        member_id = _id(row["ID"])
        state = states.get(member_id, {})
        pod = row.get("name") or _pod_of(row["peerURLs"][0])
        members.append(
            {
                "name": pod,
                "id": member_id,
                "healthy": _is_healthy(state, newest, lag),
                "started": bool(row.get("name")),
                "learner": bool(row.get("isLearner")),
                "leader": bool(state) and _id(state.get("leader", 0)) == member_id,
                "version": state.get("version", ""),
                "storage": state.get("storageVersion", ""),
                "goes_back": (state.get("downgradeInfo") or {}).get("targetVersion", ""),
                "volume": volumes.get(pod, ""),
            }
        )
    return sorted(members, key=lambda member: _order(member["name"], name))


def _is_healthy(state: Json, newest: int, lag: int) -> bool:
    """Whether a member answers, knows a leader, and has applied what the others have.

    The share is the one that etcd itself asks of a learner before it may vote. Alone it would allow
    more and more the older a cluster is.
    """
    if not state or _faults(state) or not state.get("leader"):
        return False
    behind = newest - int(state.get("raftAppliedIndex", newest))
    return behind <= min(lag, newest * (1 - _CAUGHT_UP))


def _faults(state: Json) -> list[str]:
    """What etcd has against a member; a full database is one of the cluster, and each member tells it.

    With it a member can still be replaced, which a larger quota needs.
    """
    return [str(error) for error in state.get("errors") or [] if _FULL not in str(error)]


def etcdcluster_list_as_told(status_json: str, said: Json, wanted: int) -> str:
    """What `member list` would print, where it need not be asked; empty where it must be.

    That is while the cluster was healthy when it was told last, and each member that was told answers.
    """
    told = said.get("members", [])
    ready = next((one for one in said.get("conditions", []) if one["type"] == "Ready"), {})
    answering = set(_states(status_json))
    is_as_told = answering == {member["id"] for member in told} and len(told) == wanted
    if not is_as_told or ready.get("reason") != "Healthy" or ready.get("status") != "True":
        return ""
    return json.dumps({"members": [{"ID": int(m["id"], 16), "name": m["name"]} for m in told]})


def _states(text: str) -> Json:
    """What `endpoint status` prints of each member that answers, by its id."""
    return {_id(row["Status"]["header"]["member_id"]): row["Status"] for row in _rows(text)}


def _rows(text: str) -> list[Json]:
    """`endpoint status` prints nothing, or null, where it reached nobody."""
    rows: list[Json] = json.loads(text or "[]") or []
    return rows


def _id(number: int) -> str:
    """Identities are numbers in JSON, and hexadecimal on the command line."""
    return format(int(number), "x")


def _pod_of(url: str) -> str:
    """The pod that an address names; the whole host where it names none, as an IP address does."""
    host = urlsplit(url).hostname or url
    first = host.partition(".")[0]
    return host if first.isdecimal() or ":" in host else first


def _number(pod: str, name: str) -> int | None:
    """Which pod of the cluster it is; None: a member that is not ours."""
    found = re.fullmatch(rf"{re.escape(name)}-(0|[1-9][0-9]*)", pod)
    return int(found[1]) if found else None


def _order(pod: str, name: str) -> tuple[bool, int, str]:
    """Ours by their numbers, then those of others."""
    number = _number(pod, name)
    return number is None, number or 0, pod


def _is_beyond(member: Json, name: str, count: int) -> bool:
    """Whether it is of a pod that a cluster of this size does not have."""
    number = _number(member["name"], name)
    return number is not None and number >= count


def etcdcluster_step(
    members: list[Json], name: str, pods: int, wanted: int, known: list[Json]
) -> Json:
    """The next step: `{do, member}`, with `lost` where a member goes because its data is gone.

    `pods` is the StatefulSet's number of replicas, `known` the members as status told them last.
    """
    present = {member["name"]: member for member in members}
    lost = _lost(members, known)
    if lost:
        return {"do": "remove", "member": lost, "lost": True}
    unwanted = _unwanted(members, name, wanted)
    if unwanted:
        return {"do": "remove", "member": unwanted}
    ours = [member for member in members if _number(member["name"], name) is not None]
    waiting = next((m for m in ours if not m["started"]), None)
    if waiting:
        return {"do": "grow" if _is_beyond(waiting, name, pods) else "wait", "member": waiting}
    learner = next((m for m in ours if m["learner"]), None)
    if learner:
        return {"do": "promote" if learner["healthy"] else "wait", "member": learner}
    # One that never started and only learns has no vote, so it harms nothing.
    unwell = [m for m in members if not m["healthy"] and (m["started"] or not m["learner"])]
    if unwell:
        # Whoever does not answer: it is why the others may be without a leader for a moment.
        return {"do": "wait", "member": min(unwell, key=lambda one: bool(one["version"]))}
    return _resize(ours, present, name, pods, wanted)


def _lost(members: list[Json], known: list[Json]) -> Json | None:
    """A member whose volume was replaced: its data is gone, so it must be added anew.

    Known by its id, which the one that came in its place does not have: that one would be replaced
    again and again, until it happened to be healthy when looked at.
    """
    volumes = {member["id"]: member.get("volume", "") for member in known}
    for member in members:
        before = volumes.get(member["id"], "")
        is_replaced = before and member["volume"] and member["volume"] != before
        others = [other for other in members if other is not member and not other["learner"]]
        if is_replaced and not member["healthy"] and all(other["healthy"] for other in others):
            return member
    return None


def _unwanted(members: list[Json], name: str, wanted: int) -> Json | None:
    """A member that is not wanted any more and does nothing for the quorum: growing is taken back.

    A learner, one that never started, or one that is down while all others are well.
    """
    for member in reversed(members):
        others = [other for other in members if other is not member]
        is_idle = member["learner"] or not member["started"]
        is_down = not member["healthy"] and others and all(one["healthy"] for one in others)
        if _is_beyond(member, name, wanted) and (is_idle or is_down):
            return member
    return None


def _resize(members: list[Json], present: Json, name: str, pods: int, wanted: int) -> Json:
    missing = next(
        (f"{name}-{n}" for n in range(min(pods, wanted)) if f"{name}-{n}" not in present), ""
    )
    if missing:
        return {"do": "add", "member": {"name": missing}}
    if f"{name}-{pods - 1}" not in present:
        return {"do": "shrink", "member": {"name": f"{name}-{pods - 1}"}}
    if len(members) < wanted:
        return {"do": "add", "member": {"name": f"{name}-{len(members)}"}}
    if len(members) > wanted:
        return {"do": "remove", "member": members[-1]}
    return {"do": "nothing", "member": {}}


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


def etcdcluster_version_of(members: list[Json]) -> str:
    """The lowest version that a member runs; empty where none says."""
    versions = [member["version"] for member in members if member["version"]]
    return min(versions, key=_parts, default="")


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_list_as_told": etcdcluster_list_as_told,
            "etcdcluster_members": etcdcluster_members,
            "etcdcluster_step": etcdcluster_step,
            "etcdcluster_told": etcdcluster_told,
            "etcdcluster_version_of": etcdcluster_version_of,
        }
