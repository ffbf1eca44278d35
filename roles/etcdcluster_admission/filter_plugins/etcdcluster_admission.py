"""What of an EtcdCluster is refused before it is stored.

The role `etcdcluster` refuses the same, or waits, once it is stored: this only says it while the person
who writes is still there. So whatever takes a change back is let through.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
LABEL = "mycompany.com/etcdcluster"
GOES_BACK, KEEPS_VOTERS = (3, 6), (3, 5, 26)
REPLICAS = 3  # where the spec does not say


def refusals(admission: Json, there: list[Json], scaled: Json) -> list[str]:
    """Why the request is denied; `there` has the names of our objects, `scaled` is who is scaled."""
    new, old = admission["object"] or {}, admission["old_object"] or {}
    if admission["subresource"] == "scale":
        spec = {**scaled.get("spec", {}), **(new.get("spec") or {})}
        new, old = {**scaled, "spec": spec}, scaled
    if admission["operation"] == "CREATE":
        return list(_taken(there, admission["name"]))
    status = old.get("status") or {}
    if not old.get("spec") or not _versions(status) or _is_answer(new["spec"], old["spec"]):
        return []
    return [
        *_version(new["spec"], old["spec"], status),
        *_members(new["spec"], old["spec"], status),
    ]


def new_target(admission: Json) -> Json:
    """Where backups will go, where this request says so first; or nothing."""
    if admission["subresource"]:
        return {}
    new, old = (
        ((admission[which] or {}).get("spec") or {}).get("backupS3") or {}
        for which in ("object", "old_object")
    )
    return {} if new == old else new


def _is_answer(new: Json, old: Json) -> bool:
    """Whether somebody says what to do about a loss: then nothing of the members counts."""
    return bool(new.get("recover")) and new.get("recover") != old.get("recover")


def _taken(there: list[Json], name: str) -> Iterator[str]:
    foreign = [
        f"{each['kind']} {each['metadata']['name']}"
        for each in there
        if (each["metadata"].get("labels") or {}).get(LABEL) != name
    ]
    if foreign:
        yield (
            f"metadata.name: {', '.join(foreign)} of that name is there, and would not be touched; "
            "choose another name, or delete it first"
        )


def _version(new: Json, old: Json, status: Json) -> Iterator[str]:
    wanted, lowest, highest = new["version"], *_versions(status)
    if wanted in (old["version"], highest, status.get("targetVersion")):
        return
    if why := _unreachable(wanted, lowest, highest):
        yield f"spec.version: {why}"
    elif lowest != highest and _parts(wanted)[:2] != _parts(lowest)[:2]:
        yield f"spec.version: {_upgrading(lowest, highest)}"
    elif resizing := _resizing(old, status):
        yield f"spec.version: {resizing}"


def _unreachable(wanted: str, lowest: str, highest: str) -> str:
    """Why etcd cannot get there, in the words of the role `etcdcluster`."""
    goes, low, high = (_parts(each) for each in (wanted, lowest, highest))
    if goes[0] != low[0] or goes[1] > low[1] + 1:
        return f"etcd cannot go from {lowest} to {wanted} at once; go one minor release at a time"
    if goes[1] < high[1] - 1 or (goes[1] < low[1] and low < GOES_BACK):
        return (
            f"etcd cannot go back from {highest} to {wanted}; from 3.6 on it can, one minor release at"
            " a time; else restore a backup into a new EtcdCluster"
        )
    if goes >= GOES_BACK > high and low < KEEPS_VOTERS:
        return (
            f"etcd cannot go from {lowest} to {wanted} safely, since members that came later could turn"
            " into learners again (etcd issue 19557); go to 3.5.26 or a later 3.5 first"
        )
    return ""


def _members(new: Json, old: Json, status: Json) -> Iterator[str]:
    wanted, before = (int(spec.get("replicas", REPLICAS)) for spec in (new, old))
    voters = [member for member in status["members"] if not member.get("learner")]
    lowest, highest = _versions(status)
    if wanted in (before, len(voters)):
        return
    if lowest != highest:
        yield f"spec.replicas: {_upgrading(lowest, highest)}"
        return
    unwell = [member["name"] for member in voters if not member.get("healthy")]
    staying = [name for name in unwell if int(name.rpartition("-")[2]) < wanted]
    if wanted < len(voters) and staying:
        yield (
            f"spec.replicas: {' and '.join(staying)} would stay and is not healthy, so that with fewer "
            "members the quorum could be lost; mend it first, or answer the loss by spec.recover"
        )


def _upgrading(lowest: str, highest: str) -> str:
    return (
        f"the upgrade from {lowest} to {highest} is under way, and one change is made at a time; wait "
        f"until status.version is {highest}"
    )


def _resizing(old: Json, status: Json) -> str:
    wanted, there = int(old.get("replicas", REPLICAS)), status["members"]
    if len(there) == wanted and not any(member.get("learner") for member in there):
        return ""
    return (
        f"members are on their way, {len(there)} of {wanted} are there, and one change is made at a "
        "time; wait, or take spec.replicas back first"
    )


def _versions(status: Json) -> list[str]:
    """The lowest and the highest that members run; nothing where none is known."""
    found = [row["version"] for row in status.get("members") or [] if row.get("version")]
    return [min(found, key=_parts), max(found, key=_parts)] if found else []


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "etcdcluster_admission_new_target": new_target,
            "etcdcluster_admission_refusals": refusals,
        }
