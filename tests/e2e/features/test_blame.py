"""Who wrote a field: asked of a real cluster, about what real runs wrote."""

from __future__ import annotations

import json

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import EngineProcess
from tests.e2e.kinds import cr
from tests.e2e.test_commands import Person
from tests.e2e.test_story import MEMCACHED, first_success
from tests.fixtures.eventually import eventually

DEPLOYMENT = Gvk("apps", "v1", "Deployment")
PATH = ".spec.template.spec.containers[0]"


def blamed(person: Person, *words: str) -> dict[str, Json]:
    said = json.loads(person.rolecall("blame", *words, "-o", "json").stdout)
    return {each["path"]: each for each in said["fields"]}


async def test_fields_are_blamed_on_tasks_and_on_who_took_them_later(
    api: Client, cluster: Cluster, namespace: str, engine: EngineProcess
) -> None:
    created = await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    name = created["metadata"]["name"]
    await first_success(api, created)
    person = Person(engine, cluster.kubeconfig, namespace)
    target = f"{name}-memcached"

    fields = blamed(person, "deployment", target)
    replicas = fields[".spec.replicas"]
    assert replicas["write"]["place"].startswith("roles/memcached/tasks/main.yml:")
    assert replicas["write"]["task"] == "start memcached"
    assert replicas["write"]["cr"] == f"memcached/{name}"
    default = fields[".spec.strategy.type"]
    assert (default["filled_in"], default["write"]["task"]) == (True, "start memcached")
    assert fields[".metadata.name"]["by"] == ""

    person.rolecall("pause", f"memcached/{name}")
    # The change of a Deployment may come to the engine before that of its CR does.
    eventually(lambda: "paused" in person.rolecall("status", "-n", namespace).stdout)
    await api.merge_patch(DEPLOYMENT, namespace, target, {"spec": {"replicas": 3}})
    taken = blamed(person, f"deployment/{target}", ".spec.replicas")[".spec.replicas"]
    assert (taken["value"], taken["write"]) == (3, None)
    assert taken["manager"]["manager"] == "rolecall"  # the test's own client
    image = PATH.replace("[0]", '[name="memcached"]') + ".image"
    assert blamed(person, "deployment", target, PATH)[image]["write"]["task"] == "start memcached"
