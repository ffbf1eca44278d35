"""Our other kinds where their containers really run, crash and write."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.errors import ClusterError
from rolecall.json_object import Json
from rolecall_dev.localcluster import APP
from tests.fixtures.eventually import eventually
from tests.real.world import OFTEN, PATIENCE_S, World, app_pod, condition, is_current

pytestmark = pytest.mark.usefixtures("operator")

POD_SET = ("apps.rolecall.dev/v1alpha1", "PodSet")


def cr(api_version: str, kind: str, name: str, /, **spec: Any) -> Json:
    metadata = {"name": name, "annotations": OFTEN}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def test_demovolume_keeps_what_was_written_when_it_grows(world: World) -> None:
    volume = cr("demo.rolecall.dev/v1", "DemoVolume", "grows", name="data", size=1)
    world.apply(volume, app_pod("writer", "grows"))
    world.wait_ready("demovolume", "grows")
    world.kubectl("wait", "--for=condition=Ready", "pod/writer", f"--timeout={PATIENCE_S:.0f}s")
    world.execute("writer", "app", "write", "/data/kept", "hello")

    world.patch("demovolume", "grows", {"spec": {"size": 2}})
    eventually(
        lambda: world.get("demovolume", "grows"),
        lambda found: is_current(found) and found["status"].get("capacity") == "2Gi",
        timeout_s=PATIENCE_S,
    )
    assert world.execute("writer", "app", "read", "/data/kept") == "hello"


def test_appoperator_that_crashes_after_seconds_is_rolled_back_while_it_is_scaled(
    world: World,
) -> None:
    pod_security = {"runAsNonRoot": True, "runAsUser": 10001}
    app = cr(
        *("tools.rolecall.dev/v1", "Appoperator", "app"),
        image={"repository": APP},
        replicas=2,
        rolloutDeadlineSeconds=15,
        podSecurityContext={**pod_security, "seccompProfile": {"type": "RuntimeDefault"}},
    )
    world.apply(app)
    world.wait_ready("appoperator", "app")

    # Its container is ready at once, and is ended after two seconds, again and again.
    crash = {"exec": {"command": ["app", "fail"]}, "initialDelaySeconds": 2, "periodSeconds": 1}
    world.patch("appoperator", "app", {"spec": {"livenessProbe": {**crash, "failureThreshold": 1}}})
    world.kubectl("scale", "--replicas=3", "appoperator/app")
    wait_rolled_back(world)
    world.kubectl("scale", "--replicas=1", "appoperator/app")
    eventually(
        lambda: [container_of(pod) for pod in world.list("pods", "app=app")],
        lambda containers: len(containers) == 1 and "livenessProbe" not in containers[0],
        timeout_s=PATIENCE_S,
    )
    wait_rolled_back(world)
    assert world.get("appoperator", "app")["status"]["revisions"][0]["revision"] == 1


def test_podset_keeps_the_logs_of_a_bad_template_and_rolls_to_a_good_one(world: World) -> None:
    # The kubelet of a busy node reports a container's end some seconds late; till then it is ready.
    strategy = {"type": "RollingUpdate", "minReadySeconds": 10}
    good = pod_template("sleep")
    world.apply(
        cr(*POD_SET, "crew", replicas=2, template=good, strategy=strategy),
    )
    world.wait_ready("podset", "crew")
    first = pods_of(world, "PodSet", "crew")

    world.patch("podset", "crew", {"spec": {"template": pod_template("fail")}})

    def look() -> tuple[Json, dict[str, str], str]:
        status = world.get("podset", "crew")["status"]
        log = world.kubectl("logs", status["lastFailedPod"])
        return status, pods_of(world, "PodSet", "crew"), log

    # All at once, since pods go on failing: of those that ended, one is left. The kubelet of a busy
    # node may take a pod for unready for a moment, too, and that is not the set's.
    _said, pods, log = eventually(
        look,
        lambda seen: (
            (seen[0]["failures"] > 1, seen[0].get("waitingReplicas"), seen[0]["readyReplicas"])
            == (True, 1, 1)
            and {*seen[1]} - {*seen[0]["podNames"]} == {seen[0]["lastFailedPod"]}
        ),
        timeout_s=PATIENCE_S,
        ignoring=(AssertionError, LookupError, ClusterError),
    )
    # One pod was given up for the new template, and no more.
    assert len({*first.values()} & {*pods.values()}) == 1
    assert "failed on request: `" in log

    world.patch("podset", "crew", {"spec": {"template": pod_template("sleep", version="2")}})
    status = world.wait_ready("podset", "crew")["status"]
    left = pods_of(world, "PodSet", "crew")
    # By their uids: names of pods that are gone are given again.
    assert (status["updatedReplicas"], {*first.values()} & {*left.values()}) == (2, set())


def pod_template(*command: str, version: str = "1") -> Json:
    container = {"name": "app", "image": APP, "args": command}
    spec = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"metadata": {"annotations": {"version": version}}, "spec": spec}


@pytest.mark.parametrize(("operation", "kept"), [("Reboot", True), ("Rebuild", False)])
def test_disk_survives_a_reboot_and_not_a_rebuild(world: World, operation: str, kept: bool) -> None:
    name = operation.lower()
    version = "compute.rolecall.dev/v1alpha1"
    world.apply(cr(version, "Machine", name, image=APP, user=10001))
    world.wait_ready("machine", name)
    world.execute(name, "app", "write", "/data/kept", "hello")
    pod = world.get("pod", name)["metadata"]["uid"]

    world.apply(cr(version, "MachineOperation", f"do-{name}", machine=name, type=operation))
    eventually(
        lambda: world.get("machineoperation", f"do-{name}").get("status", {}).get("phase"),
        lambda phase: phase == "Succeeded",
        timeout_s=PATIENCE_S,
    )
    world.wait_ready("machine", name)
    assert world.get("pod", name)["metadata"]["uid"] != pod
    present = world.execute(name, "app", "has", "/data/kept").strip()
    assert present == ("yes" if kept else "no")


def test_machine_that_is_stopped_started_and_damaged_has_its_data(world: World) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-more"}}
    name, version = "lasts", "compute.rolecall.dev/v1alpha1"
    world.apply(cr(version, "Machine", name, image=APP, user=10001))
    world.wait_ready("machine", name)
    world.execute(name, "app", "write", "/data/kept", "hello")

    world.patch("machine", name, {"spec": {"running": False}})
    wait_reason(world, name, "Stopped")
    assert world.get("pod", name) == {}
    world.patch("machine", name, {"spec": {"running": True}})
    world.wait_ready("machine", name)
    assert world.execute(name, "app", "read", "/data/kept") == "hello"

    world.apply(quota | {"spec": {"hard": {"requests.storage": "1Gi"}}})
    world.patch("machine", name, {"spec": {"disk": 5}})
    wait_reason(world, name, "DiskRefused")
    lost = world.get("pod", name)["metadata"]["uid"]
    world.kubectl("delete", "pod", name, "--grace-period=1")
    eventually(
        lambda: world.get("pod", name),
        lambda pod: bool(pod) and pod["metadata"]["uid"] != lost and condition(pod, "Ready"),
        timeout_s=PATIENCE_S,
    )
    world.patch("machine", name, {"spec": {"disk": 1}})
    world.wait_ready("machine", name)
    assert world.execute(name, "app", "read", "/data/kept") == "hello"
    world.kubectl("delete", "resourcequota", "no-more")


def wait_reason(world: World, machine: str, reason: str) -> None:
    eventually(
        lambda: condition(world.get("machine", machine), "Ready").get("reason"),
        lambda found: found == reason,
        timeout_s=PATIENCE_S,
    )


def wait_rolled_back(world: World) -> None:
    """Until the Appoperator says so, about the spec that it has now."""
    eventually(
        lambda: world.get("appoperator", "app"),
        lambda found: is_current(found) and condition(found, "Ready").get("reason") == "RolledBack",
        timeout_s=PATIENCE_S,
    )


def container_of(pod: Json) -> Json:
    """The first one."""
    container: Json = pod["spec"]["containers"][0]
    return container


def pods_of(world: World, kind: str, name: str) -> dict[str, str]:
    """Names, with their uids, of the pods that a CR owns and that are not on their way out."""
    return {
        pod["metadata"]["name"]: pod["metadata"]["uid"]
        for pod in world.list("pods")
        if "deletionTimestamp" not in pod["metadata"]
        for owner in pod["metadata"].get("ownerReferences", [])
        if (owner["kind"], owner["name"]) == (kind, name)
    }
