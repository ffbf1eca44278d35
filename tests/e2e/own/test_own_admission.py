"""EtcdClusters refused and Machines given their defaults, as a user with `kubectl` sees it."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S
from tests.e2e.own.cases import SERVICE
from tests.e2e.own.world import ETCD, IMAGE, MACHINE, make
from tests.fixtures.eventually import eventually

pytestmark = pytest.mark.usefixtures("engine")

# The operator itself is let through, and tests have its user; this one is another user.
AS = ("--as=jane", "--as-group=system:masters")
SPEC = {"version": "3.5.35", "replicas": 3}
MEMBERS = [{"name": f"db-{number}", "version": "3.5.35", "healthy": True} for number in range(3)]


def write(cluster: Cluster, obj: Json, *words: str) -> str:
    """What `kubectl apply` had against it, and whatever it warned of; empty: nothing."""
    words = ("--warnings-as-errors", *AS, "apply", *words, "-f", "-")
    return cluster.refusal(*words, stdin=json.dumps(obj))


@pytest.fixture
def db(cluster: Cluster, namespace: str) -> Json:
    """One that has started, and is paused, so that nothing but the test writes its status."""
    db = make(ETCD, namespace, "db", SPEC)
    db["metadata"]["annotations"] = {"rolecall.dev/paused": "true"}
    assert not write(cluster, db)
    said = json.dumps({"status": {"version": "3.5.35", "members": MEMBERS}})
    words = ("--subresource=status", "--type=merge", "--patch", said)
    cluster.kubectl("-n", namespace, "patch", "etcd/db", *words)
    return db


def test_etcdcluster_that_could_not_become_what_it_says_is_refused(
    cluster: Cluster, namespace: str, db: Json
) -> None:
    def change(**spec: Any) -> str:
        return write(cluster, {**db, "spec": {**SPEC, **spec}})

    eventually(lambda: change(version="3.7.0"), timeout_s=PATIENCE_S)  # the webhook is registered
    said = change(version="3.7.0")
    assert "denied the request" in said
    assert "spec.version: etcd cannot go from 3.5.35 to 3.7.0 at once; go one minor release" in said
    sick = json.dumps({"status": {"members": [{**MEMBERS[0], "healthy": False}, *MEMBERS[1:]]}})
    words = ("--subresource=status", "--type=merge", "--patch", sick)
    cluster.kubectl("-n", namespace, "patch", "etcd/db", *words)
    said = cluster.refusal(*AS, "-n", namespace, "scale", "--replicas=1", "etcd/db")
    assert "spec.replicas: db-0 would stay and is not healthy" in said
    assert not cluster.refusal(*AS, "-n", namespace, "scale", "--replicas=5", "etcd/db")

    theirs = make(SERVICE, namespace, "new-peer", {"ports": [{"port": 99}]})
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(theirs))
    said = write(cluster, make(ETCD, namespace, "new", SPEC), "--dry-run=server")
    assert "metadata.name: Service new-peer of that name is there" in said


def test_backups_that_cannot_be_written_yet_are_warned_of_and_their_server_is_not_asked(
    cluster: Cluster, namespace: str, db: Json
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.setblocking(False)
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        target = {"endpoint": endpoint, "bucket": "backups", "secretName": "s3"}
        backed_up = {**SPEC, "backupSchedule": "0 3 * * *", "backupS3": target}
        eventually(lambda: write(cluster, {**db, "spec": {**SPEC, "version": "3.7.0"}}))
        said = write(cluster, {**db, "spec": backed_up})
        assert "Secret s3 has no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, so no backup" in said
        assert endpoint not in said
        stored = cluster.kubectl_json("-n", namespace, "get", "etcd/db")["spec"]
        assert stored["backupS3"]["endpoint"] == endpoint
        with pytest.raises(BlockingIOError):  # no client came
            server.accept()


def test_machine_gets_the_user_that_its_namespace_allows(cluster: Cluster, namespace: str) -> None:
    users = "openshift.io/sa.scc.uid-range=1000680000/10000"
    cluster.kubectl("annotate", "namespace", namespace, users)
    machine = make(MACHINE, namespace, "m", {"image": IMAGE})
    words = (*AS, "create", "--dry-run=server", "-o", "json", "-f", "-")

    def user() -> object:
        return json.loads(cluster.kubectl(*words, stdin=json.dumps(machine)))["spec"].get("user")

    eventually(lambda: user() == 1000680000, timeout_s=PATIENCE_S)
    machine["spec"]["user"] = 5
    assert user() == 5
