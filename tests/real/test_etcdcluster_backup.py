"""What a backup is worth: in a bucket, tried, and the cluster that is destroyed comes back from it."""

from __future__ import annotations

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import RCLONE, S3, etcd_versions
from tests.fixtures.eventually import eventually
from tests.real.etcd import Etcd
from tests.real.world import PATIENCE_S, World, app_pod

pytestmark = pytest.mark.usefixtures("operator")

VERSION = etcd_versions()[-1]
SECRET = "kept-between-the-two"
BACKUPS: Json = {
    "backupSchedule": "0 3 * * *",
    "backupKeep": 2,
    "backupVerify": True,
    "backupToolImage": RCLONE,
}


def test_destroyed_cluster_comes_back_from_its_bucket(world: World) -> None:
    etcd = Etcd(world, "safe")
    _serve_bucket(world)
    store = {
        "endpoint": f"http://bucket.{world.namespace}.svc:9000",
        "bucket": "backups",
        "secretName": "bucket-key",
    }
    etcd.apply(version=VERSION, replicas=1, **BACKUPS, backupS3=store)
    etcd.wait_healthy(1, VERSION)
    keys = etcd.fill()
    _back_up(etcd, "first")
    _back_up(etcd, "second")
    # What the next one deletes is known when this one's list was read.
    eventually(lambda: world.get("cronjob", "safe-backup"), _prunes, timeout_s=PATIENCE_S)
    _back_up(etcd, "third")
    status = etcd.cr["status"]
    good = status["lastGoodBackup"]
    assert (good["verified"], good["revision"] > len(keys)) == (True, True)
    assert [each["name"] for each in status["backups"]] == ["third.db", "second.db"]
    etcd.put("written-after", "the backup")

    world.patch("secret", "bucket-key", {"stringData": {"AWS_SECRET_ACCESS_KEY": "wrong"}})
    _start(world, "fourth")
    failed = _wait_reported(etcd, "Failed")
    assert "403" in failed["lastBackup"]["message"]
    assert failed["lastGoodBackup"]["snapshot"] == "third.db"
    reported = str(etcd.cr) + world.kubectl("get", "jobs,pods,events", "-o", "yaml")
    assert SECRET not in reported
    world.patch("secret", "bucket-key", {"stringData": {"AWS_SECRET_ACCESS_KEY": SECRET}})

    world.kubectl("delete", "etcdcluster", "safe", f"--timeout={PATIENCE_S:.0f}s")
    etcd.apply(version=VERSION, replicas=1, **BACKUPS, backupS3=store, restoreFrom="third.db")
    etcd.wait_healthy(1, VERSION)
    assert etcd.cr["status"]["restoredFrom"] == "third.db"
    assert etcd.has(keys)
    assert etcd.get("written-after") is None
    eventually(
        lambda: world.list("jobs", "mycompany.com/part=restore"),
        lambda jobs: jobs == [],
        timeout_s=PATIENCE_S,
    )


def _back_up(etcd: Etcd, name: str) -> None:
    _start(etcd.world, name)
    reported = _wait_reported(etcd, "Succeeded", f"{name}.db")
    assert reported["lastGoodBackup"]["snapshot"] == f"{name}.db"


def _start(world: World, name: str) -> None:
    world.kubectl("create", "job", "--from=cronjob/safe-backup", name)


def _prunes(schedule: Json) -> bool:
    pod = schedule["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return "prune" in [each["name"] for each in pod["initContainers"]]


def _wait_reported(etcd: Etcd, result: str, snapshot: str = "") -> Json:
    cr = eventually(
        lambda: etcd.cr,
        lambda cr: (
            cr["status"].get("lastBackup", {}).get("result") == result
            and cr["status"]["lastBackup"].get("snapshot", "") == snapshot
        ),
        timeout_s=PATIENCE_S,
    )
    status: Json = cr["status"]
    return status


def _serve_bucket(world: World) -> None:
    """A real S3 server, which keeps its objects for as long as its pod lives."""
    key = {"AWS_ACCESS_KEY_ID": "operator", "AWS_SECRET_ACCESS_KEY": SECRET}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bucket-key"}}
    pod = app_pod("bucket", "none")
    pod["metadata"]["labels"] = {"app": "bucket"}
    pod["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
    (container,) = pod["spec"]["containers"]
    container |= {"image": S3, "args": ["/data", "backups"]}
    container["envFrom"] = [{"secretRef": {"name": "bucket-key"}}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "bucket"},
        "spec": {"selector": {"app": "bucket"}, "ports": [{"port": 9000}]},
    }
    world.apply(secret | {"stringData": key}, pod, service)
    world.kubectl("wait", "--for=condition=Ready", "pod/bucket", f"--timeout={PATIENCE_S:.0f}s")
