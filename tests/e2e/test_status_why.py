"""`rolecall status KIND/NAME` explains a failure, a deletion that waits, a pause, and a stopped run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import GROUP, condition, cr, kind
from tests.e2e.test_commands import Person
from tests.e2e.test_run_reports import written_project
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

BROKEN = kind("Broken")
HANGING = kind("Hanging")
WATCHES = f"""
- {{group: {GROUP}, version: v1, kind: Hanging, role: hanging}}
- group: {GROUP}
  version: v1
  kind: Broken
  role: broken
  finalizer: {{name: {GROUP}/clean-up, vars: {{is_last: true}}}}
"""
FAILED = "task `Ask the database` (roles/broken/tasks/main.yml:1) failed: no route to host"


@pytest.fixture
async def engine(api: Client, tmp_path: Path, start_engine: StartEngine) -> EngineProcess:
    for gvk in (HANGING, BROKEN):
        await install(api, crd_for(gvk))
    return start_engine(written_project(tmp_path, WATCHES)).wait_ready()


@pytest.fixture
def person(engine: EngineProcess, cluster: Cluster, namespace: str) -> Person:
    return Person(engine, cluster.kubeconfig, namespace)


def wait_for_why(person: Person, word: str, text: str) -> str:
    """The output of `status` once it contains the text."""
    return eventually(
        lambda: person.rolecall("status", word).stdout,
        lambda said: text in said,
        timeout_s=PATIENCE_S,
        ignoring=(AssertionError,),
    )


async def test_failure_has_its_task_file_and_line_and_so_has_ready(
    api: Client, namespace: str, person: Person
) -> None:
    await api.create(BROKEN, cr(BROKEN, namespace))
    said = wait_for_why(person, "broken/x", f"why     {FAILED}")
    assert said.count("no route to host") == 1

    def ready(found: Json) -> bool:
        return condition(found, "Ready").get("status") == "False"

    found = await eventually_async(
        lambda: api.get(BROKEN, namespace, "x"), ready, timeout_s=PATIENCE_S
    )
    place = "(task `Ask the database`, roles/broken/tasks/main.yml:1, run "
    assert place in condition(found, "Ready")["message"]

    await api.delete(BROKEN, namespace, "x")
    waiting = "being deleted, waiting for the finalizer run, which failed: "
    wait_for_why(person, "broken/x", f"{waiting}{FAILED}")
    await api.merge_patch(BROKEN, namespace, "x", {"metadata": {"finalizers": []}})


async def test_pause_has_its_person_time_and_reason(
    api: Client, namespace: str, person: Person
) -> None:
    await api.create(BROKEN, cr(BROKEN, namespace))
    wait_for_why(person, "broken/x", FAILED)
    person.rolecall("pause", "broken/x", "--because", "moving the disks")
    said = wait_for_why(person, "broken/x", "paused by ")
    annotations = (await api.get(BROKEN, namespace, "x"))["metadata"]["annotations"]
    by, since = (annotations[f"rolecall.dev/paused-{name}"] for name in ("by", "since"))
    assert f"paused by {by} since {since}: moving the disks; `rolecall resume broken/x -n" in said
    found = await eventually_async(
        lambda: api.get(BROKEN, namespace, "x"),
        lambda found: condition(found, "Paused").get("status") == "True",
        timeout_s=PATIENCE_S,
    )
    assert condition(found, "Paused")["message"] == (
        f"Paused by {by} (moving the disks) since {since}:"
        " nothing runs for this object, not even its finalizer"
    )
    await api.merge_patch(BROKEN, namespace, "x", {"metadata": {"finalizers": []}})


async def test_stopped_run_names_who_stopped_it_and_what_begins_the_next(
    api: Client, namespace: str, person: Person
) -> None:
    await api.create(HANGING, cr(HANGING, namespace))
    wait_for_why(person, "hanging/x", "Wait for the database (roles/hanging/tasks/main.yml:1)")
    running = person.rolecall("status", "hanging/x").stdout
    assert f"`rolecall stop hanging/x -n {namespace}` ends this run" in running
    assert "without output, the engine stops it after 1h" in " ".join(running.split())
    person.rolecall("stop", "hanging/x")
    said = wait_for_why(person, "hanging/x", "the last run was stopped: ")
    assert f"an edit, or with `rolecall reconcile hanging/x -n {namespace}`" in said
    (found,) = json.loads(person.rolecall("status", "hanging/x", "-o", "json").stdout)["crs"]
    assert (found["state"], found["last"]["outcome"]) == ("stopped", "cancelled")
