"""What the cluster's own controllers note on objects that a run made brings no second run."""

from __future__ import annotations

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.testing import eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.memcacheds import PLAYS, created
from tests.apiserver.engine.reading import at_rest, causes
from tests.e2e.engine import PROJECT

DEPLOYMENT = Gvk("apps", "v1", "Deployment")
NOTE = "deployment.kubernetes.io/revision"


async def test_creation_of_a_deployment_brings_one_run_and_an_edit_of_it_another(
    api: Client, namespace: str, start_engine: StartEngine, memcached: None
) -> None:
    engine = await start_engine(PLAYS, project=PROJECT)
    await created(api, namespace)
    await eventually_async(
        lambda: api.get(DEPLOYMENT, namespace, "x-memcached"),
        lambda found: NOTE in (found["metadata"].get("annotations") or {}),
    )
    assert await at_rest(engine) == 1, causes(engine)
    edit = {"metadata": {"annotations": {"notes.example.com/by": "a person"}}}
    await api.merge_patch(DEPLOYMENT, namespace, "x-memcached", edit)
    await eventually_async(lambda: causes(engine)[1:], lambda found: len(found) > 0)
    assert causes(engine)[1] == "drift of Deployment x-memcached"
