"""What a run no longer wants is deleted after it, and nothing that the next run would make again."""

from __future__ import annotations

import pytest

from rolecall.gvk import Gvk
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.apiserver.engine.conftest import StartEngine
from tests.apiserver.engine.reading import at_rest
from tests.apiserver.engine.shelves import SHELVES, chart, creates
from tests.e2e.kinds import CONFIG_MAP, pause
from tests.e2e.wanted_kinds import (
    CLAIM,
    HEAP,
    RACK,
    RESUMED,
    SHELF,
    add_owner,
    edited,
    events,
    failed,
    forget_inventory,
    made,
    names,
    pruned,
    settled,
)
from tests.fixtures.eventually import eventually_async

pytestmark = pytest.mark.usefixtures("wanted")
DEPLOYMENT = Gvk("apps", "v1", "Deployment")


async def test_loop_that_shrinks_takes_its_objects_along(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b", "c"])
    await edited(api, SHELF, namespace, word="twice")  # looked at, and not written
    await edited(api, SHELF, namespace, books=["a"])
    assert await names(api, namespace) == {"x-a"}
    assert pruned(engine) == [{"deleted": ["ConfigMap x-b", "ConfigMap x-c"]}]
    (event,) = await events(api, namespace, "Pruned")
    assert event["message"] == "No longer wanted, and deleted: ConfigMap x-b, ConfigMap x-c"
    assert await engine.metric("rolecall_pruned_objects_total", result="deleted") == 2
    await edited(api, SHELF, namespace, word="a run later")
    assert "drift of" not in engine.log  # our own deletions start no run


async def test_object_that_was_there_before_prune_was_asked_for_is_ours_too(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    """Its task only looks at it, and would have made it."""
    engine = await start_engine(SHELVES)
    there = await made(api, SHELF, namespace, books=["a", "b"])
    await forget_inventory(api, there)
    await engine.stop()
    await start_engine(SHELVES)
    await edited(api, SHELF, namespace, word="nothing")
    await edited(api, SHELF, namespace, books=["a"])
    assert await names(api, namespace) == {"x-a"}


@pytest.mark.parametrize("how", ["stops", "ignores", "rescues", "swallows", "again"])
async def test_run_that_may_not_have_come_to_its_end_deletes_nothing(
    api: Client, namespace: str, start_engine: StartEngine, how: str
) -> None:
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    await edited(api, SHELF, namespace, **{how: True}, books=["a"])
    assert await names(api, namespace) == {"x-a", "x-b"}
    assert [set(run) for run in pruned(engine)] == [{"held"}]
    await edited(api, SHELF, namespace, **{how: False})
    assert await names(api, namespace) == {"x-a"}


async def test_failed_run_deletes_nothing_and_what_it_made_is_not_forgotten(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    await api.merge_patch(SHELF, namespace, "x", {"spec": {"fails": True, "books": ["a", "c"]}})
    await failed(api, SHELF, namespace)
    assert await names(api, namespace) == {"x-a", "x-b", "x-c"}
    await edited(api, SHELF, namespace, fails=False, books=["a"])
    assert await names(api, namespace) == {"x-a"}


async def test_condition_that_turns_false_deletes_nothing(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    """Such as `when: db_ready`, which says nothing of what the task wants."""
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    await edited(api, SHELF, namespace, ready=False)
    assert await names(api, namespace) == {"x-a", "x-b"}
    kept = {row["why"] for row in pruned(engine)[-1]["kept"]}
    assert kept == {"a condition skipped task `make books`, or an item of it"}
    await edited(api, SHELF, namespace, ready=True, books=["a"])
    assert await names(api, namespace) == {"x-a"}


async def test_release_of_a_tool_with_its_own_state_stays(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine({"Shelf": chart})
    await made(api, SHELF, namespace, books=["a", "b"])
    for word in ("once", "twice"):
        await edited(api, SHELF, namespace, word=word)
    assert await names(api, namespace) == {"x-a", "x-b"}
    why = "`kubernetes.core.helm` of task `install` may keep state of its own; see `prune.tasks`"
    assert {row["why"] for run in pruned(engine) for row in run["kept"]} == {why}


@pytest.mark.parametrize(
    "words", ["configmap {} --from-literal=a=b", "deployment {} --image=busybox"]
)
async def test_object_that_kubectl_makes_unless_it_is_there_stays_as_long_as_it_is_wanted(
    api: Client, namespace: str, start_engine: StartEngine, cluster: Cluster, words: str
) -> None:
    """`kubectl create ... || true`: from the second run on, the create is refused with 409."""
    kind = CONFIG_MAP if words.startswith("configmap") else DEPLOYMENT
    shelf = creates(cluster.record.programs["kubectl"], words)
    await start_engine({"Shelf": shelf})
    await made(api, SHELF, namespace, books=["a", "b"])
    first = {each["metadata"]["uid"] for each in await api.list_all(kind, namespace)}
    for word in ("once", "twice"):
        await edited(api, SHELF, namespace, word=word)
        found = {each["metadata"]["uid"] for each in await api.list_all(kind, namespace)}
        assert found == first
    await edited(api, SHELF, namespace, books=["a"])
    assert await names(api, namespace, kind) == {"x-a"}


async def test_claim_that_is_no_longer_wanted_stays_unless_the_watch_names_its_kind(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(SHELVES)
    for kind in (SHELF, RACK):
        name = kind.kind.lower()
        await made(api, kind, namespace, name, claim=True)
        await edited(api, kind, namespace, name, claim=False)
    await eventually_async(
        lambda: names(api, namespace, CLAIM), lambda found: found == {"shelf-claim"}
    )
    why = "`prune` does not name kind PersistentVolumeClaim"
    kept = {"kept": [{"object": "PersistentVolumeClaim shelf-claim", "why": why}]}
    assert kept in pruned(engine)


async def test_annotated_or_read_or_listed_object_stays(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    stays = {"metadata": {"annotations": {"rolecall.dev/prune": "false"}}}
    await api.merge_patch(CONFIG_MAP, namespace, "x-a", stays)
    await edited(api, SHELF, namespace, books=[], reads=["b"])
    assert await names(api, namespace) == {"x-a", "x-b"}
    await edited(api, SHELF, namespace, lists=True, reads=[])
    assert await names(api, namespace) == {"x-a", "x-b"}
    reasons = {row["why"] for run in pruned(engine) for row in run["kept"]}
    assert reasons == {
        "annotation `rolecall.dev/prune: false`",
        "the run saw it in a list of configmaps",
    }
    await edited(api, SHELF, namespace, lists=False)
    assert await names(api, namespace) == {"x-a"}


async def test_object_that_another_client_took_over_or_made_anew_stays(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await start_engine(SHELVES)
    await made(api, SHELF, namespace, books=["a", "b"])
    taken = {"metadata": {"ownerReferences": None}}
    await api.merge_patch(CONFIG_MAP, namespace, "x-a", taken)
    owned = (await api.get(CONFIG_MAP, namespace, "x-b"))["metadata"]["ownerReferences"]
    await pause(api, SHELF, namespace, "x")
    await api.delete(CONFIG_MAP, namespace, "x-b")
    metadata = {"name": "x-b", "namespace": namespace, "ownerReferences": owned}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    await api.create(CONFIG_MAP, body)
    await api.merge_patch(
        SHELF, namespace, "x", {"spec": {"books": []}, "metadata": {"annotations": RESUMED}}
    )
    await settled(api, SHELF, namespace)
    assert await names(api, namespace) == {"x-a", "x-b"}


async def test_object_of_two_is_deleted_with_the_last_one_that_wants_it(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    """Only the one that made it owns it; the other one is of a kind that prunes nothing."""
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, "one", common=["both"])
    await made(api, HEAP, namespace, "other", common=["both"])
    await edited(api, SHELF, namespace, "one", common=[])
    assert await names(api, namespace) == {"both"}
    assert pruned(engine)[-1]["kept"][0]["why"] == f"Heap {namespace}/other wants it"
    await engine.stop()
    await start_engine(SHELVES)
    await edited(api, SHELF, namespace, "one", word="looked at once more")
    assert await names(api, namespace) == {"both"}
    await edited(api, HEAP, namespace, "other", common=[])
    await edited(api, SHELF, namespace, "one", word="and again")
    assert await names(api, namespace) == set()


async def test_object_with_two_owners_is_given_up_by_the_first(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine(SHELVES)
    await made(api, SHELF, namespace, "one", common=["both"])
    other = await made(api, SHELF, namespace, "other", common=["both"])
    await add_owner(api, namespace, "both", other)
    # It sees that it owns it. Another word would make the two write the object in turns.
    await edited(api, SHELF, namespace, "other", books=["own"])
    await at_rest(engine)  # a run in flight for the new owner wants the object
    await edited(api, SHELF, namespace, "one", common=[])
    left = (await api.get(CONFIG_MAP, namespace, "both"))["metadata"]["ownerReferences"]
    assert [row["name"] for row in left] == ["other"]
    await edited(api, SHELF, namespace, "other", common=[], books=[])
    assert await names(api, namespace) == set()
