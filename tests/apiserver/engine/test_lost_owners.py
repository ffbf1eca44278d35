"""An owner that a user removes from an object by hand, as an operator meets it."""

from __future__ import annotations

from rolecall.json_object import Json
from rolecall.kube import Client
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.shelves import MAKERS
from tests.apiserver.engine.test_adoption import events_of
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S
from tests.e2e.kinds import CONFIG_MAP, cr, is_gone, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async

MAKER = kind("Maker")


async def make(api: Client, namespace: str) -> Json:
    """A CR whose role has made its object; returns that."""
    await install(api, crd_for(MAKER))
    await api.create(MAKER, cr(MAKER, namespace, word="x"))
    await eventually_async(
        lambda: api.get(MAKER, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )
    return await made(api, namespace)


async def made(api: Client, namespace: str) -> Json:
    return await api.get(CONFIG_MAP, namespace, "x-made")


async def strip(api: Client, namespace: str) -> None:
    stripped = await api.merge_patch(
        CONFIG_MAP, namespace, "x-made", {"metadata": {"ownerReferences": None}}
    )
    assert "ownerReferences" not in stripped["metadata"]


async def owned_again(api: Client, namespace: str) -> Json:
    return await eventually_async(
        lambda: made(api, namespace),
        lambda it: bool(it["metadata"].get("ownerReferences")),
        timeout_s=PATIENCE_S,
    )


async def test_owner_that_a_client_removed_comes_back_by_one_run_and_is_reported(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(MAKERS, project=BEHAVIOURS)
    before = await make(api, namespace)
    runs = len(engine.plays.runs)
    await strip(api, namespace)
    after = await owned_again(api, namespace)
    assert after["metadata"]["ownerReferences"] == before["metadata"]["ownerReferences"]
    (event,) = await eventually_async(
        lambda: events_of(api, namespace, "OwnerRestored"), timeout_s=PATIENCE_S
    )
    assert "ConfigMap x-made" in event["message"]
    assert await events_of(api, namespace, "NotOwned") == []
    # What is done to it from now on is noticed, as before.
    await api.merge_patch(CONFIG_MAP, namespace, "x-made", {"data": {"word": "drifted"}})
    await eventually_async(
        lambda: made(api, namespace), lambda it: it["data"]["word"] == "x", timeout_s=PATIENCE_S
    )
    assert len(engine.plays.runs) - runs == 2


async def test_owner_that_was_taken_away_while_no_engine_ran_comes_back_when_one_starts(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    first = await start_engine(MAKERS, project=BEHAVIOURS)
    await make(api, namespace)
    await first.stop()
    await strip(api, namespace)
    await start_engine(MAKERS, project=BEHAVIOURS, artifacts=first.artifacts)
    await owned_again(api, namespace)


async def test_objects_of_a_cr_that_is_deleted_without_them_stay_without_an_owner(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await start_engine(MAKERS, project=BEHAVIOURS)
    before = await make(api, namespace)
    await api.delete(MAKER, namespace, "x", propagation="Orphan")
    await eventually_async(lambda: is_gone(api, MAKER, namespace, "x"), timeout_s=PATIENCE_S)
    after = await made(api, namespace)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert "ownerReferences" not in after["metadata"]
