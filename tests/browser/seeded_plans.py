"""The plan of a seeded world: a changed Deployment, a new ConfigMap, and an orphan that goes."""

from __future__ import annotations

from copy import deepcopy

from rolecall.errors import InputError
from rolecall.plan import Certainty, PlannedChange, PlannedObject, PlannedRun, PlanNote, TaskPlace
from rolecall.workqueue import Key
from tests.browser.seeded_objects import gvk_of
from tests.browser.seeded_roles import OLD_TASK
from tests.unit.extensions.console.page.cluster import FakeCluster


def planned(cluster: FakeCluster, key: Key) -> PlannedRun:
    """Of a CR whose objects are there."""
    namespace, name = key.namespace, key.name
    workload = cluster.objects.get(("Deployment", namespace, name))
    if workload is None:
        raise InputError(f"{key} has no Deployment", hint="choose a Website or a Cache")
    after = deepcopy(workload)
    after["spec"]["replicas"] = 3
    (container,) = after["spec"]["template"]["spec"]["containers"]
    container["image"] = container["image"].rpartition(":")[0] + ":1.4"
    container["env"] = [{"name": "MODE", "value": "fast"}]
    del container["resources"]["limits"]["memory"]
    role = f"roles/{key.gvk.kind.lower()}/tasks/main.yml"
    deploys = TaskPlace("Deploy the web server", f"{role}:20")
    routes = {"metadata": {"name": f"{name}-routes"}, "data": {"/shop": "checkout"}}
    old = f"{name}{OLD_TASK.called}"
    objects = (
        PlannedObject(
            PlannedChange.CHANGE,
            gvk_of("Deployment"),
            namespace,
            name,
            workload,
            after,
            Certainty.EXACT,
            tasks=(deploys,),
        ),
        PlannedObject(
            PlannedChange.CREATE,
            gvk_of("ConfigMap"),
            namespace,
            f"{name}-routes",
            None,
            routes,
            Certainty.EXACT,
            tasks=(TaskPlace("Add the routes", f"{role}:56"),),
        ),
        PlannedObject(
            PlannedChange.DELETE,
            gvk_of("ConfigMap"),
            namespace,
            old,
            cluster.objects.get(("ConfigMap", namespace, old)),
            None,
            Certainty.APPROXIMATE,
            why="pruning waits for two good runs",
            how="prune",
        ),
    )
    notes = (
        PlanNote(
            "wait",
            "deployment.resources[0].status.availableReplicas == 3",
            TaskPlace("Wait until its pods are ready", f"{role}:38"),
        ),
    )
    return PlannedRun(key.gvk.kind, namespace, name, objects, notes, seconds=2.4)
