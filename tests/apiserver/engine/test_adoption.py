"""Objects without an owner that a role writes, as an operator meets them."""

from __future__ import annotations

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.shelves import MAKERS
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually_async

MAKER = kind("Maker")
EVENT = Gvk("", "v1", "Event")


async def made_before(api: Client, namespace: str) -> Json:
    """The object, then the CR whose role writes it; returns the CR."""
    await install(api, crd_for(MAKER))
    body = {"metadata": {"name": "x-made", "namespace": namespace}, "data": {"word": "old"}}
    await api.create(CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", **body})
    return await api.create(MAKER, cr(MAKER, namespace, word="new"))


async def is_reconciled(api: Client, namespace: str) -> None:
    await eventually_async(
        lambda: api.get(MAKER, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )


async def events_of(api: Client, namespace: str, reason: str) -> list[Json]:
    found = await api.list_all(EVENT, namespace)
    return [event for event in found if event["reason"] == reason]


async def test_event_names_objects_without_an_owner(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    there = await made_before(api, namespace)
    await start_engine(MAKERS, project=BEHAVIOURS)
    await is_reconciled(api, namespace)
    (event,) = await eventually_async(
        lambda: events_of(api, namespace, "NotOwned"), timeout_s=PATIENCE_S
    )
    assert event["type"] == "Warning"
    assert event["involvedObject"]["uid"] == there["metadata"]["uid"]
    assert "ConfigMap x-made" in event["message"]
    made = await api.get(CONFIG_MAP, namespace, "x-made")
    assert made["data"] == {"word": "new"}
    assert "ownerReferences" not in made["metadata"]


async def test_adopted_object_is_followed_like_any_other(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    there = await made_before(api, namespace)
    await start_engine(MAKERS, "--adopt", project=BEHAVIOURS)
    await is_reconciled(api, namespace)
    made = await api.get(CONFIG_MAP, namespace, "x-made")
    assert [row["uid"] for row in made["metadata"]["ownerReferences"]] == [there["metadata"]["uid"]]
    await api.merge_patch(CONFIG_MAP, namespace, "x-made", {"data": {"word": "drifted"}})

    async def is_mended() -> bool:
        now = await api.get(CONFIG_MAP, namespace, "x-made")
        return bool(now["data"] == {"word": "new"})

    await eventually_async(is_mended, timeout_s=PATIENCE_S)
    assert await events_of(api, namespace, "NotOwned") == []
