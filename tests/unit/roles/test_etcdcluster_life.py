"""Which version an etcd cluster goes to, which pods come anew, and what is left of a lost one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.roles.filters import role_filter

LIFE = "etcdcluster_life"
renewal = role_filter("etcdcluster", "etcdcluster_renewal", LIFE)
adopted = role_filter("etcdcluster", "etcdcluster_adopted", LIFE)
loss = role_filter("etcdcluster", "etcdcluster_loss", LIFE)
recovery = role_filter("etcdcluster", "etcdcluster_recovery", LIFE)
pods_of = role_filter("etcdcluster", "etcdcluster_pods", LIFE)
running = role_filter("etcdcluster", "etcdcluster_running", LIFE)
leftovers = role_filter("etcdcluster", "etcdcluster_leftovers", LIFE)

OLD, NEW = "etcd:v3.5.1", "etcd:v3.6.1"


def members(count: int = 3, down: int | None = None, **changes: Any) -> list[dict[str, Any]]:
    return [
        {"name": f"db-{n}", "healthy": n != down, "learner": False, "leader": n == 2, **changes}
        for n in range(count)
    ]


def pod(
    number: int,
    revision: str = "old",
    image: str = OLD,
    runs: bool = True,
    ready: bool = True,
) -> dict[str, Any]:
    state = {"running": {}} if runs else {"waiting": {"reason": "ImagePullBackOff"}}
    is_ready = {"type": "Ready", "status": str(ready and runs)}
    labels = {"controller-revision-hash": revision}
    return {
        "metadata": {"name": f"db-{number}", "labels": labels},
        "spec": {"containers": [{"name": "etcd", "image": image}]},
        "status": {
            "containerStatuses": [{"name": "etcd", "state": state}],
            "conditions": [is_ready],
        },
    }


def pods(**changes: Any) -> list[dict[str, Any]]:
    return [pod(number, **changes) for number in range(3)]


def found(replicas: int = 3, seen: int = 2, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"generation": 2},
        "spec": {"replicas": replicas, **spec},
        "status": {"updateRevision": "new", "observedGeneration": seen},
    }


def taken(*facts: Any, **options: Any) -> list[str]:
    names: list[str] = renewal(*facts, **options)["pods"]
    return names


def test_upgrade_takes_one_healthy_member_at_a_time_and_the_leader_last() -> None:
    assert taken(pods(), found(), members(), NEW) == ["db-1"]
    upgraded = [pod(0), pod(1, "new", NEW), pod(2)]
    assert taken(upgraded, found(), members(), NEW) == ["db-0"]
    upgraded = [pod(0, "new", NEW), pod(1, "new", NEW), pod(2)]
    assert taken(upgraded, found(), members(), NEW) == ["db-2"]


@pytest.mark.parametrize("runs", [True, False])
def test_upgrade_takes_nobody_while_a_member_is_down_and_names_it(runs: bool) -> None:
    plan = renewal([pod(0), pod(1, runs=runs), pod(2)], found(), members(down=1), NEW)

    assert plan["pods"] == []
    assert plan["waits_for"] == "db-1"


def test_nobody_is_taken_while_all_are_unwell_for_a_moment() -> None:
    unwell = members(healthy=False, leader=False)

    assert taken(pods(), found(), unwell, NEW) == []
    assert taken(pods(), found(), unwell, OLD) == [], "nor for other arguments of the same version"


def test_member_that_runs_and_is_unwell_comes_anew_only_while_all_others_are_well() -> None:
    assert taken(pods(), found(), members(down=1), OLD) == ["db-1"]
    two_down = [*members(down=1)[:2], *members(down=2)[2:]]
    assert taken(pods(), found(), two_down, OLD) == []


def test_member_that_does_not_answer_is_named_before_those_that_lack_a_leader() -> None:
    unwell = members(healthy=False, leader=False)
    answering = [{**one, "version": "3.5.1"} for one in (unwell[0], unwell[2])]

    plan = renewal(pods(), found(), [answering[0], unwell[1], answering[1]], NEW)

    assert plan["waits_for"] == "db-1"


def test_pod_that_is_not_ready_stops_the_next_restart_and_is_named() -> None:
    came_anew = [pod(0), pod(1, "new", NEW, ready=False), pod(2)]
    plan = renewal(came_anew, found(), members(), NEW)
    assert (plan["pods"], plan["waits_for"]) == ([], "db-1")

    two = [pod(0), pod(1, ready=False), pod(2, ready=False)]
    plan = renewal(two, found(), members(), NEW)
    assert (plan["pods"], plan["waits_for"]) == ([], "db-2")


def test_only_pod_that_is_not_ready_is_the_next_one() -> None:
    assert taken([pod(0), pod(1), pod(2, ready=False)], found(), members(), NEW) == ["db-2"]


def test_probe_that_fails_in_every_old_pod_does_not_stop_the_template_that_mends_it() -> None:
    wrong = [pod(n, ready=False) for n in range(3)]
    assert taken(wrong, found(), members(), NEW) == ["db-1"]
    half = [pod(0, ready=False), pod(1, "new", NEW), pod(2, ready=False)]
    assert taken(half, found(), members(), NEW) == ["db-0"]


def test_upgrade_waits_for_the_member_that_was_taken_last() -> None:
    half = [pod(0), pod(1, "new", NEW), pod(2)]

    assert taken(half, found(), members(down=1), NEW) == []
    half[1]["metadata"]["deletionTimestamp"] = "now"
    assert taken(half, found(), members(), NEW) == []


def test_learner_counts_as_missing() -> None:
    plan = [*members(), *members(4, learner=True)[3:]]

    assert taken(pods(), found(), plan, NEW) == []


def test_pods_are_left_alone_until_the_set_was_seen_by_its_controller() -> None:
    assert taken(pods(), found(seen=1), members(), NEW) == []
    assert taken(pods(), {}, members(), NEW) == []


def test_cluster_created_with_a_mistyped_version_starts_with_the_corrected_one() -> None:
    mistyped = pods(image="etcd:v3.55.1", runs=False)

    assert taken(mistyped, found(), [], OLD) == ["db-0", "db-1", "db-2"]


def test_pods_that_run_are_left_alone_while_etcd_tells_nothing() -> None:
    assert taken(pods(), found(), [], NEW) == []
    assert taken(pods(), found(), [], NEW, is_forced=True) == ["db-0", "db-1", "db-2"]


def test_member_taken_to_a_mistyped_version_comes_back_with_the_corrected_one() -> None:
    stuck = [pod(0), pod(1), pod(2, "mistyped", "etcd:v3.66.1", runs=False)]

    assert taken(stuck, found(), members(down=2), NEW) == ["db-2"]


def test_member_that_is_down_for_its_template_gets_the_mended_one_of_the_same_version() -> None:
    killed = [pod(0), pod(1, runs=False), pod(2)]

    assert taken(killed, found(), members(down=1), OLD) == ["db-1"]


TOLD = [{"name": f"db-{n}", "id": str(n), "volume": f"v{n}"} for n in range(3)]


def claim(number: int, uid: str = "", **metadata: str) -> dict[str, Any]:
    names = {"name": f"data-db-{number}", "uid": uid or f"v{number}"}
    return {"metadata": names | metadata, "status": {"phase": "Bound"}}


@pytest.mark.parametrize(
    ("claims", "reason", "kept"),
    [
        ([claim(0), claim(1), claim(2)], "", ["db-0", "db-1", "db-2"]),
        ([claim(0), claim(1)], "", ["db-0", "db-1"]),
        ([claim(2)], "QuorumLost", ["db-2"]),
        ([claim(0, "made anew"), claim(1, "made anew"), claim(2)], "QuorumLost", ["db-2"]),
        ([claim(0, deletionTimestamp="now"), claim(1), claim(2)], "", ["db-1", "db-2"]),
        ([claim(0, "a"), claim(1, "b"), claim(2, "c")], "DataLost", []),
        ([claim(n) | {"status": {"phase": "Lost"}} for n in range(3)], "DataLost", []),
        ([], "DataLost", []),
    ],
)
def test_what_is_left_of_a_cluster_is_told_from_its_volumes(
    claims: list[dict[str, Any]], reason: str, kept: list[str]
) -> None:
    found = loss(TOLD, claims)
    assert (found["reason"], found["kept"]) == (reason, kept)


def test_cluster_that_never_was_is_not_lost() -> None:
    assert loss([], [])["reason"] == ""


def test_learner_counts_for_no_quorum() -> None:
    assert loss([*TOLD, {"name": "db-3", "learner": True}], [claim(2)])["kept"] == ["db-2"]


def test_answer_to_a_loss_names_this_loss_and_a_member_that_is_left() -> None:
    lost = loss(TOLD, [claim(2)])
    code = lost["code"]

    assert recovery(f"db-2-{code}", lost) == {"do": "force", "member": "db-2"}
    assert recovery(f"empty-{code}", lost) == {"do": "empty", "member": ""}
    for wrong in ("", "db-2", f"db-1-{code}", "db-2-00000000", "empty-00000000"):
        assert recovery(wrong, lost)["do"] == ""


def test_volumes_that_were_exchanged_for_copies_can_be_taken_for_the_members() -> None:
    copies = [claim(n, f"copy-{n}") for n in range(3)]
    lost = loss(TOLD, copies)

    assert lost["others"] == ["db-0", "db-1", "db-2"]
    assert recovery(f"volumes-{lost['code']}", lost)["do"] == "adopt"
    told = adopted(TOLD, {f"db-{n}": f"copy-{n}" for n in range(3)})
    after = loss(told, copies)
    assert (after["reason"], after["kept"]) == ("", ["db-0", "db-1", "db-2"])
    assert recovery(f"volumes-{lost['code']}", after)["do"] == ""
    gone = loss(TOLD, [])
    assert recovery(f"volumes-{gone['code']}", gone)["do"] == "", "there is nothing to go on with"


def test_answer_to_a_loss_does_not_count_for_the_next_one() -> None:
    before, after = loss(TOLD, [claim(2)]), loss([TOLD[2], {"name": "db-0", "id": "9"}], [claim(2)])

    assert recovery(f"db-2-{before['code']}", after)["do"] == ""


NAMES = ["db-0", "db-1", "db-2"]


def test_new_set_has_a_pod_for_each_member_that_is_wanted_or_that_was_there() -> None:
    assert pods_of({}, [], "wait", 3, "") == {"start": 0, "replicas": 3}
    assert pods_of({}, NAMES, "wait", 5, "") == {"start": 0, "replicas": 3}


def test_set_that_was_scaled_down_by_hand_gets_its_members_back() -> None:
    assert pods_of(found(replicas=0), NAMES, "wait", 3, "") == {"start": 0, "replicas": 3}


def test_set_grows_and_shrinks_by_the_steps_that_etcd_took() -> None:
    assert pods_of(found(), NAMES, "grow", 5, "")["replicas"] == 4
    assert pods_of(found(replicas=4), NAMES, "shrink", 3, "")["replicas"] == 3
    assert pods_of(found(), NAMES, "nothing", 3, "")["replicas"] == 3


def test_member_that_is_recovered_is_the_only_pod_until_it_answers() -> None:
    assert pods_of(found(), NAMES, "wait", 3, "db-2") == {"start": 2, "replicas": 1}
    recovered = found(replicas=1, ordinals={"start": 2})
    assert pods_of(recovered, ["db-2"], "add", 3, "") == {"start": 0, "replicas": 3}


def test_volumes_are_left_over_that_neither_a_member_nor_a_pod_has() -> None:
    claims = [claim(0), claim(1), claim(2), claim(3)]

    assert leftovers(claims, members(2), [pod(2)]) == ["data-db-3"]


def test_member_that_was_unwell_is_asked_last_and_a_pod_that_goes_not_at_all() -> None:
    found = [*pods(), pod(3)]
    for one in found:
        one["status"]["phase"] = "Running"
    found[1]["metadata"]["deletionTimestamp"] = "now"
    told = [{"name": f"db-{n}", "healthy": n != 0} for n in range(4)]

    assert running(found, told) == ["db-2", "db-3", "db-0"]
