"""The examples of the guides to pruning and to reads as triggers, with the files that they show."""

from __future__ import annotations

import time

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.features.conftest import PRUNE
from tests.e2e.features.kinds import SHELF, SITE
from tests.e2e.features.logs import at_rest, causes
from tests.e2e.test_commands import Person
from tests.e2e.wanted_kinds import SECRET, edited, events, made, names
from tests.fixtures.eventually import eventually_async

DEPLOYMENT = Gvk("apps", "v1", "Deployment")


async def test_config_map_that_left_the_loop_is_gone_after_two_good_runs(
    api: Client, cluster: Cluster, namespace: str, engine: EngineProcess
) -> None:
    await made(api, SHELF, namespace, "shop", books=["atlas", "bible"])
    assert await names(api, namespace) == {"shop-atlas", "shop-bible"}
    await edited(api, SHELF, namespace, "shop", books=["atlas"])
    assert await names(api, namespace) == {"shop-atlas", "shop-bible"}
    Person(engine, cluster.kubeconfig, namespace).rolecall("reconcile", "shelf/shop")
    await eventually_async(lambda: names(api, namespace), lambda found: found == {"shop-atlas"})
    (event,) = await eventually_async(lambda: events(api, namespace, "Pruned"))
    assert event["message"] in PRUNE.read_text()


async def test_rotated_secret_rolls_the_deployment(
    api: Client,
    namespace: str,
    engine: EngineProcess,
) -> None:
    metadata = {"name": "db-password", "namespace": namespace}
    await api.create(SECRET, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    await made(api, SITE, namespace, "shop")
    at_rest(engine, namespace)
    before = password_of(await api.get(DEPLOYMENT, namespace, "shop"))
    rotated = time.monotonic()
    await api.merge_patch(SECRET, namespace, "db-password", {"data": {"word": "bmV3"}})
    await eventually_async(
        lambda: api.get(DEPLOYMENT, namespace, "shop"),
        lambda found: password_of(found) != before,
        timeout_s=PATIENCE_S,
    )
    rolled_after_s = time.monotonic() - rotated
    print(f"rolled after {rolled_after_s:.3f} s")
    assert rolled_after_s < 10  # the guide's second, on a machine that may be busy with more
    assert "change of Secret db-password that the role reads" in causes(engine, namespace)


def password_of(deployment: Json) -> str:
    """What new pods are made with."""
    return str(deployment["spec"]["template"]["metadata"]["annotations"]["password"])
