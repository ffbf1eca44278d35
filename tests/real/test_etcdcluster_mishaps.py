"""What befalls a real etcd cluster, and how it comes back: evictions, a full database, deletions."""

from __future__ import annotations

import json
from urllib.error import HTTPError

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import RCLONE, etcd_versions
from tests.fixtures.eventually import eventually
from tests.real.etcd import Etcd, coded
from tests.real.world import PATIENCE_S, World, condition

pytestmark = pytest.mark.usefixtures("operator")

VERSION = etcd_versions()[-1]
BACKUPS: Json = {"backupSchedule": "0 3 * * *", "backupToolImage": RCLONE}
# As a kubelet writes it.
EVICTED = "The node was low on resource: ephemeral-storage."
NOWHERE: Json = {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}


def test_restore_that_is_evicted_says_so_and_is_done_again(world: World) -> None:
    etcd = Etcd(world, "evicted")
    etcd.apply(version=VERSION, replicas=1, **BACKUPS)
    etcd.wait_healthy(1, VERSION)
    keys = etcd.fill(5)
    world.kubectl("create", "job", "--from=cronjob/evicted-backup", "good")
    eventually(
        lambda: etcd.cr["status"].get("lastGoodBackup", {}).get("snapshot"),
        lambda snapshot: snapshot == "good.db",
        timeout_s=PATIENCE_S,
    )
    _delete(etcd)

    etcd.apply(version=VERSION, replicas=1, **BACKUPS, restoreFrom="good.db", **NOWHERE)
    (pod,) = eventually(
        lambda: world.list("pods", "mycompany.com/part=restore"), bool, timeout_s=PATIENCE_S
    )
    evicted = {"status": {"phase": "Failed", "reason": "Evicted", "message": EVICTED}}
    world.kubectl(
        *("patch", "pod", pod["metadata"]["name"], "--subresource=status", "--type=merge"),
        *("-p", json.dumps(evicted)),
    )
    _wait_said(etcd, EVICTED)
    assert EVICTED in etcd.cr["status"]["restoreFailure"]["message"]

    world.patch("etcdcluster", "evicted", {"spec": {"nodeSelector": None}})
    etcd.wait_healthy(1, VERSION)
    assert etcd.cr["status"]["restoredFrom"] == "good.db"
    assert etcd.has(keys)


def test_full_database_takes_writes_again_by_room_and_by_a_larger_quota(world: World) -> None:
    etcd = Etcd(world, "full")
    etcd.apply(
        version=VERSION,
        replicas=1,
        quotaBackendBytes="16Mi",
        defragment={"above": 10, "largerThan": "1Mi"},
    )
    etcd.wait_healthy(1, VERSION)
    _fill_up(etcd)
    reported = _wait_said(etcd, "writes are refused")
    assert (reported["reason"], "its quota is 16Mi" in reported["message"]) == (
        "DatabaseFull",
        True,
    )
    assert etcd.get("large-0"), "reads go on"

    last = etcd.ask("/v3/kv/deleterange", {"key": coded("large-"), "range_end": coded("large.")})
    etcd.ask("/v3/kv/compaction", {"revision": last["header"]["revision"], "physical": True})
    etcd.wait_healthy(1, VERSION)
    etcd.put("written", "with room")

    _fill_up(etcd)
    _wait_said(etcd, "writes are refused")
    world.patch("etcdcluster", "full", {"spec": {"quotaBackendBytes": "48Mi"}})
    etcd.wait_healthy(1, VERSION)
    etcd.put("written", "with a larger quota")


def test_last_backup_of_each_cluster_of_a_name_is_kept_in_a_volume_of_the_class(
    world: World,
) -> None:
    _copy_of_the_default_class(world, "slow")
    etcd = Etcd(world, "twice")
    kept: Json = {"backupToolImage": RCLONE, "backupStorageClassName": "slow"}
    lives = {}
    for life in ("first", "second"):
        etcd.apply(version=VERSION, replicas=1, backupOnDelete=True, **kept)
        etcd.wait_healthy(1, VERSION)
        assert etcd.get("life") is None, "nothing of the cluster before"
        etcd.put("life", life)
        lives[life] = f"twice-last-{etcd.cr['metadata']['uid'][:8]}.db"
        _delete(etcd)
    assert world.get("pvc", "twice-backup")["spec"]["storageClassName"] == "slow"

    for life, snapshot in lives.items():
        etcd.apply(version=VERSION, replicas=1, backupOnDelete=False, restoreFrom=snapshot, **kept)
        etcd.wait_healthy(1, VERSION)
        assert etcd.get("life") == life
        _delete(etcd)


def _delete(etcd: Etcd) -> None:
    etcd.world.kubectl("delete", "etcdcluster", etcd.name, f"--timeout={PATIENCE_S:.0f}s")


def _wait_said(etcd: Etcd, words: str) -> Json:
    return eventually(
        lambda: condition(etcd.cr, "Ready"),
        lambda ready: words in ready.get("message", ""),
        timeout_s=PATIENCE_S,
    )


def _fill_up(etcd: Etcd) -> None:
    """Write until etcd takes no more."""
    with pytest.raises(HTTPError, match="429"):
        for number in range(100):
            etcd.put(f"large-{number}", "x" * 400_000)


def _copy_of_the_default_class(world: World, name: str) -> None:
    found = world.get("storageclass", "standard")
    fields = ("apiVersion", "kind", "provisioner", "volumeBindingMode", "reclaimPolicy")
    world.apply({key: found[key] for key in fields} | {"metadata": {"name": name}})
