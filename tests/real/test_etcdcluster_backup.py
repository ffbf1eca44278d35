"""What a backup is worth: the cluster is destroyed, and comes back with its keys."""

from __future__ import annotations

import pytest

from rolecall_dev.localcluster import etcd_versions
from tests.fixtures.eventually import eventually
from tests.real.etcd import Etcd
from tests.real.world import PATIENCE_S, World

pytestmark = pytest.mark.usefixtures("operator")

VERSION = etcd_versions()[-1]


def test_destroyed_cluster_comes_back_from_its_backup(world: World) -> None:
    etcd = Etcd(world, "safe")
    etcd.apply(version=VERSION, replicas=3, backupSchedule="0 3 * * *")
    etcd.wait_healthy(3, VERSION)
    keys = etcd.fill()
    world.kubectl("create", "job", "--from=cronjob/safe-backup", "by-hand")
    eventually(
        lambda: etcd.cr["status"].get("lastBackup") or {},
        lambda backup: backup.get("snapshot") == "by-hand.db" and backup["result"] == "Succeeded",
        timeout_s=PATIENCE_S,
    )
    etcd.put("written-after", "the backup")

    world.kubectl("delete", "etcdcluster", "safe", f"--timeout={PATIENCE_S:.0f}s")
    eventually(
        lambda: world.list("pvc"),
        lambda claims: [claim["metadata"]["name"] for claim in claims] == ["safe-backup"],
        timeout_s=PATIENCE_S,
    )

    etcd.apply(version=VERSION, replicas=3, restoreFrom="by-hand.db")
    etcd.wait_healthy(3, VERSION)
    assert etcd.cr["status"]["restoredFrom"] == "by-hand.db"
    assert etcd.has(keys)
    assert etcd.get("written-after") is None
