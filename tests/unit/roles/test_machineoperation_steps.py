"""What an operation on a machine does next, and when it gives up."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

turn = role_filter("machineoperation", "machineoperation_turn")
removals = role_filter("machineoperation", "machineoperation_removals")
progress = role_filter("machineoperation", "machineoperation_progress")
left = role_filter("machineoperation", "machineoperation_left")

LIMITS = {"retry": 2, "timeout": "300", "machine_wait": 60}
MACHINE = {"spec": {"image": "x"}}
STOPPED = {"spec": {"image": "x", "running": False}}


def at(seconds: int) -> str:
    return f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


def operation(kind: str = "Reboot", **status: Any) -> dict[str, Any]:
    metadata = {"name": "me", "uid": "me", "creationTimestamp": at(0)}
    found: dict[str, Any] = {"metadata": metadata, "spec": {"machine": "box", "type": kind}}
    return found | ({"status": status} if status else {})


def running(kind: str = "Reboot", **status: Any) -> dict[str, Any]:
    replaced = {"pod": "p1", "disk": "d1"}
    begun = {"phase": "Running", "startTime": at(0), "replaced": replaced}
    return operation(kind, **{**begun, **status})


def thing(kind: str, uid: str, *, ready: bool = True, **metadata: Any) -> dict[str, Any]:
    row = {"type": "Ready", "status": "True" if ready else "False"}
    return {
        "kind": kind,
        "metadata": {"name": "box", "uid": uid, **metadata},
        "status": {"conditions": [row]},
    }


def pod(uid: str = "p1", **changes: Any) -> dict[str, Any]:
    return thing("Pod", uid, **changes)


def disk(uid: str = "d1", **changes: Any) -> dict[str, Any]:
    return thing("PersistentVolumeClaim", uid, **changes)


def world(**changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {"machine": MACHINE, "pod": {}, "disk": {}, "snapshot": {}}
    return {**parts, "served": True, "foreign": [], "why": "", "refused": "", **changes}


def removed(me: dict[str, Any], *found: dict[str, Any], now: int = 1) -> list[str]:
    return [part for part, uid in removals(me, *found, at(now), LIMITS).items() if uid]


def test_machine_that_is_not_there_yet_is_waited_for_with_fewer_and_fewer_looks() -> None:
    looks, now = 0, 0
    while (found := turn(operation(), {}, [], at(now), LIMITS))["do"] == "wait":
        looks, now = looks + 1, now + int(found["again"].removesuffix("s"))

    assert found["reason"] == "MachineNotFound"
    assert "there is no Machine `box` after 60 s" in found["message"]
    assert (now, looks < 12) == (60, True)


def test_machine_that_came_in_time_is_operated_on() -> None:
    assert turn(operation(), MACHINE, [], at(30), LIMITS)["do"] == "start"


def test_operation_behind_others_names_them_and_waits() -> None:
    other = operation(phase="Running")
    other["metadata"] = {"name": "first", "uid": "first", "creationTimestamp": at(0)}

    found = turn(operation(), MACHINE, [other], at(1), LIMITS)
    assert (found["do"], found["message"], found["again"]) == ("wait", "waits for first", "2s")


def test_stopped_machine_is_rebuilt_and_saved_but_not_rebooted() -> None:
    kinds = ("Reboot", "Rebuild", "Snapshot")

    found = [turn(operation(kind), STOPPED, [], at(1), LIMITS) for kind in kinds]
    assert [row["do"] for row in found] == ["end", "start", "start"]
    assert found[0]["reason"] == "MachineStopped"


def test_only_what_was_there_at_the_start_is_removed() -> None:
    assert removed(running(), pod(), disk()) == ["pod"]
    assert removed(running(), pod("p2"), disk()) == []
    assert removed(running("Rebuild"), pod(), disk()) == ["pod", "disk"]
    assert removed(running("Rebuild"), pod("p2"), disk("d2")) == []
    assert removed(running("Snapshot", replaced={"pod": "", "disk": ""}), {}, {}) == []


def test_new_pod_that_holds_the_old_disk_goes_too() -> None:
    kinds = ["pod", "disk"]
    assert removed(running("Rebuild"), pod("p2"), disk()) == kinds


def test_what_goes_already_is_not_removed_again() -> None:
    going = {"deletionTimestamp": at(1)}
    assert removed(running("Rebuild"), pod(**going), disk(**going)) == []


def test_nothing_is_removed_after_the_time_is_over() -> None:
    assert removed(running("Rebuild"), pod(), disk(), now=301) == []


@pytest.mark.parametrize(
    ("kind", "found", "is_done"),
    [
        ("Reboot", {"pod": pod(), "disk": disk()}, False),
        ("Reboot", {"pod": pod("p2"), "disk": disk()}, True),
        ("Reboot", {"pod": pod("p2", ready=False), "disk": disk()}, False),
        ("Reboot", {"machine": STOPPED, "disk": disk()}, True),
        ("Rebuild", {"pod": pod("p2"), "disk": disk()}, False),
        ("Rebuild", {"pod": pod("p2"), "disk": disk("d2")}, True),
        ("Rebuild", {"machine": STOPPED, "disk": disk("d2")}, True),
        ("Snapshot", {"snapshot": {"status": {"readyToUse": False}}}, False),
        ("Snapshot", {"snapshot": {"status": {"readyToUse": True}}}, True),
    ],
)
def test_operation_ends_when_all_is_new_and_ready(
    kind: str, found: dict[str, Any], is_done: bool
) -> None:
    step = progress(running(kind), world(**found), at(7), LIMITS)

    assert step.get("phase") == ("Succeeded" if is_done else None)
    if is_done:
        assert step["message"] == f"{kind} took 7 s"


def test_refused_removal_is_tried_again_and_fails_when_the_time_is_over() -> None:
    refused = world(pod=pod(), disk=disk(), refused="denied by a policy")

    step = progress(running(), refused, at(10), LIMITS)
    assert (step["do"], step["message"]) == ("wait", "denied by a policy")
    told = running(message="denied by a policy")
    step = progress(told, world(pod=pod(), disk=disk()), at(301), LIMITS)
    assert (step["phase"], step["reason"]) == ("Failed", "TimedOut")
    assert step["message"] == "not done after 300 s: denied by a policy"


def test_finalizer_of_others_is_named() -> None:
    held = pod(deletionTimestamp=at(1), finalizers=["example.com/hold", "kubernetes.io/own"])

    step = progress(running(), world(pod=held, disk=disk()), at(301), LIMITS)
    assert step["message"].endswith(
        "the Pod `box` is being removed, and held by the finalizer example.com/hold"
    )


def test_new_pod_that_does_not_come_up_says_why() -> None:
    found = world(pod=pod("p2", ready=False), disk=disk(), why="box: ErrImagePull")

    assert progress(running(), found, at(9), LIMITS)["message"].endswith("box: ErrImagePull")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"machine": {}}, "MachineNotFound"),
        ({"served": False}, "SnapshotsNotServed"),
        ({"foreign": ["VolumeSnapshot me"]}, "NameTaken"),
    ],
)
def test_snapshot_that_can_never_be_made_fails_at_once(
    changes: dict[str, Any], reason: str
) -> None:
    step = progress(running("Snapshot"), world(**changes), at(1), LIMITS)

    assert (step["phase"], step["reason"]) == ("Failed", reason)


def test_snapshot_that_does_not_get_ready_fails_in_the_words_of_the_driver() -> None:
    found = world(snapshot={"status": {"error": {"message": "no such volume"}}})

    step = progress(running("Snapshot"), found, at(301), LIMITS)
    assert step["message"] == "not done after 300 s: no such volume"


def test_looks_get_fewer_the_longer_it_takes() -> None:
    pauses = [progress(running(), world(), at(now), LIMITS)["again"] for now in (1, 40, 200)]

    assert pauses == ["2s", "8s", "15s"]


def test_operation_that_ended_goes_when_its_time_is_over_and_only_where_one_is_set() -> None:
    ended = operation(phase="Succeeded", endTime=at(100))

    assert left(ended, at(130), -1) == -1
    assert left(ended, at(130), 60) == 30
    assert left(ended, at(200), "60") == 0
    assert left(running(), at(200), 0) == -1
