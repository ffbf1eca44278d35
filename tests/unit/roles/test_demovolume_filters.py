"""What a DemoVolume changes in its claim, and what it says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

Json = dict[str, Any]

change = role_filter("demovolume", "demovolume_change")
verdict = role_filter("demovolume", "demovolume_verdict")
source_lack = role_filter("demovolume", "demovolume_source_lack")
snapshots = role_filter("demovolume", "demovolume_snapshots")

GI = 2**30
NOW = "2026-01-01T00:10:00Z"
CR: Json = {
    "apiVersion": "demo.rolecall.dev/v1",
    "kind": "DemoVolume",
    "metadata": {"name": "data", "namespace": "shop", "uid": "u-1"},
}
OWNER = {**{key: CR[key] for key in ("apiVersion", "kind")}, "name": "data", "uid": "u-1"}
LATE: Json = {"volumeBindingMode": "WaitForFirstConsumer"}


def claim(phase: str = "Bound", has: str = "1Gi", **more: Any) -> Json:
    metadata = {
        "name": "data",
        "namespace": "shop",
        "labels": {"demo.rolecall.dev/owner": "u-1"},
        "ownerReferences": [OWNER],
        "creationTimestamp": "2026-01-01T00:00:00Z",
        **more.pop("metadata", {}),
    }
    status: Json = {"phase": phase, **more.pop("status", {})}
    if phase == "Bound":
        status["capacity"] = {"storage": has}
    spec = {"storageClassName": "fast", **more.pop("spec", {})}
    return {"metadata": metadata, "spec": spec, "status": status}


def wish(size: int = 1, requested: int = 1, capacity: int = 1, **more: Any) -> Json:
    """In GiB."""
    numbers = {"bytes": size * GI, "requested": requested * GI, "capacity": capacity * GI}
    also = {"retain": False, "ours": True, "can_grow": True, "source": 0, "now": NOW}
    return {"size": f"{size}Gi", **numbers, **also, **more}


def said(found: Json, wanted: Json, storage_class: Json | None = None, *lacks: Json) -> Json:
    told: Json = verdict(found, wanted, storage_class or {}, list(lacks))
    return told


def test_claim_of_the_same_size_in_other_words_is_not_growing() -> None:
    found = claim(has="1Ti")
    wanted = wish(1024, 1024, 1024)

    assert said(found, wanted)["state"] == "Bound"
    assert change(found, CR, wanted) == {}


def test_claim_that_got_a_larger_volume_is_bound_and_says_what_it_has() -> None:
    told = said(claim(has="10Gi"), wish(1, 1, 10))

    assert (told["state"], told["again"]) == ("Bound", "")
    assert told["message"] == "the claim has 10Gi, more than 1Gi: a volume never shrinks"


def test_claim_that_asks_for_more_than_is_wanted_is_not_made_smaller() -> None:
    assert change(claim(has="10Gi"), CR, wish(1, 10, 10)) == {}


def test_claim_grows_where_its_class_allows_it() -> None:
    found = claim()

    assert change(found, CR, wish(2))["spec"] == {"resources": {"requests": {"storage": "2Gi"}}}
    assert said(found, wish(2, 2, 1))["again"] == "soon"
    assert change(found, CR, wish(2, can_grow=False)) == {}
    assert said(found, wish(2, can_grow=False))["state"] == "CannotGrow"


def test_growing_that_the_storage_system_gave_up_is_told() -> None:
    found = claim(status={"allocatedResourceStatuses": {"storage": "ControllerResizeInfeasible"}})

    assert said(found, wish(2, 2, 1))["state"] == "CannotGrow"


def test_growing_that_waits_for_a_pod_says_so() -> None:
    waits = {"conditions": [{"type": "FileSystemResizePending", "status": "True"}]}

    assert "where a pod uses it" in said(claim(status=waits), wish(2, 2, 1))["message"]


CHOSEN = {"annotations": {"volume.kubernetes.io/selected-node": "n"}}


@pytest.mark.parametrize(
    ("found", "storage_class", "state", "again"),
    [
        (claim("Pending"), LATE, "WaitingForConsumer", "rarely"),
        (claim("Pending", metadata=CHOSEN), LATE, "ClaimPending", "rarely"),
        (claim("Pending", spec={"volumeName": "v"}), LATE, "ClaimPending", "soon"),
        (claim("Pending"), {"volumeBindingMode": "Immediate"}, "ClaimPending", "rarely"),
        (claim("Pending"), {}, "ClaimPending", "rarely"),
        (claim("Lost"), {}, "ClaimLost", ""),
    ],
)
def test_claim_is_looked_at_often_only_where_no_event_will_come(
    found: Json, storage_class: Json, state: str, again: str
) -> None:
    told = said(found, wish(capacity=0), storage_class)

    assert (told["state"], told["ready"], told["again"]) == (state, False, again)


def test_claim_that_was_just_made_is_looked_at_soon_for_its_first_events_may_be_missed() -> None:
    fresh = claim("Pending", metadata={"creationTimestamp": "2026-01-01T00:09:30Z"})

    assert said(fresh, wish(), LATE)["again"] == "soon"


def test_claim_that_is_not_owned_is_looked_at_since_it_makes_no_events() -> None:
    assert said(claim("Pending"), wish(retain=True), LATE)["again"] == "unowned"
    assert said(claim("Pending"), wish(ours=False), LATE)["again"] == "unowned"


def test_missing_class_is_named() -> None:
    assert "there is no storage class `fast`" in said(claim("Pending"), wish())["message"]
    no_class = claim("Pending")
    del no_class["spec"]["storageClassName"]
    assert "no storage class is the default" in said(no_class, wish())["message"]


def test_claim_of_somebody_else_is_ready_once_it_is_bound() -> None:
    assert said(claim(), wish(2, ours=False))["ready"] is True
    assert said(claim("Pending"), wish(ours=False))["ready"] is False


def test_claim_to_retain_gives_up_its_owner_and_no_other() -> None:
    other = {"uid": "u-9"}
    found = claim(metadata={"ownerReferences": [OWNER, other]})
    patch = change(found, CR, wish(retain=True))["metadata"]

    assert patch["ownerReferences"] == [other]
    kept = claim(metadata={"ownerReferences": [other], "annotations": patch["annotations"]})
    assert change(kept, CR, wish(retain=True)) == {}


def test_claim_that_was_retained_gets_its_owner_back_and_no_other_claim_does() -> None:
    kept = claim(
        metadata={"ownerReferences": [], "annotations": {"demo.rolecall.dev/retained": "true"}}
    )

    assert change(kept, CR, wish())["metadata"]["ownerReferences"] == [OWNER]
    assert change(claim(metadata={"ownerReferences": []}), CR, wish()) == {}


def test_retained_claim_that_grows_says_that_it_wants_no_owner() -> None:
    kept = claim(
        metadata={"ownerReferences": [], "annotations": {"demo.rolecall.dev/retained": "true"}}
    )

    assert change(kept, CR, wish(2, retain=True))["metadata"]["ownerReferences"] == []


def test_label_that_was_taken_off_comes_back() -> None:
    patch = change(claim(metadata={"labels": {}}), CR, wish())

    assert patch["metadata"]["labels"] == {"demo.rolecall.dev/owner": "u-1"}
    assert "spec" not in patch


SNAPSHOT: Json = {"metadata": {"name": "data-one"}, "status": {"readyToUse": True}}


@pytest.mark.parametrize(
    ("found", "kind", "source", "state"),
    [
        ({"resources": [], "api_found": False}, "VolumeSnapshot", 0, "SnapshotsNotServed"),
        ({"resources": []}, "claim", 0, "SourceMissing"),
        ({"resources": [{"status": {}}]}, "VolumeSnapshot", 0, "SourceNotReady"),
        ({"resources": [SNAPSHOT]}, "VolumeSnapshot", 2, "SourceLarger"),
        ({"resources": [claim()]}, "claim", 2, "SourceLarger"),
    ],
)
def test_source_that_a_volume_cannot_begin_with_is_told(
    found: Json, kind: str, source: int, state: str
) -> None:
    lack = source_lack(found, kind, "old", wish(source=source * GI))

    assert said({}, wish(capacity=0), {}, lack)["state"] == state


def test_source_that_fits_is_no_lack() -> None:
    assert source_lack({"resources": [SNAPSHOT]}, "VolumeSnapshot", "old", wish(source=GI)) == {}


def test_each_snapshot_is_made_once_and_told_with_its_state() -> None:
    step = snapshots({"resources": [SNAPSHOT]}, ["one", "two"], CR, "quick")

    assert [one["metadata"]["name"] for one in step["create"]] == ["data-two"]
    assert step["create"][0]["spec"] == {
        "source": {"persistentVolumeClaimName": "data"},
        "volumeSnapshotClassName": "quick",
    }
    assert step["status"] == [
        {"name": "data-one", "ready": True},
        {"name": "data-two", "ready": False},
    ]


def test_snapshots_that_the_cluster_does_not_serve_are_told_of_a_claim_that_is_well() -> None:
    lack = snapshots({"resources": [], "api_found": False}, ["one"], CR, "")["lack"]

    assert said(claim(), wish(), {}, lack)["state"] == "SnapshotsNotServed"
    assert said(claim("Pending"), wish(), LATE, lack)["state"] == "WaitingForConsumer"
