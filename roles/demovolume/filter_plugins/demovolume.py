"""Filters that decide for a claim: what to change in it, and what is said of it.

Sizes are numbers of bytes here, since one size has many texts: `1Ti` is `1024Gi`. `wish` holds what is
wanted and what is there in the same numbers: `size` (as text), `bytes`, `requested`, `capacity`, and
`retain`, `ours`, `can_grow` and `now`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

Json = dict[str, Any]

OWNER_LABEL = "demo.rolecall.dev/owner"
# On a claim that gave its owner up, so that it is taken back by a decision and not by accident.
RETAINED = "demo.rolecall.dev/retained"
_YOUNG_S = 60
_FORM = "%Y-%m-%dT%H:%M:%SZ"
_NOT_FEASIBLE = ("ControllerResizeInfeasible", "NodeResizeInfeasible")


def demovolume_change(claim: Json, cr: Json, wish: Json) -> Json:
    """What to merge into our claim: its mark, its size, and whom it belongs to; empty: nothing."""
    metadata = {**_mark(claim, cr), **_belonging(claim, cr, retain=wish["retain"])}
    spec: Json = {}
    if wish["requested"] < wish["bytes"] and wish["can_grow"]:
        spec = {"spec": {"resources": {"requests": {"storage": wish["size"]}}}}
    if not metadata and not spec:
        return {}
    if wish["retain"]:
        # A write that speaks of owners is not taken for one that forgot its owner.
        metadata.setdefault("ownerReferences", _others(claim, cr))
    names = {key: claim["metadata"][key] for key in ("name", "namespace")}
    kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return {**kind, "metadata": {**names, **metadata}, **spec}


def _mark(claim: Json, cr: Json) -> Json:
    uid = cr["metadata"]["uid"]
    is_marked = claim["metadata"].get("labels", {}).get(OWNER_LABEL) == uid
    return {} if is_marked else {"labels": {OWNER_LABEL: uid}}


def _belonging(claim: Json, cr: Json, *, retain: bool) -> Json:
    """Without an owner, nothing deletes the claim when the DemoVolume goes."""
    others = _others(claim, cr)
    is_retained = RETAINED in claim["metadata"].get("annotations", {})
    if retain and (_owners(claim) != others or not is_retained):
        return {"ownerReferences": others, "annotations": {RETAINED: "true"}}
    if not retain and is_retained:
        owner = {key: cr[key] for key in ("apiVersion", "kind")}
        owner |= {key: cr["metadata"][key] for key in ("name", "uid")}
        return {"ownerReferences": [*others, owner], "annotations": {RETAINED: None}}
    return {}


def _owners(obj: Json) -> list[Json]:
    owners: list[Json] = obj["metadata"].get("ownerReferences", [])
    return owners


def _others(obj: Json, cr: Json) -> list[Json]:
    return [owner for owner in _owners(obj) if owner["uid"] != cr["metadata"]["uid"]]


def demovolume_source_lack(found: Json, kind: str, name: str, wish: Json) -> Json:
    """The verdict on a source that the volume cannot begin with; empty where it can.

    `found` is what reading it answered; `wish` has its size in bytes, too, as `source`.
    """
    if not found.get("api_found", True):
        return _not_served()
    if not found.get("resources"):
        return _verdict("SourceMissing", f"there is no {kind} `{name}` to begin with", again="soon")
    status = found["resources"][0].get("status", {})
    if kind == "VolumeSnapshot" and not status.get("readyToUse"):
        message = f"the VolumeSnapshot `{name}` is not ready to use"
        return _verdict("SourceNotReady", message, again="soon")
    if wish["source"] > wish["bytes"]:
        message = (
            f"the {kind} `{name}` is larger than {wish['size']}; a copy needs its size or more"
        )
        return _verdict("SourceLarger", message)
    return {}


def demovolume_snapshots(found: Json, names: list[str], cr: Json, snapshot_class: str) -> Json:
    """Which snapshots to make, what the status says of all, and what is in the way."""
    if not found.get("api_found", True):
        return {"create": [], "status": [], "lack": _not_served()}
    ours = {one["metadata"]["name"]: one for one in found.get("resources", [])}
    wanted = [f"{cr['metadata']['name']}-{name}" for name in names]
    ready = {name for name, one in ours.items() if one.get("status", {}).get("readyToUse")}
    missing = [name for name in wanted if name not in ours]
    return {
        "create": [_snapshot(name, cr, snapshot_class) for name in missing],
        "status": [{"name": name, "ready": name in ready} for name in sorted({*wanted, *ours})],
        "lack": {},
    }


def _snapshot(name: str, cr: Json, snapshot_class: str) -> Json:
    cr_name, namespace = cr["metadata"]["name"], cr["metadata"]["namespace"]
    labels = {OWNER_LABEL: cr["metadata"]["uid"]}
    chosen = {"volumeSnapshotClassName": snapshot_class} if snapshot_class else {}
    return {
        "apiVersion": "snapshot.storage.k8s.io/v1",
        "kind": "VolumeSnapshot",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"source": {"persistentVolumeClaimName": cr_name}, **chosen},
    }


def demovolume_verdict(claim: Json, wish: Json, storage_class: Json, lacks: list[Json]) -> Json:
    """What is said of the claim: `state`, `ready`, `message`, and `again`: how soon to look again.

    `again` is `soon` where only the claim's status will change, of which no event comes; `rarely`
    where its metadata or spec will, of which one does; `unowned` where none comes, since the claim is
    not owned; empty where nothing is awaited. Of `lacks`, of source and snapshots, the first is told
    where there is no claim, or where all is well with it.
    """
    lack: Json = next((one for one in lacks if one), {})
    verdict = lack if lack and not claim else _verdict_on_claim(claim, wish, storage_class)
    if verdict["again"] == "rarely" and _is_young(claim, wish["now"]):
        return {**verdict, "again": "soon"}
    if verdict["again"] == "rarely" and (wish["retain"] or not wish["ours"]):
        return {**verdict, "again": "unowned"}
    return lack if lack and verdict["ready"] else verdict


def _is_young(claim: Json, now: str) -> bool:
    """Whether it may have changed before anybody followed the claims of its namespace."""
    created = claim.get("metadata", {}).get("creationTimestamp")
    if not created:
        return False
    age = datetime.strptime(now, _FORM) - datetime.strptime(created, _FORM)
    return age < timedelta(seconds=_YOUNG_S)


def _verdict_on_claim(claim: Json, wish: Json, storage_class: Json) -> Json:
    status = claim.get("status", {})
    phase = status.get("phase", "Pending")
    has = status.get("capacity", {}).get("storage", "")
    if not wish["ours"]:
        message = (
            f"the claim was there before and is used as it is, {phase} with {has or 'no size'}"
        )
        is_bound = phase == "Bound"
        return _verdict("ForeignClaim", message, ready=is_bound, again="" if is_bound else "rarely")
    if phase == "Lost":
        message = "the claim lost its volume; delete the claim to get a new, empty one"
        return _verdict("ClaimLost", message)
    if phase != "Bound":
        return _pending(claim, storage_class)
    if wish["capacity"] < wish["bytes"]:
        return _too_small(claim, wish, has)
    more = f", more than {wish['size']}: a volume never shrinks"
    message = f"the claim has {has}{more if wish['capacity'] > wish['bytes'] else ''}"
    return _verdict("Bound", message, ready=True)


def _pending(claim: Json, storage_class: Json) -> Json:
    spec = claim.get("spec", {})
    if spec.get("volumeName"):
        return _verdict("ClaimPending", "the claim has a volume and is being bound", again="soon")
    name = spec.get("storageClassName", "")
    if not storage_class:
        lack = f"there is no storage class `{name}`" if name else "no storage class is the default"
        return _verdict("ClaimPending", f"the claim waits for a volume: {lack}", again="rarely")
    is_chosen = "volume.kubernetes.io/selected-node" in claim["metadata"].get("annotations", {})
    if storage_class.get("volumeBindingMode") == "WaitForFirstConsumer" and not is_chosen:
        message = f"storage class `{name}` makes a volume for the first pod that uses the claim"
        return _verdict("WaitingForConsumer", message, again="rarely")
    message = f"the claim waits for a volume of storage class `{name}`"
    return _verdict("ClaimPending", message, again="rarely")


def _too_small(claim: Json, wish: Json, has: str) -> Json:
    status = claim["status"]
    if wish["requested"] < wish["bytes"] and not wish["can_grow"]:
        name = claim["spec"].get("storageClassName", "")
        message = (
            f"the claim has {has} and cannot grow to {wish['size']}: its storage class `{name}`"
            " does not allow it"
        )
        return _verdict("CannotGrow", message, again="rarely")
    if status.get("allocatedResourceStatuses", {}).get("storage") in _NOT_FEASIBLE:
        message = f"the claim has {has}; its storage system cannot make it {wish['size']}"
        return _verdict("CannotGrow", message, again="rarely")
    grows = f"the claim has {has} and grows to {wish['size']}"
    conditions = {row["type"]: row["status"] for row in status.get("conditions", [])}
    if conditions.get("FileSystemResizePending") == "True":
        return _verdict("Growing", f"{grows} where a pod uses it", again="soon")
    return _verdict("Growing", grows, again="soon")


def _not_served() -> Json:
    message = "this cluster has no snapshot.storage.k8s.io/v1; install its CRDs and controller"
    return _verdict("SnapshotsNotServed", message, again="rarely")


def _verdict(state: str, message: str, *, ready: bool = False, again: str = "") -> Json:
    return {"state": state, "ready": ready, "message": message, "again": again}


class FilterModule:
    """How Ansible finds the filters."""

    def filters(self) -> dict[str, Any]:
        """Name to function."""
        return {
            "demovolume_change": demovolume_change,
            "demovolume_snapshots": demovolume_snapshots,
            "demovolume_source_lack": demovolume_source_lack,
            "demovolume_verdict": demovolume_verdict,
        }
