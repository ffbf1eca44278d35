"""Our other kinds where their containers really run, crash and write."""

from __future__ import annotations

from typing import Any

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import APP
from tests.fixtures.eventually import eventually
from tests.real.world import OFTEN, PATIENCE_S, World, app_pod, condition, is_current

pytestmark = pytest.mark.usefixtures("operator")

MISSING = "registry.local/app:never-built"


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


def test_appoperator_with_a_bad_image_goes_back_to_the_last_good_one(world: World) -> None:
    app = cr(
        *("tools.rolecall.dev/v1beta1", "Appoperator", "app"),
        image=APP,
        replicas=2,
        rolloutDeadlineSeconds=15,
    )
    world.apply(app)
    world.wait_ready("appoperator", "app")

    world.patch("appoperator", "app", {"spec": {"image": MISSING}})
    eventually(
        lambda: condition(world.get("appoperator", "app"), "Ready").get("reason"),
        lambda reason: reason == "RolledBack",
        timeout_s=PATIENCE_S,
    )
    eventually(
        lambda: [images_of(pod) for pod in world.list("pods", "app=app")],
        lambda images: images == [[APP], [APP]],
        timeout_s=PATIENCE_S,
    )


def test_podset_replaces_pods_that_failed(world: World) -> None:
    container = {"name": "app", "image": APP}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    world.apply(cr("apps.rolecall.dev/v1alpha1", "PodSet", "crew", replicas=2, template=template))
    world.wait_ready("podset", "crew")
    victim = pods_of(world, "PodSet", "crew")[0]
    world.kubectl("exec", victim, "--", "app", "end")
    eventually(
        lambda: pods_of(world, "PodSet", "crew"),
        lambda pods: len(pods) == 2 and victim not in pods,
        timeout_s=PATIENCE_S,
    )
    world.wait_ready("podset", "crew")


@pytest.mark.parametrize(("operation", "kept"), [("Reboot", True), ("Rebuild", False)])
def test_disk_survives_a_reboot_and_not_a_rebuild(world: World, operation: str, kept: bool) -> None:
    name = operation.lower()
    version = "compute.rolecall.dev/v1alpha1"
    world.apply(cr(version, "Machine", name, image=APP))
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


def images_of(pod: Json) -> list[str]:
    return [container["image"] for container in pod["spec"]["containers"]]


def pods_of(world: World, kind: str, name: str) -> list[str]:
    """Names of the pods that a CR owns and that are not on their way out."""
    return [
        pod["metadata"]["name"]
        for pod in world.list("pods")
        if "deletionTimestamp" not in pod["metadata"]
        for owner in pod["metadata"].get("ownerReferences", [])
        if (owner["kind"], owner["name"]) == (kind, name)
    ]
