"""What the cluster's own controllers note on objects that a run made brings no second run."""

from __future__ import annotations

from functools import partial

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.testing import eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.memcacheds import PLAYS, created
from tests.apiserver.engine.reading import at_rest, causes
from tests.e2e.engine import PROJECT
from tests.e2e.kinds import cr, is_successful
from tests.e2e.skipping import MEMCACHED

DEPLOYMENT = Gvk("apps", "v1", "Deployment")
NOTE = "deployment.kubernetes.io/revision"


async def noted(api: Client, namespace: str, name: str) -> None:
    await eventually_async(
        lambda: api.get(DEPLOYMENT, namespace, f"{name}-memcached"),
        lambda found: NOTE in (found["metadata"].get("annotations") or {}),
    )


async def test_creation_of_a_deployment_brings_one_run_and_an_edit_of_it_another(
    api: Client, namespace: str, start_engine: StartEngine, memcached: None
) -> None:
    engine = await start_engine(PLAYS, project=PROJECT)
    await created(api, namespace)  # from now on Deployments are watched
    await noted(api, namespace, "x")
    before = await at_rest(engine)
    for name in "abc":
        await api.create(MEMCACHED, cr(MEMCACHED, namespace, name, size=1))
    for name in "abc":
        await eventually_async(partial(api.get, MEMCACHED, namespace, name), is_successful)
        await noted(api, namespace, name)
    assert await at_rest(engine) == before + 3, causes(engine)
    edit = {"metadata": {"annotations": {"notes.example.com/by": "a person"}}}
    await api.merge_patch(DEPLOYMENT, namespace, "a-memcached", edit)
    await eventually_async(lambda: causes(engine)[before + 3 :], lambda found: len(found) > 0)
    assert causes(engine)[-1] == "drift of Deployment a-memcached"
