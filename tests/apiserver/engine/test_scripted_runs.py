"""An engine in the test's process runs scripted plays as it runs real ones."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from rolecall_dev.testing import EngineInProcess, ScriptedPlay, ScriptedRun, eventually_async
from tests.apiserver.engine.conftest import StartEngine
from tests.e2e.kinds import CONFIG_MAP, condition, cr
from tests.e2e.wanted_kinds import HEAP, SHELF, WANTED, edited, failed, made, names, settled

pytestmark = pytest.mark.usefixtures("wanted")


def config_map(run: ScriptedRun, name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": run.namespace},
        "data": {"word": run.spec.get("word", "nothing")},
    }


async def books(run: ScriptedRun) -> None:
    async with run.task("list what is there", module="kubernetes.core.k8s_info") as task:
        await task.list("v1", "Secret", labels="app=x")
    async with run.task("make books") as task:
        for name in run.spec.get("books", []):
            await task.present(config_map(run, f"{run.name}-{name}"))


@pytest.mark.fast
async def test_scripted_run_is_recorded_by_task_and_shown_by_commands(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine({"Heap": books})
    made_cr = await made(api, HEAP, namespace, books=["a"])
    owners = (await api.get(CONFIG_MAP, namespace, "x-a"))["metadata"]["ownerReferences"]
    assert [row["uid"] for row in owners] == [made_cr["metadata"]["uid"]]
    (run,) = engine.plays.runs
    record = json.loads((run.artifacts / "record.json").read_text())
    asked = [
        (record["tasks"][row["task"]]["name"], row["verb"], row["resource"])
        for row in record["requests"]
        if row.get("resource")
    ]
    assert asked == [
        ("list what is there", "list", "secrets"),
        ("make books", "get", "configmaps"),
        ("make books", "create", "configmaps"),
    ]
    (on_disk,) = engine.runs_on_disk()
    assert [text.partition(": ")[2] for text in on_disk["changed_tasks"]] == ["make books"]
    assert "succeeded" in await engine.command("runs", "-n", namespace, "heap/x")
    await eventually_async(lambda: engine.runs("Heap"), lambda count: count == 1)


async def test_scripted_run_gets_the_variables_of_a_role(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    engine = await start_engine({"Heap": lambda run: None})
    await made(api, HEAP, namespace, someWord="x")
    variables = engine.plays.runs[0].variables
    assert variables["some_word"] == "x"
    assert variables["ansible_operator_meta"] == {"namespace": namespace, "name": "x"}


async def test_failures_of_a_script_are_judged_as_those_of_a_play(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    async def fails(run: ScriptedRun) -> None:
        for how in ({"ignore_errors": True}, {"rescued": True}):
            async with run.task("go on", module="ansible.builtin.fail", **how) as task:
                task.fail("not this one")
        async with run.task("write where it must not") as task:
            if run.spec.get("fails"):
                await task.present({**config_map(run, "No Name")})
        await run.requeue_after("1h")

    engine = await start_engine({"Heap": fails})
    await api.create(HEAP, cr(HEAP, namespace, fails=True))
    found = await failed(api, HEAP, namespace)
    text = json.dumps(found["status"])
    assert "write where it must not" in text and "not this one" not in text
    await edited(api, HEAP, namespace, fails=False)
    assert [run["outcome"] for run in engine.runs_on_disk()][-1] == "succeeded"
    await eventually_async(lambda: "next_in_s=3600" in engine.log)


async def test_time_limit_ends_a_script_in_its_task(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    async def waits(run: ScriptedRun) -> None:
        async with run.task("wait for ever"):
            await asyncio.Event().wait()

    engine = await start_engine({"Heap": waits}, "--run-timeout=100ms")
    await api.create(HEAP, cr(HEAP, namespace))
    found = await failed(api, HEAP, namespace)
    assert "longer than 0.1 s in task `wait for ever`" in json.dumps(found["status"])
    assert engine.runs_on_disk()[0]["ending"] == "TimedOut"


@pytest.mark.fast
async def test_restarted_engine_finds_the_runs_of_the_one_before(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    plays = ScriptedPlay({"Shelf": books})
    kept = {"artifacts": tmp_path / "a"}
    first = await start_engine(plays, **kept)
    await made(api, SHELF, namespace, books=["a", "b"])
    await first.stop()
    second = await start_engine(plays, **kept)
    await edited(api, SHELF, namespace, books=["a"])
    assert await names(api, namespace) == {"x-a"}
    assert len(second.runs_on_disk()) >= 2
    ran = len(plays.runs) - 1
    await eventually_async(lambda: second.runs("Shelf"), lambda count: count == ran)


async def test_engines_side_by_side_have_logs_of_their_own(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    """The second one may not lead while the first one does."""
    plays = ScriptedPlay({"Heap": books})
    flags = ("--leader-elect", "--leader-election-id=x", f"--leader-election-namespace={namespace}")
    first = await start_engine(plays, *flags)
    second = await start_engine(plays, *flags)
    await made(api, HEAP, namespace)
    # Status is written before the log says so.
    await eventually_async(lambda: "run finished" in first.log)
    assert "run finished" not in second.log
    await first.stop()
    await edited(api, HEAP, namespace, word="the other one")
    await eventually_async(lambda: "run finished" in second.log)


async def test_bug_of_a_script_fails_the_run_and_the_test(
    api: Client, cluster: Cluster, namespace: str
) -> None:
    async def broken(run: ScriptedRun) -> None:
        raise ZeroDivisionError

    engine = EngineInProcess(
        WANTED,
        ScriptedPlay({"Heap": broken}),
        kubeconfig=cluster.kubeconfig,
        environment={"WATCH_NAMESPACE": namespace},
    )
    try:
        await engine.start()
        await api.create(HEAP, cr(HEAP, namespace))
        await failed(api, HEAP, namespace)
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            await engine.stop()
    finally:
        await engine.clean_up()


async def test_deleted_cr_has_a_run_of_its_finalizer(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    (tmp_path / "roles" / "heap" / "tasks").mkdir(parents=True)
    (tmp_path / "watches.yaml").write_text(
        "- {group: wanted.rolecall.dev, version: v1, kind: Heap, role: heap,\n"
        "   finalizer: {name: wanted.rolecall.dev/f, role: heap}}\n"
    )
    engine = await start_engine({"Heap": books}, project=tmp_path)
    await made(api, HEAP, namespace, books=["a"])
    await api.delete(HEAP, namespace, "x")
    await eventually_async(lambda: len(engine.plays.runs) == 2)
    assert [run.is_finalizer for run in engine.plays.runs] == [False, True]


async def test_run_is_cancelled_when_the_engine_stops(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    has_begun, was_cancelled = asyncio.Event(), asyncio.Event()

    async def waits(run: ScriptedRun) -> None:
        async with run.task("wait"):
            has_begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                was_cancelled.set()

    engine = await start_engine({"Heap": waits}, "--graceful-shutdown-timeout=0s")
    await api.create(HEAP, cr(HEAP, namespace))
    await has_begun.wait()
    await engine.stop()
    assert was_cancelled.is_set()
    assert engine.runs_on_disk()[0]["outcome"] == "cancelled"


async def test_runs_that_wait_are_cancelled_with_the_engine_and_made_by_the_next_one(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    waiting: list[str] = []
    is_open = False

    async def waits(run: ScriptedRun) -> None:
        async with run.task("wait for what is outside"), run.waiting():
            waiting.append(run.name)
            if not is_open:
                await asyncio.Event().wait()
        await books(run)

    plays, kept = ScriptedPlay({"Heap": waits}), {"artifacts": tmp_path / "a"}
    flags = ("--max-runs=1", "--graceful-shutdown-timeout=0s")
    first = await start_engine(plays, *flags, **kept)
    names_of_crs = ["a", "b", "c"]
    for name in names_of_crs:
        await api.create(HEAP, cr(HEAP, namespace, name, books=["made"]))
    await eventually_async(lambda: first.metric("rolecall_waiting_runs"), lambda count: count == 3)
    await first.stop()
    assert sorted(waiting) == names_of_crs
    assert [run["outcome"] for run in first.runs_on_disk()] == ["cancelled"] * 3
    for name in names_of_crs:
        running = condition(await api.get(HEAP, namespace, name), "Running")
        assert (running["status"], running["reason"]) == ("False", "Cancelled")
    assert await names(api, namespace) == set()
    is_open = True
    second = await start_engine(plays, *flags, **kept)
    for name in names_of_crs:
        await settled(api, HEAP, namespace, name)
    assert await names(api, namespace) == {f"{name}-made" for name in names_of_crs}
    outcomes = [run["outcome"] for run in second.runs_on_disk()]
    assert sorted(outcomes) == ["cancelled"] * 3 + ["succeeded"] * 3


async def test_unchanged_cr_of_a_pure_script_is_skipped(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    """A script that uses something impure is run again; see `run.be_impure`."""
    (tmp_path / "roles" / "heap" / "tasks").mkdir(parents=True)
    (tmp_path / "watches.yaml").write_text(
        "- {group: wanted.rolecall.dev, version: v1, kind: Heap, role: heap, skipUnchanged: true}\n"
    )
    plays = ScriptedPlay({"Heap": books})
    kept = {"artifacts": tmp_path / "a", "project": tmp_path}
    first = await start_engine(plays, **kept)
    await made(api, HEAP, namespace, books=["a"])
    await edited(api, HEAP, namespace, unused="changes nothing")
    await first.stop()
    second = await start_engine(plays, **kept)
    await eventually_async(
        lambda: second.metric("rolecall_runs_skipped_total"), lambda count: count == 1
    )
    assert len(plays.runs) == 2
    assert (await settled(api, HEAP, namespace))["metadata"]["generation"] == 2
