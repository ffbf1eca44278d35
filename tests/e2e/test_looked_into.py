"""A running engine is looked into: what it says of itself, what it is asked, what its runs left."""

from __future__ import annotations

import shutil
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rolecall.history import RUN_FILE, KeptRun, kept_crs, roots_of
from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall.local_engine import LocalEngine, engines_of
from rolecall_dev.localcluster import Cluster
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually, eventually_async

PLAIN, SLOW = kind("Plain"), kind("Slow")
MENDED = BEHAVIOURS / "roles" / "plain" / "tasks" / "main.yml"
BROKEN = "---\n- name: fail for a reason\n  ansible.builtin.fail:\n    msg: the oven is cold\n"
# After so many failures the next try is farther away than any test waits.
RETRIES = 4


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The behaviours, of which nothing works in `plain`."""
    folder = tmp_path / "project"
    shutil.copytree(BEHAVIOURS, folder)
    role_of(folder).write_text(BROKEN)
    return folder


def role_of(project: Path) -> Path:
    return project / "roles" / "plain" / "tasks" / "main.yml"


def engine_of(engine: EngineProcess) -> LocalEngine:
    """The one that answers for this process."""
    found = eventually(lambda: engines_of(roots_of(engine.artifacts)), timeout_s=PATIENCE_S)
    return next(each for each, state in found if state["engine"]["pid"] == engine.process.pid)


def reported(engine: EngineProcess, name: str = "x") -> dict[str, Any]:
    """What an engine says of one CR."""
    state = engine_of(engine).state()
    return next(cr for cr in state["crs"] if cr["name"] == name)


def runs(artifacts: Path) -> list[KeptRun]:
    return [
        run
        for root in roots_of(artifacts)
        for cr in kept_crs(root, namespace=None, name="x")
        for run in cr.runs()
    ]


async def backs_off(engine: EngineProcess) -> dict[str, Any]:
    """Wait until the next try is far away."""
    return await eventually_async(
        lambda: reported(engine),
        lambda cr: cr["state"] == "failed" and cr["next_why"] == f"retry {RETRIES}",
        timeout_s=PATIENCE_S,
        ignoring=(AssertionError, LookupError, StopIteration),
    )


async def succeeds(api: Client, namespace: str) -> Json:
    found: Json = await eventually_async(
        lambda: api.get(PLAIN, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )
    return found


@pytest.mark.nightly
async def test_mended_file_brings_back_what_failed_in_it_whatever_the_backoff(
    api: Client, namespace: str, start_engine: StartEngine, project: Path
) -> None:
    await install(api, crd_for(PLAIN))
    engine = start_engine(project).wait_ready()
    await api.create(PLAIN, cr(PLAIN, namespace))
    failed = await backs_off(engine)
    assert failed["last"]["outcome"] == "failed"
    assert "the oven is cold" in failed["last"]["reason"]
    assert datetime.fromisoformat(failed["next_at"]) > datetime.now(UTC) + timedelta(seconds=4)

    role_of(project).write_text(MENDED.read_text())
    await succeeds(api, namespace)

    # Its turn ends a moment after its status was written.
    eventually(
        lambda: reported(engine)["state"], lambda state: state == "ready", timeout_s=PATIENCE_S
    )
    newest = runs(engine.artifacts)[0]
    assert (newest.cause, newest.outcome) == (
        "changed file roles/plain/tasks/main.yml",
        "succeeded",
    )
    assert "changed file, so what failed is tried again" in engine.log
    causes = [run.cause for run in runs(engine.artifacts)][::-1]
    assert causes[:3] == ["creation", "retry 1", "retry 2"]


@pytest.mark.nightly
async def test_person_asks_for_a_run_past_the_backoff(
    api: Client, namespace: str, start_engine: StartEngine, project: Path
) -> None:
    await install(api, crd_for(PLAIN))
    engine = start_engine(project).wait_ready()
    await api.create(PLAIN, cr(PLAIN, namespace))
    await backs_off(engine)

    answer = engine_of(engine).reconcile({"kind": "Plain", "namespace": namespace, "name": "x"})

    assert answer == {"keys": [f"Plain {namespace}/x"], "paused": []}
    newest: KeptRun = await eventually_async(
        lambda: runs(engine.artifacts)[0], lambda run: run.ended and run.cause.startswith("asked")
    )
    assert newest.outcome == "failed"
    # The count of failures begins anew, and with it the wait.
    first_ones = [f"retry {number}" for number in range(1, RETRIES)]
    await eventually_async(lambda: reported(engine), lambda cr: cr["next_why"] in first_ones)


async def test_run_says_why_it_started_and_other_users_may_not_read_it(
    api: Client, namespace: str, start_engine: StartEngine
) -> None:
    await install(api, crd_for(PLAIN))
    await install(api, crd_for(kind("Maker")))
    await api.create(kind("Maker"), cr(kind("Maker"), namespace))
    engine = start_engine(BEHAVIOURS).wait_ready()
    made = "x-made"
    await eventually_async(lambda: runs(engine.artifacts)[0].ended, timeout_s=PATIENCE_S)
    assert runs(engine.artifacts)[0].cause == "start"

    def is_watched() -> bool:
        return (
            "watching dependents" in engine.log or engine.metric("rolecall_dependents_lacking") == 0
        )

    await eventually_async(is_watched)
    await api.delete(CONFIG_MAP, namespace, made)
    newest: KeptRun = await eventually_async(
        lambda: runs(engine.artifacts)[0],
        lambda run: run.ended and run.cause.startswith("drift"),
        timeout_s=PATIENCE_S,
    )

    assert newest.cause == f"drift of ConfigMap {made}, which is gone"
    assert newest.changed_tasks
    assert stat.S_IMODE((newest.folder / RUN_FILE).stat().st_mode) == 0o600
    socket = engine_of(engine).root / "control.sock"
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700


@pytest.mark.nightly
async def test_run_whose_engine_was_killed_is_reported_as_lost(
    api: Client, namespace: str, start_engine: StartEngine, tmp_path: Path
) -> None:
    await install(api, crd_for(SLOW))
    await api.create(SLOW, cr(SLOW, namespace, folder=str(tmp_path)))
    shared = tmp_path / "runner"
    engine = start_engine(BEHAVIOURS, f"--artifacts-dir={shared}")
    await eventually_async((tmp_path / "began").exists, timeout_s=PATIENCE_S)
    (run,) = runs(shared)
    assert run.outcome == "running"

    engine.process.kill()
    engine.process.wait()

    (run,) = runs(shared)
    assert (run.outcome, run.reason) == ("lost", "ended when the operator stopped")
    assert engines_of(roots_of(shared)) == []
    (tmp_path / "go").touch()
    other = start_engine(BEHAVIOURS, f"--artifacts-dir={shared}").wait_ready()
    await eventually_async(
        lambda: [run.outcome for run in runs(shared)],
        lambda outcomes: outcomes == ["succeeded", "lost"],
        timeout_s=PATIENCE_S,
    )
    ((_, state),) = engines_of(roots_of(shared))
    assert state["engine"]["pid"] == other.process.pid


@pytest.mark.nightly
async def test_engines_beside_each_other_answer_for_themselves(
    api: Client,
    own_cluster: Cluster,
    namespace: str,
    start_engine: StartEngine,
    tmp_path: Path,
) -> None:
    await install(api, crd_for(PLAIN))
    await api.create(PLAIN, cr(PLAIN, namespace))
    shared = f"--artifacts-dir={tmp_path / 'runner'}"
    first = start_engine(BEHAVIOURS, shared).wait_ready()
    second = start_engine(BEHAVIOURS, shared).wait_ready()
    elsewhere = start_engine(BEHAVIOURS, shared, kubeconfig=own_cluster.kubeconfig).wait_ready()

    def found() -> dict[int, int]:
        engines = engines_of(roots_of(tmp_path / "runner"))
        return {state["engine"]["pid"]: len(state["crs"]) for _, state in engines}

    pids = [each.process.pid for each in (first, second, elsewhere)]
    assert found() == dict(zip(pids, (1, 1, 0), strict=True))

    second.stop()

    assert found() == {pids[0]: 1, pids[2]: 0}
