"""Pruning over restarts, kills and missing rights: nothing is lost for ever, nothing goes wrongly."""

from __future__ import annotations

import random

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.shelves import SHELVES
from tests.e2e.engine import PATIENCE_S
from tests.e2e.kinds import cr, is_gone
from tests.e2e.wanted_kinds import (
    CLAIM,
    RACK,
    SHELF,
    edited,
    events,
    failed,
    inventories,
    made,
    names,
    settled,
)
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async

pytestmark = pytest.mark.usefixtures("wanted")
ROLE = Gvk("rbac.authorization.k8s.io", "v1", "Role")
_VERBS = ["get", "list", "watch", "create", "patch", "update"]
RULES = [
    {"apiGroups": ["wanted.rolecall.dev"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["configmaps", "persistentvolumeclaims"], "verbs": _VERBS},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
]
IN_NAMESPACE = "--leader-election-namespace"


async def test_edit_while_no_engine_runs_is_pruned_after_the_first_run(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    await engine.stop()
    await api.merge_patch(SHELF, namespace, "x", {"spec": {"books": ["renamed"]}})
    await start_engine(SHELVES)
    await settled(api, SHELF, namespace)
    assert await names(api, namespace) == {"x-renamed"}


async def test_refused_deletion_is_reported_and_retried_once_the_right_is_granted(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    """A restart lies between: what was to be deleted is remembered."""
    access = service_account_kubeconfig(RULES)
    flags = (f"{IN_NAMESPACE}={namespace}",)
    engine = await start_engine(SHELVES, *flags, kubeconfig=access)
    await made(api, SHELF, namespace, books=["a", "b"])
    found = await edited(api, SHELF, namespace, books=["a"])
    assert await names(api, namespace) == {"x-a", "x-b"}
    rule = '{apiGroups: [""], resources: [configmaps], verbs: [delete]}'
    (event,) = await eventually_async(lambda: events(api, namespace, "PruneRefused"))
    assert rule in event["message"]
    assert event["involvedObject"]["uid"] == found["metadata"]["uid"]
    assert await engine.runs(result="failed") == 0
    await engine.abort()
    granted = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]}
    await api.merge_patch(ROLE, namespace, "engine", {"rules": [*RULES, granted]})
    await start_engine(SHELVES, *flags, kubeconfig=access)
    await eventually_async(
        lambda: names(api, namespace), lambda there: there == {"x-a"}, timeout_s=PATIENCE_S
    )


async def test_nothing_is_pruned_where_runs_do_a_part(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    await engine.stop()
    engine = await start_engine(SHELVES, "--ansible-args=--skip-tags never-used")
    await edited(api, SHELF, namespace, books=["a"])
    assert await names(api, namespace) == {"x-a", "x-b"}
    assert engine.log.count("nothing will be pruned") == 1
    assert "`--skip-tags` makes runs do a part of what they do" in engine.log


async def test_inventory_goes_with_its_cr_also_while_no_engine_runs(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(SHELVES)
    first = await made(api, SHELF, namespace, "first", books=["a"])
    second = await made(api, SHELF, namespace, "second", books=["a"])
    assert len(await inventories(api, first)) == 1
    await api.delete(SHELF, namespace, "first")
    await eventually_async(lambda: inventories(api, first), lambda found: found == [])
    await engine.stop()
    await api.delete(SHELF, namespace, "second")
    await start_engine(SHELVES)
    await eventually_async(lambda: inventories(api, second), lambda found: found == [])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
async def test_world_is_what_the_last_good_run_wants(
    api: Client, namespace: str, start_engine: StartEngine, seed: int
) -> None:
    """Random edits, some of which fail or stop early; a run more changes nothing."""
    chance = random.Random(seed)
    engine = await start_engine(SHELVES)
    await api.create(RACK, cr(RACK, namespace))
    for _ in range(8):
        books = chance.sample("abcdef", chance.randrange(5))
        bad = chance.choice(["fails", "ignores", "stops", "", "", ""])
        spec = {"fails": False, "ignores": False, "stops": False, "books": books}
        claim = chance.choice([True, False])
        if bad:
            spec |= {bad: True}
            await api.merge_patch(RACK, namespace, "x", {"spec": spec})
            await (failed if bad == "fails" else settled)(api, RACK, namespace)
            spec |= {bad: False}
        await edited(api, RACK, namespace, **spec, claim=claim)
        kept = {f"x-{book}" for book in books}
        # Deleted in the foreground: the garbage collector takes it a moment later.
        await eventually_async(lambda: names(api, namespace), kept.__eq__)
        if not claim:
            await eventually_async(lambda: is_gone(api, CLAIM, namespace, "x-claim"))
    versions = {it["metadata"]["uid"] for it in await api.list_all(CLAIM, namespace)}
    await edited(api, RACK, namespace, word="once more")
    after = {it["metadata"]["uid"] for it in await api.list_all(CLAIM, namespace)}
    assert after == versions
    assert await engine.metric("rolecall_pruned_objects_total", result="failed") == 0
