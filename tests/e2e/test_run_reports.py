"""What users see of a run: while it is in flight, when it fails, and when a deletion waits."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, EngineProcess
from tests.e2e.kinds import GROUP, condition, cr, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

HANGING = kind("Hanging")
BROKEN = kind("Broken")
EVENT = Gvk("", "v1", "Event")
FINALIZER = f"{GROUP}/clean-up"
WATCHES = f"""
- {{group: {GROUP}, version: v1, kind: Hanging, role: hanging, noProgressTimeout: 20s}}
- group: {GROUP}
  version: v1
  kind: Broken
  role: broken
  finalizer: {{name: {FINALIZER}, vars: {{is_last: true}}}}
"""
ROLES = {
    "hanging": "- name: Wait for the database\n  ansible.builtin.command: sleep 600\n",
    "broken": "- name: Ask the database\n  ansible.builtin.fail:\n    msg: no route to host\n",
}
HANGS_AT = "in task `Wait for the database` (roles/hanging/tasks/main.yml:1)"
WAITING = "Running task `Wait for the database` (roles/hanging/tasks/main.yml:1) since "


def written_project(parent: Path, watches: str) -> Path:
    """A project whose roles hang and fail."""
    folder = parent / "project"
    for role, tasks in ROLES.items():
        (folder / "roles" / role / "tasks").mkdir(parents=True)
        (folder / "roles" / role / "tasks" / "main.yml").write_text(tasks)
    (folder / "watches.yaml").write_text(watches)
    return folder


@pytest.fixture
async def project(api: Client, tmp_path: Path) -> Path:
    for gvk in (HANGING, BROKEN):
        await install(api, crd_for(gvk))
    return written_project(tmp_path, WATCHES)


async def events_of(api: Client, namespace: str, reason: str) -> list[str]:
    listed = await api.list_all(EVENT, namespace)
    return [event["message"] for event in listed if event["reason"] == reason]


def starts(engine: EngineProcess) -> list[datetime]:
    lines = [line for line in engine.log.splitlines() if " run started " in line]
    return [datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S") for line in lines]


async def running_of(api: Client, namespace: str) -> Json:
    return condition(await api.get(HANGING, namespace, "x"), "Running")


@pytest.mark.nightly
async def test_role_that_hangs_is_named_while_it_runs_and_when_it_is_stopped(
    api: Client, namespace: str, start_engine: StartEngine, project: Path
) -> None:
    engine = start_engine(project).wait_ready()
    await api.create(HANGING, cr(HANGING, namespace))
    at_start = await eventually_async(lambda: running_of(api, namespace), timeout_s=PATIENCE_S)
    assert at_start["message"] == "Running reconciliation"

    in_flight = await eventually_async(
        lambda: running_of(api, namespace),
        lambda running: running["message"] != "Running reconciliation",
        timeout_s=PATIENCE_S,
    )
    assert in_flight["message"].startswith(WAITING)
    kept = ("status", "reason", "lastTransitionTime")
    assert [in_flight[each] for each in kept] == [at_start[each] for each in kept]
    assert len(starts(engine)) == 1  # what was written of the run brought no other

    failure = await eventually_async(
        lambda: api.get(HANGING, namespace, "x"),
        lambda cr: condition(cr, "Failure").get("reason") == "NoProgress",
        timeout_s=2 * PATIENCE_S,
    )
    message = condition(failure, "Failure")["message"]
    assert message.startswith(f"no output for 20 s {HANGS_AT}; stopped (begun at ")


@pytest.mark.nightly
async def test_event_names_a_task_that_prints_nothing_for_a_minute(
    api: Client, namespace: str, start_engine: StartEngine, project: Path
) -> None:
    watches = project / "watches.yaml"
    watches.write_text(watches.read_text().replace("20s", "5m"))
    engine = start_engine(project).wait_ready()
    await api.create(HANGING, cr(HANGING, namespace))
    events = await eventually_async(
        lambda: events_of(api, namespace, "NoOutput"), timeout_s=2 * PATIENCE_S
    )
    assert events == [f"No output for a minute {HANGS_AT}; the run goes on"]
    assert len(starts(engine)) == 1


async def test_broken_role_is_reported_in_one_line_and_is_no_storm_and_holds_its_deletion(
    api: Client, namespace: str, start_engine: StartEngine, project: Path
) -> None:
    engine = start_engine(project).wait_ready()
    await api.create(BROKEN, cr(BROKEN, namespace))
    eventually(lambda: len(starts(engine)) >= 4, timeout_s=2 * PATIENCE_S)

    first = starts(engine)[0]
    soon = [each for each in starts(engine) if each - first < timedelta(seconds=6)]
    assert len(soon) <= 3  # the fourth comes after 1 s, 2 s and 4 s
    errors = [line for line in engine.log.splitlines() if " error " in line]
    assert " run failed " in errors[0]
    for part in (
        'task="Ask the database"',
        "place=roles/broken/tasks/main.yml:1",
        'error="no route to host"',
        "next_in_s=1.0",
        "cause=",
    ):
        assert part in errors[0]

    await api.delete(BROKEN, namespace, "x")
    (said,) = await eventually_async(
        lambda: events_of(api, namespace, "DeletionWaits"), timeout_s=PATIENCE_S
    )
    assert said.startswith("Deletion waits for the finalizer run, which failed: no route to host")
    held = await eventually_async(
        lambda: api.get(BROKEN, namespace, "x"),
        lambda cr: "deletion waits" in condition(cr, "Failure")["message"],
        timeout_s=PATIENCE_S,
    )
    assert condition(held, "Ready")["message"].startswith("Deletion waits for the finalizer run")
    await api.merge_patch(BROKEN, namespace, "x", {"metadata": {"finalizers": []}})
