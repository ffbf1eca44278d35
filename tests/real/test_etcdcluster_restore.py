"""A new cluster whose snapshot is damaged: it says so, and starts from a good one without more ado."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import RCLONE, etcd_versions
from tests.fixtures.eventually import eventually
from tests.real.etcd import Etcd
from tests.real.world import PATIENCE_S, World, app_pod, condition

pytestmark = pytest.mark.usefixtures("operator")

VERSION = etcd_versions()[-1]
BACKUPS: Json = {"backupSchedule": "0 3 * * *", "backupToolImage": RCLONE}
DAMAGED = "missing hash"  # in the words of etcdutl
FULL = "not empty"  # what it says of a volume that an earlier try left half filled


def test_damaged_snapshot_leaves_nothing_that_hinders_a_good_one(world: World) -> None:
    etcd = Etcd(world, "phoenix")
    etcd.apply(version=VERSION, replicas=1, **BACKUPS)
    etcd.wait_healthy(1, VERSION)
    keys = etcd.fill()
    world.kubectl("create", "job", "--from=cronjob/phoenix-backup", "good")
    eventually(
        lambda: etcd.cr["status"].get("lastGoodBackup", {}).get("snapshot"),
        lambda snapshot: snapshot == "good.db",
        timeout_s=PATIENCE_S,
    )
    _put_damaged_file(world)
    world.kubectl("delete", "etcdcluster", "phoenix", f"--timeout={PATIENCE_S:.0f}s")

    etcd.apply(version=VERSION, replicas=1, **BACKUPS, restoreFrom="bad.db")
    _wait_said(etcd, DAMAGED)
    first = world.get("pvc", "data-phoenix-0")["metadata"]["uid"]
    assert DAMAGED in etcd.cr["status"]["restoreFailure"]["message"]
    eventually(
        lambda: world.get("pvc", "data-phoenix-0").get("metadata", {}).get("uid", first),
        lambda uid: uid != first,
        timeout_s=PATIENCE_S,
    )
    again = eventually(_ended_pod(world), bool, timeout_s=PATIENCE_S)
    assert DAMAGED in again["message"]
    assert FULL not in again["message"]

    world.patch("etcdcluster", "phoenix", {"spec": {"restoreFrom": "good.db"}})
    etcd.wait_healthy(1, VERSION)
    assert etcd.cr["status"]["restoredFrom"] == "good.db"
    assert "restoreFailure" not in etcd.cr["status"]
    assert etcd.has(keys)


def _wait_said(etcd: Etcd, words: str) -> None:
    eventually(
        lambda: condition(etcd.cr, "Ready").get("message", ""),
        lambda message: words in message,
        timeout_s=PATIENCE_S,
    )


def _ended_pod(world: World) -> Callable[[], Json]:
    """How the restore's pod ended, where there is one of the second try."""

    def look() -> Json:
        claim = world.get("pvc", "data-phoenix-0")["metadata"]["creationTimestamp"]
        for pod in world.list("pods", "mycompany.com/part=restore"):
            for status in pod["status"].get("containerStatuses", []):
                ended: Json = status["state"].get("terminated", {})
                if ended and pod["metadata"]["creationTimestamp"] >= claim:
                    return ended
        return {}

    return look


def _put_damaged_file(world: World) -> None:
    """A file that is no snapshot, and large enough to be copied before that is noticed."""
    pod = app_pod("breaker", "phoenix-backup")
    (container,) = pod["spec"]["containers"]
    container |= {
        "image": RCLONE,
        "command": ["rclone", "--config=", "copyto", "/usr/local/bin/rclone", "/data/bad.db"],
    }
    pod["spec"]["restartPolicy"] = "Never"
    world.apply(pod)
    eventually(
        lambda: world.get("pod", "breaker")["status"].get("phase"),
        lambda phase: phase == "Succeeded",
        timeout_s=PATIENCE_S,
    )
    world.kubectl("delete", "pod", "breaker")
