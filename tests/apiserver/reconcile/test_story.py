"""Whole turns against the real API server: what users see in status, and that no write is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rolecall.clock import SystemClock
from rolecall.gvk import Gvk
from rolecall.kube import Client, Credentials, NotFoundError
from rolecall.reconcile import Outcome
from rolecall.reconcile.finalizers import Finalizers
from rolecall.runner import RunRequest
from rolecall.status import ObjectWriter
from tests.apiserver.reconcile.crds import PRUNING, STATUSLESS, STORY, STRICT
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async
from tests.unit.reconcile.cluster_contract import FINALIZER, Shop
from tests.unit.reconcile.scripted import BAD, GOOD, watch_of
from tests.unit.reconcile.setting import Setting

FOREIGN = "other.example.com/hold"


def setting_of(client: Client, gvk: Gvk, namespace: str) -> Setting:
    return Setting(Shop(client, gvk, namespace), watch_of(gvk), SystemClock())


@pytest.mark.fast
async def test_first_success_reads_as_the_go_operators(setting: Setting) -> None:
    await setting.shop.create()

    outcome = await setting.turn()

    assert not outcome.is_error
    conditions = (await setting.shop.get())["status"]["conditions"]
    texts = [(item["type"], item["status"], item["reason"], item["message"]) for item in conditions]
    assert texts == [
        ("Ready", "True", "RunSucceeded", "Last reconciliation succeeded"),
        ("Running", "True", "Successful", "Awaiting next reconciliation"),
        ("Successful", "True", "Successful", "Last reconciliation succeeded"),
        ("Failure", "False", "", ""),
    ]
    assert conditions[1]["ansibleResult"]["ok"] == 3


@pytest.mark.fast
async def test_failure_and_recovery_read_right(setting: Setting) -> None:
    await setting.shop.create()
    setting.runner.will(BAD, GOOD)

    assert (await setting.turn()).is_error
    assert (await setting.reported("Failure"))[2].startswith("disk full (task `apply | claim`")
    await setting.turn()

    assert (await setting.reported("Failure"))[0] == "False"
    assert setting.events.reasons == ["Failed", "Recovered"]


async def test_ready_of_a_role_does_not_outlive_a_failed_run_and_its_bad_news_do(
    setting: Setting,
) -> None:
    """A run that ends before its first task leaves the role no chance to take its word back."""
    await setting.shop.create()

    def role_says(status: str, reason: str) -> Any:
        said = {"type": "Ready", "status": status, "reason": reason, "message": "its own words"}
        said["lastTransitionTime"] = "2026-11-21T08:00:00Z"

        async def say(_: RunRequest) -> None:
            conditions = (await setting.shop.get())["status"]["conditions"]
            others = [each for each in conditions if each["type"] != "Ready"]
            patch = {"status": {"conditions": [*others, said]}}
            await setting.shop.patch(patch, subresource="status")

        return say

    good, bad = role_says("True", "Available"), role_says("False", "Retrying")
    setting.runner.will(good, BAD, good, bad, BAD)
    await setting.turn()
    assert (await setting.reported("Ready"))[:2] == ("True", "Available")
    await setting.turn()
    status, reason, message = await setting.reported("Ready")
    assert (status, reason) == ("False", "RunFailed")
    assert message.startswith("disk full (task `apply | claim`")
    await setting.turn()
    assert (await setting.reported("Ready"))[:2] == ("True", "Available")

    await setting.turn()
    await setting.turn()
    assert await setting.reported("Ready") == ("False", "Retrying", "its own words")


@pytest.mark.fast
async def test_status_is_about_the_generation_that_ran(setting: Setting) -> None:
    await setting.shop.create()

    async def user_edits(_: RunRequest) -> None:
        await setting.shop.patch({"spec": {"size": 2}})

    setting.runner.will(user_edits, GOOD)
    await setting.turn()
    assert (await setting.shop.get())["status"]["observedGeneration"] == 1
    assert (await setting.reported("Ready"))[0] == "Unknown"
    await setting.turn()

    assert (await setting.shop.get())["status"]["observedGeneration"] == 2
    assert (await setting.reported("Ready"))[0] == "True"


async def test_no_status_is_lost_in_a_storm_of_writes(setting: Setting) -> None:
    """A role's side-car counts in status, as fast as it can, all through the turn."""
    await setting.shop.create()
    stop = asyncio.Event()
    written = 0

    async def side_car() -> None:
        nonlocal written
        while not stop.is_set():
            await setting.shop.patch({"status": {"ticks": written + 1}}, subresource="status")
            written += 1

    async def ten_ticks(_: RunRequest) -> None:
        target = written + 10
        await eventually_async(lambda: written, lambda count: count >= target)

    setting.runner.will(ten_ticks)
    storm = asyncio.create_task(side_car())
    try:
        outcome = await setting.turn()
    finally:
        stop.set()
        await storm

    assert not outcome.is_error
    status = (await setting.shop.get())["status"]
    assert status["ticks"] == written
    assert (await setting.reported("Successful"))[0] == "True"


async def test_right_to_update_alone_is_enough_to_report_and_to_hold(
    client: Client, namespace: str, service_account_kubeconfig: ServiceAccountKubeconfig
) -> None:
    """As a ClusterRole for the Go operator may have it, which never patches."""
    mine = {"apiGroups": [STORY.group], "verbs": ["get", "update", "create", "delete"]}
    kubeconfig = service_account_kubeconfig([{**mine, "resources": ["storys", "storys/status"]}])
    async with Client(Credentials.load({"KUBECONFIG": str(kubeconfig)})) as limited:
        watch = watch_of(STORY, with_finalizer=True)
        setting = Setting(Shop(limited, STORY, namespace), watch, SystemClock())
        await setting.shop.create()

        assert not (await setting.turn()).is_error
        assert (await setting.reported("Successful"))[0] == "True"
        assert (await setting.shop.get())["metadata"]["finalizers"] == [FINALIZER]
        await setting.shop.delete()
        await setting.turn()

    with pytest.raises(NotFoundError):
        await client.get(STORY, namespace, "a")


async def test_finalizer_survives_a_storm_of_foreign_finalizers(holding_setting: Setting) -> None:
    setting = holding_setting
    await setting.shop.create()

    async def meddle() -> None:
        for number in range(15):
            present = (await setting.shop.get())["metadata"]
            others = [name for name in present.get("finalizers", []) if name != FOREIGN]
            wanted = others if number % 2 else [*others, FOREIGN]
            patch = {"finalizers": wanted, "resourceVersion": present["resourceVersion"]}
            try:
                await setting.shop.patch({"metadata": patch})
            except Exception as error:
                assert type(error).__name__ == "ConflictError"

    meddling = asyncio.create_task(meddle())
    outcome = await setting.turn()
    await meddling

    assert not outcome.is_error
    assert FINALIZER in (await setting.shop.get())["metadata"]["finalizers"]


async def test_write_after_another_client_is_noted_with_the_version_before_it(
    client: Client, namespace: str
) -> None:
    """Of a kind without generation, whose every version counts."""
    gvk = Gvk("", "v1", "ConfigMap")
    metadata = {"name": "a", "namespace": namespace}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    stale = await client.create(gvk, body)
    theirs = await client.merge_patch(gvk, namespace, "a", {"data": {"theirs": "1"}})
    notes: list[tuple[str, str, str]] = []
    objects = ObjectWriter(client, SystemClock(), lambda *note: notes.append(note))

    held = await Finalizers(objects).ensure(watch_of(gvk, with_finalizer=True), stale)

    uid, before = theirs["metadata"]["uid"], theirs["metadata"]["resourceVersion"]
    assert notes == [(uid, held["metadata"]["resourceVersion"], before)]
    assert held["data"] == {"theirs": "1"}


@pytest.mark.fast
async def test_object_deleted_during_its_run_gets_its_finalizer_run_and_goes(
    holding_setting: Setting,
) -> None:
    setting = holding_setting
    await setting.shop.create()

    async def user_deletes(_: RunRequest) -> None:
        await setting.shop.delete()

    setting.runner.will(user_deletes, BAD, GOOD)
    assert (await setting.turn()).after_s == 5.0
    assert (await setting.turn()).is_error
    assert (await setting.shop.get())["metadata"]["finalizers"] == [FINALIZER]
    await setting.turn()

    with pytest.raises(NotFoundError):
        await setting.shop.get()
    assert [request.is_finalizer for request in setting.runner.requests] == [False, True, True]
    assert await setting.turn() == Outcome(forget=True)


@pytest.mark.parametrize("result", [GOOD, BAD])
async def test_object_that_took_the_name_during_a_run_gets_no_status(
    setting: Setting, result: Any
) -> None:
    await setting.shop.create()

    async def user_replaces(_: RunRequest) -> Any:
        await setting.shop.delete()
        await setting.shop.create()
        return result

    setting.runner.will(user_replaces, GOOD)

    assert (await setting.turn()).after_s == 0.0
    assert "status" not in await setting.shop.get()


async def test_crd_that_prunes_is_served_and_not_rewritten_for_ever(
    client: Client, namespace: str
) -> None:
    setting = setting_of(client, PRUNING, namespace)
    await setting.shop.create()
    for _ in range(2):
        await setting.turn()

    running = await setting.condition("Running")
    assert running is not None
    assert running["reason"] == "Successful"
    assert "ansibleResult" not in running
    assert (await setting.reported("Ready"))[0] == "True"


async def test_kind_without_status_subresource_runs_nothing_and_says_why(
    client: Client, namespace: str
) -> None:
    setting = setting_of(client, STATUSLESS, namespace)
    await setting.shop.create()

    outcome = await setting.turn()

    assert "no status subresource" in outcome.error
    assert setting.runner.requests == []
    assert setting.events.reasons == ["StatusNotWritten"]


async def test_schema_that_refuses_our_conditions_is_an_error_that_is_reported(
    client: Client, namespace: str
) -> None:
    setting = setting_of(client, STRICT, namespace)
    await setting.shop.create()

    outcome = await setting.turn()

    assert "reason" in outcome.error
    assert "StatusNotWritten" in setting.events.reasons
