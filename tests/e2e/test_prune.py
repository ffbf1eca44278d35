"""What a run no longer wants is deleted after it, and nothing that the next run would make again.

One run of real plays for each; tests/apiserver/engine/test_prune.py has the rest, with scripted ones.
"""

from __future__ import annotations

import pytest

from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.wanted_kinds import SHELF, WANTED, edited, events, made, names, pruned

pytestmark = pytest.mark.usefixtures("wanted")


async def test_loop_that_shrinks_takes_its_objects_along(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(WANTED).wait_ready()
    await made(api, SHELF, namespace, books=["a", "b", "c"])
    await edited(api, SHELF, namespace, word="twice")  # looked at, and not written
    await edited(api, SHELF, namespace, books=["a"])
    assert await names(api, namespace) == {"x-a"}
    assert pruned(engine) == [{"deleted": ["ConfigMap x-b", "ConfigMap x-c"]}]
    (event,) = await events(api, namespace, "Pruned")
    assert event["message"] == "No longer wanted, and deleted: ConfigMap x-b, ConfigMap x-c"
    assert engine.metric("rolecall_pruned_objects_total", result="deleted") == 2
    await edited(api, SHELF, namespace, word="a run later")
    assert "drift of" not in engine.log  # our own deletions start no run


@pytest.mark.nightly
async def test_run_that_may_not_have_come_to_its_end_deletes_nothing(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(WANTED).wait_ready()
    await made(api, SHELF, namespace, books=["a", "b"])
    for how in ("stops", "ignores", "rescues", "swallows", "again"):
        await edited(api, SHELF, namespace, **{how: True}, books=["a"])
        assert await names(api, namespace) == {"x-a", "x-b"}
        await edited(api, SHELF, namespace, **{how: False}, books=["a", "b"])
    assert [set(run) for run in pruned(engine)] == [{"held"}] * 5


@pytest.mark.nightly
async def test_condition_that_turns_false_deletes_nothing(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = start_engine(WANTED).wait_ready()
    await made(api, SHELF, namespace, books=["a", "b"])
    await edited(api, SHELF, namespace, ready=False)
    assert await names(api, namespace) == {"x-a", "x-b"}
    await edited(api, SHELF, namespace, ready=True, books=[])  # a loop without items is none
    assert await names(api, namespace) == set()
    assert [set(run) for run in pruned(engine)] == [{"kept"}, {"deleted"}]
