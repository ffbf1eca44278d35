"""What a plan said beside what a run made of it, object by object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from rolecall.json_object import Json
from rolecall.plan import Certainty, PlannedChange, PlannedObject, PlannedRun, compared

# Written by controllers when they get to it.
_LATE_ANNOTATIONS = re.compile(r"(deployment|pv|volume(\.beta)?)\.kubernetes\.io/.*")
_LATE_FIELDS = ("nodeName", "volumeName")
_CLAIM_OF_A_SET = re.compile(r"data-.+-\d+")
_MADE_UP_VOLUME = re.compile(r"kube-api-access-\w{5}")

Place = tuple[str, str, str]  # kind, namespace, name


def versions(snapshot: Mapping[Place, Json]) -> dict[Place, str]:
    """What the API server counts up with each write; controllers write to kinds with a status."""
    return {
        place: str(found["metadata"].get("generation") or found["metadata"]["resourceVersion"])
        for place, found in snapshot.items()
    }


def differences_from(
    plan: PlannedRun, before: Mapping[Place, Json], after: Mapping[Place, Json]
) -> list[str]:
    """Where the plan was wrong; what it called unknown may be anything."""
    wrong: list[str] = []
    named: set[Place] = set()
    for planned in plan.objects:
        place = (planned.gvk.kind, planned.namespace, planned.name)
        if planned.is_name_made_up:
            place = _like(place, planned, before, after) or place
        named.add(place)
        if planned.certainty is not Certainty.UNKNOWN:
            wrong += _wrong_with(planned, after.get(place))
    for place in [*before, *(place for place in after if place not in before)]:
        old, new = _settled(before.get(place)), _settled(after.get(place))
        if old != new and place not in named and plan.is_sure:
            wrong.append(f"{place} changed, and the plan did not say so: {old} -> {new}")
    return wrong


def describe(plan: PlannedRun) -> str:
    """The plan, for a failed test."""
    lines = [f"plan of {plan.title}, failure: {plan.failure or 'none'}"]
    lines += [
        f"  {planned.change.value} {planned.title} {planned.certainty.value} {planned.why}"
        for planned in plan.objects
    ]
    return "\n".join([*lines, *(f"  note {note}" for note in plan.notes)])


def only(plan: PlannedRun) -> PlannedObject:
    """The one object of a plan."""
    assert len(plan.objects) == 1, describe(plan)
    return plan.objects[0]


def is_of_controller(found: Json) -> bool:
    """Of a controller of Kubernetes, which no plan follows."""
    owners = found["metadata"].get("ownerReferences") or ()
    if any(owner["kind"] in ("ReplicaSet", "StatefulSet", "Job") for owner in owners):
        return True
    # Claims of a StatefulSet have no owner.
    return not owners and bool(_CLAIM_OF_A_SET.fullmatch(found["metadata"]["name"]))


def _wrong_with(planned: PlannedObject, now: Json | None) -> list[str]:
    if planned.change is PlannedChange.DELETE:
        is_gone = now is None or now["metadata"].get("deletionTimestamp")
        return [] if is_gone else [f"{planned.title} is still there"]
    if now is None:
        return [f"{planned.title} is not there"]
    said, is_so = _settled(planned.after), _settled(now)
    if said == is_so:
        return []
    return [
        f"{planned.title} is\n{json.dumps(is_so, indent=1)}\nand not\n{json.dumps(said, indent=1)}"
    ]


def _like(
    place: Place, planned: PlannedObject, before: Mapping[Place, Json], after: Mapping[Place, Json]
) -> Place | None:
    prefix = str(((planned.after or {}).get("metadata") or {}).get("generateName"))
    new = (other for other in after if other not in before and other[:2] == place[:2])
    return next((other for other in new if other[2].startswith(prefix)), None)


def _settled(found: Json | None) -> Json | None:
    """Without what the API server and controllers make up."""
    if found is None:
        return None
    kept = {key: value for key, value in compared(found).items() if key != "apiVersion"}
    metadata = dict(kept["metadata"])
    if "generateName" in metadata:
        metadata.pop("name")
    annotations = {
        key: value
        for key, value in (metadata.pop("annotations", None) or {}).items()
        if not _LATE_ANNOTATIONS.fullmatch(key)
    }
    whole = {**kept, "metadata": {**metadata, "annotations": annotations}}
    if isinstance(whole.get("spec"), dict):  # of a pod and of a claim, by the scheduler and others
        whole["spec"] = {k: v for k, v in whole["spec"].items() if k not in _LATE_FIELDS}
    made: Json = json.loads(_MADE_UP_VOLUME.sub("kube-api-access", json.dumps(whole)))
    return made
