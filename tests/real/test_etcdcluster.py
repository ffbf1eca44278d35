"""A real etcd cluster under our role: what it holds is still there, whatever is done to it.

The tests share one cluster and leave it as they found it: three healthy members.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterator

import pytest

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall_dev.localcluster import etcd_versions, frozen_node
from tests.fixtures.eventually import eventually
from tests.real.etcd import MOMENT_S, Etcd, Witness
from tests.real.operator import Operator
from tests.real.world import PATIENCE_S, World, condition, is_current

pytestmark = pytest.mark.usefixtures("operator")

FIRST, OLD, NEW = etcd_versions()


@pytest.fixture(scope="module")
def etcd(world: World) -> Etcd:
    """Three members, whose version was mistyped when the cluster was created."""
    found = Etcd(world, "db")
    found.apply(version=f"{NEW}999", replicas=3, backupSchedule="0 3 * * *")
    _wait_said(found, "Starting", "Image")
    change(found, version=NEW)
    found.wait_healthy(3, NEW)
    return found


@pytest.fixture
def grown(world: World) -> Iterator[Etcd]:
    """Three members of the old version, of which two came later; for each try anew."""
    found = Etcd(world, f"grown-{secrets.token_hex(2)}")
    found.apply(version=OLD, replicas=1)
    found.wait_healthy(1, OLD)
    change(found, replicas=3)
    found.wait_healthy(3, OLD)
    yield found
    world.kubectl("delete", "etcdcluster", found.name)


def change(etcd: Etcd, **spec: object) -> None:
    etcd.world.patch("etcdcluster", etcd.name, {"spec": spec})


def test_growing_that_cannot_be_scheduled_is_taken_back(etcd: Etcd) -> None:
    version, keys, before = etcd.cr["status"]["version"], etcd.fill(5), _uids(etcd)
    nodes = [node["metadata"]["name"] for node in etcd.world.list("nodes")]
    etcd.world.kubectl("cordon", *nodes)
    try:
        change(etcd, replicas=5)
        eventually(etcd.members, lambda now: now.get("db-3") == "unstarted", timeout_s=PATIENCE_S)
        eventually(lambda: len(_uids(etcd)) == 4, timeout_s=PATIENCE_S)
        change(etcd, replicas=3)
        etcd.wait_healthy(3, version)
    finally:
        etcd.world.kubectl("uncordon", *nodes)
    eventually(lambda: _uids(etcd) == before, timeout_s=PATIENCE_S)
    assert etcd.has(keys)


def test_scaling_to_five_and_back_keeps_keys_and_quorum(etcd: Etcd) -> None:
    version = etcd.cr["status"]["version"]
    keys = etcd.fill()
    with Witness(etcd) as witness:
        change(etcd, replicas=5)
        etcd.wait_healthy(5, version)
        change(etcd, replicas=3)
        etcd.wait_healthy(3, version)
    assert witness.longest_gap_s < MOMENT_S, witness.refused
    assert [len(members) for members in _sizes(witness)] == [3, 4, 5, 4, 3]
    learners = [list(seen.values()).count("learner") for seen in witness.lists]
    assert max(learners) == 1, "one at a time, and never a vote before it caught up"
    assert etcd.has(keys)
    assert witness.is_kept
    # The volumes of those who left are gone, so that they come back empty.
    eventually(
        lambda: etcd.world.list("pvc", _members_of(etcd)),
        lambda claims: len(claims) == 3,
        timeout_s=PATIENCE_S,
    )


def test_member_that_lost_its_volume_is_replaced_by_a_fresh_one(etcd: Etcd) -> None:
    version = etcd.cr["status"]["version"]
    keys = etcd.fill()
    before = {member["name"]: member["id"] for member in etcd.cr["status"]["members"]}
    with Witness(etcd) as witness:
        etcd.world.kubectl("delete", "pvc", "data-db-1", "--wait=false")
        etcd.world.kubectl("delete", "pod", "db-1", "--wait=false")
        eventually(
            lambda: {member["name"]: member["id"] for member in etcd.cr["status"]["members"]},
            lambda now: now.get("db-1") not in (None, before["db-1"]),
            timeout_s=PATIENCE_S,
        )
        etcd.wait_healthy(3, version)
    assert witness.longest_gap_s < MOMENT_S, witness.refused
    assert sum("db-1" not in members for members in witness.lists) == 1, "replaced once"
    assert etcd.has(keys)
    events = etcd.world.list("events")
    assert any(event["reason"] == "MemberReplaced" for event in events)


def test_upgrade_replaces_no_pod_while_a_member_is_down_and_loses_no_write(
    grown: Etcd, operator: Operator
) -> None:
    keys, before = grown.fill(), _uids(grown)
    operator.spread()  # with both replicas on the frozen node, none would report anything
    with Witness(grown) as witness:
        node = _node_with_the_fewer_members(grown)
        down = next(pod for pod in _pods(grown) if pod["spec"]["nodeName"] == node)
        named = f"`{down['metadata']['name']}` is not healthy, so no member is taken"
        with frozen_node(grown.world.cluster, node):
            change(grown, version=NEW)
            reported = eventually(
                lambda: grown.cr,  # all of it: where this fails, its members show why
                lambda cr: named in condition(cr, "Ready").get("message", ""),
                # A new leader, and then two runs that wait for members that do not answer.
                timeout_s=2 * PATIENCE_S,
            )
            # With a second member gone, no write would be accepted any more.
            written = witness.written
            eventually(lambda: witness.written > written + 50, timeout_s=PATIENCE_S)
            assert _uids(grown) == before
            assert condition(reported, "Ready")["reason"] == "MembersUnhealthy"
        grown.wait_healthy(3, NEW)
    assert witness.longest_gap_s < MOMENT_S, witness.refused
    assert grown.has(keys)
    assert witness.is_kept


def test_set_that_is_deleted_by_accident_is_made_again_over_its_volumes(etcd: Etcd) -> None:
    version, keys = etcd.cr["status"]["version"], etcd.fill()
    before = [(member["id"], member["volume"]) for member in etcd.cr["status"]["members"]]
    etcd.put("last", "before the accident")
    old = etcd.world.get("statefulset", etcd.name)["metadata"]["uid"]
    etcd.world.kubectl("delete", "statefulset", etcd.name, "--cascade=foreground")
    eventually(
        lambda: etcd.world.get("statefulset", etcd.name),
        lambda found: found and found["metadata"]["uid"] != old,
        timeout_s=PATIENCE_S,
    )
    eventually(lambda: len(_uids(etcd)) == 3, timeout_s=PATIENCE_S)
    etcd.wait_healthy(3, version)
    after = [(member["id"], member["volume"]) for member in etcd.cr["status"]["members"]]
    assert (after, etcd.get("last")) == (before, "before the accident")
    assert etcd.has(keys)


def test_first_release_goes_up_by_a_mended_one_and_comes_back_from_the_next_minor_release(
    world: World,
) -> None:
    found = Etcd(world, "order")
    found.apply(version=FIRST, replicas=3, storageSize="10Gi", backupSchedule="0 2 * * *")
    found.wait_healthy(3, FIRST)
    keys = found.fill(5)
    change(found, replicas=5)  # two that learned first
    found.wait_healthy(5, FIRST)
    change(found, replicas=3)
    found.wait_healthy(3, FIRST)

    # The webhook refuses it; where that could not be asked, the role does.
    try:
        change(found, version=NEW)
    except ClusterError as refused:
        assert "go to 3.5.26 or a later 3.5 first" in str(refused)
    else:
        _wait_said(found, "VersionRefused", "go to 3.5.26 or a later 3.5 first")
    for version in (OLD, NEW):
        change(found, version=version)
        found.wait_healthy(3, version)
    with Witness(found) as witness:
        change(found, version=OLD)
        found.wait_healthy(3, OLD)
    assert witness.longest_gap_s < MOMENT_S, witness.refused
    assert set(found.members().values()) == {"voter"}
    assert found.has(keys)
    world.kubectl("delete", "etcdcluster", found.name)


def test_snapshot_comes_in_place_of_wrong_data_once_also_when_the_engine_is_killed(
    etcd: Etcd, operator: Operator
) -> None:
    version, keys, before = etcd.cr["status"]["version"], etcd.fill(5), _uids(etcd)
    good = _back_up(etcd)
    etcd.remove_all()
    etcd.put("wrong", "was here")

    _ask_restore(etcd, "typo.db")
    refused = _wait_said(etcd, "RestoreRefused", "typo.db")["status"]
    assert (refused["lastRestore"]["state"], _uids(etcd)) == ("Refused", before)
    assert etcd.get("wrong") == "was here"

    word = _ask_restore(etcd, good)
    eventually(lambda: etcd.world.get("statefulset", "db") == {}, timeout_s=PATIENCE_S)
    # Between the end of the old members and the new ones, without a chance to say good-bye.
    operator.kubectl("delete", "pod", operator.leader(), "--force", "--grace-period=0")
    restored = etcd.wait_healthy(3, version)["status"]
    reported = restored["lastRestore"]
    assert (reported["state"], reported["request"], reported["snapshot"]) == (
        "Restored",
        word,
        good,
    )
    assert (restored["restoredFrom"], reported["backup"]) == (good, f"db-before-{word[-8:]}.db")
    assert restored["restoreWord"] != word
    assert etcd.has(keys)
    assert etcd.get("wrong") is None
    assert not before & _uids(etcd)


def test_lost_quorum_is_left_by_the_last_member_or_by_a_snapshot(etcd: Etcd) -> None:
    version, keys = etcd.cr["status"]["version"], etcd.fill(5)
    before = etcd.cr["status"].get("lastRestore")
    kept = _back_up(etcd)
    etcd.put("later", "after the backup")
    _lose(etcd, "db-1", "db-2")
    answer = _offered(_wait_said(etcd, "QuorumLost", "`db-0-"))
    change(etcd, recover=answer, replicas=1)
    etcd.wait_healthy(1, version)
    assert (etcd.has(keys), etcd.get("later")) == (True, "after the backup")

    _lose(etcd, "db-0")
    answer = _offered(_wait_said(etcd, "DataLost", "`empty-"))
    change(etcd, recover=answer, restoreFrom=kept, replicas=3)
    status = etcd.wait_healthy(3, version)["status"]
    assert (etcd.has(keys), etcd.get("later")) == (True, None)
    assert status.get("lastRestore") == before, "what was asked for once is done once"


def _wait_said(etcd: Etcd, reason: str, part: str) -> Json:
    def is_said(cr: Json) -> bool:
        ready = condition(cr, "Ready")
        return ready.get("reason") == reason and part in ready["message"] and is_current(cr)

    return eventually(lambda: etcd.cr, is_said, timeout_s=PATIENCE_S)


def _back_up(etcd: Etcd) -> str:
    """The name of its snapshot."""
    name = f"kept-{secrets.token_hex(2)}"
    etcd.world.kubectl("create", "job", "--from=cronjob/db-backup", name)
    return eventually(
        lambda: str(etcd.cr["status"].get("lastGoodBackup", {}).get("snapshot")),
        lambda snapshot: snapshot == f"{name}.db",
        timeout_s=PATIENCE_S,
    )


def _ask_restore(etcd: Etcd, snapshot: str) -> str:
    word: str = etcd.cr["status"]["restoreWord"]
    change(etcd, restoreFrom=snapshot, recover=word)
    return word


def _lose(etcd: Etcd, *members: str) -> None:
    """Pods and volumes, all at once."""
    claims = [f"pvc/data-{member}" for member in members]
    pods = [f"pod/{member}" for member in members]
    etcd.world.kubectl("delete", "--wait=false", *claims, *pods)


def _offered(cr: Json) -> str:
    """The first word that the message offers."""
    message = condition(cr, "Ready")["message"]
    return str(re.search(r"spec.recover to `([^`]+)`", message)[1])  # type: ignore[index]


def _pods(etcd: Etcd) -> list[Json]:
    return etcd.world.list("pods", _members_of(etcd))


def _members_of(etcd: Etcd) -> str:
    return f"mycompany.com/etcdcluster={etcd.name},mycompany.com/part=member"


def _uids(etcd: Etcd) -> set[str]:
    return {pod["metadata"]["uid"] for pod in _pods(etcd)}


def _node_with_the_fewer_members(etcd: Etcd) -> str:
    nodes = Counter(pod["spec"]["nodeName"] for pod in _pods(etcd))
    node, members = nodes.most_common()[-1]
    assert members == 1, f"members are not spread over both nodes: {nodes}"
    return str(node)


def _sizes(witness: Witness) -> list[dict[str, str]]:
    """Lists of members, one for each change of their number."""
    lists = witness.lists
    return [now for at, now in enumerate(lists) if at == 0 or len(now) != len(lists[at - 1])]
