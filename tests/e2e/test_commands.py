"""Day two by a person's steps: look at an engine at work, read its runs, act on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rolecall.json_object import Json
from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import cr, kind
from tests.e2e.shared import SharedEngine
from tests.fixtures.crds import CRD, crd_for
from tests.fixtures.eventually import eventually

SLOW = kind("Slow")
SHARED_ENGINE = (BEHAVIOURS,)
KINDS = [crd_for(SLOW)]
WAITING_TASK = "wait to be let go"


class Person:
    """Types commands beside the engine."""

    def __init__(self, engine: EngineProcess, kubeconfig: Path, namespace: str) -> None:
        own = {"ROLECALL_ARTIFACTS_DIR": str(engine.artifacts), "KUBECONFIG": str(kubeconfig)}
        self.environ = {**os.environ, **own}
        self._place = ("-n", namespace)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "rolecall", *words, *self._place]

    def rolecall(self, *words: str) -> subprocess.CompletedProcess[str]:
        said = subprocess.run(
            self.command(*words), env=self.environ, capture_output=True, text=True, check=False
        )
        assert said.returncode == 0, said.stderr
        return said

    def status(self, name: str) -> Json:
        said = self.rolecall("status", f"slow/{name}", "-o", "json")
        (found,) = json.loads(said.stdout)["crs"]
        return dict(found)

    def runs(self, name: str) -> list[Json]:
        found: list[Json] = json.loads(self.rolecall("runs", f"slow/{name}", "-o", "json").stdout)[
            "runs"
        ]
        return found

    @contextmanager
    def follows(self, name: str) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            self.command("logs", "-f", f"slow/{name}"),
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            limit = threading.Timer(2 * PATIENCE_S, process.terminate)
            limit.start()
            try:
                yield process
            finally:
                limit.cancel()
                limit.join()
                process.terminate()


def wait_for_line(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"it ended without `{words}`")


@pytest.fixture
def person(shared_engine: SharedEngine, cluster: Cluster, namespace: str) -> Person:
    return Person(shared_engine, cluster.kubeconfig, namespace)


async def test_person_follows_a_slow_run_reconciles_again_and_pauses(
    api: Client, namespace: str, person: Person, tmp_path: Path
) -> None:
    await api.create(SLOW, cr(SLOW, namespace, folder=str(tmp_path)))

    running = eventually(
        lambda: person.status("x"),
        lambda found: found["task"] == WAITING_TASK,
        timeout_s=PATIENCE_S,
        ignoring=(AssertionError,),
    )
    assert (running["state"], running["cause"]) == ("running", "creation")
    shown = person.rolecall("status", "slow/x").stdout
    assert f"{WAITING_TASK} (roles/slow/tasks/main.yml:" in shown
    with person.follows("x") as follower:
        wait_for_line(follower, WAITING_TASK)
        (tmp_path / "go").touch()
        wait_for_line(follower, "PLAY RECAP")
        ready = eventually(
            lambda: person.status("x"),
            lambda found: found["state"] == "ready",
            timeout_s=PATIENCE_S,
        )
        assert ready["last"]["outcome"] == "succeeded"
        assert ready["next_why"] == "period"
        assert (
            person.rolecall("reconcile", "slow/x").stdout
            == f"Slow {namespace}/x: will be reconciled now\n"
        )
        wait_for_line(follower, "PLAY RECAP")
    found = eventually(
        lambda: person.runs("x"),
        lambda runs: [each["outcome"] for each in runs] == ["succeeded"] * 2,
        timeout_s=PATIENCE_S,
    )
    assert [each["cause"] for each in found] == ["asked for by a person", "creation"]

    person.rolecall("pause", "slow/x", "--because", "moving")
    annotations = (await api.get(SLOW, namespace, "x"))["metadata"]["annotations"]
    assert annotations["rolecall.dev/paused"] == "true"
    assert annotations["rolecall.dev/paused-because"] == "moving"
    assert annotations["rolecall.dev/paused-by"]
    eventually(lambda: person.status("x")["state"] == "paused", timeout_s=PATIENCE_S)
    assert "paused, so nothing runs" in person.rolecall("reconcile", "slow/x").stdout
    person.rolecall("resume", "slow/x")
    left = (await api.get(SLOW, namespace, "x"))["metadata"].get("annotations", {})
    assert not [name for name in left if name.startswith("rolecall.dev/paused")]
    eventually(lambda: person.status("x")["state"] != "paused", timeout_s=PATIENCE_S)


async def test_person_tries_again_what_waits_out_a_backoff(
    api: Client, namespace: str, person: Person, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    await api.create(SLOW, cr(SLOW, namespace, folder=str(blocked)))

    # By now the next try is seconds away, and twice as far after each.
    failed = eventually(
        lambda: person.status("x"),
        lambda found: (found["next_why"] or "").startswith("retry ") and found["state"] == "failed",
        timeout_s=PATIENCE_S,
        ignoring=(AssertionError,),
    )
    assert failed["last"]["outcome"] == "failed"
    assert "say that it began" in person.rolecall("logs", "slow/x", "--failed").stdout
    assert "say that it began" in person.rolecall("runs", "slow/x").stdout
    person.rolecall("reconcile", "slow/x")
    eventually(
        lambda: [each["cause"] for each in person.runs("x")],
        lambda causes: "asked for by a person" in causes,
        timeout_s=PATIENCE_S,
    )


async def test_short_name_is_known_through_the_api_server(
    api: Client, namespace: str, person: Person, tmp_path: Path
) -> None:
    names = {"spec": {"names": {"shortNames": ["sl"]}}}
    await api.merge_patch(CRD, "", f"slows.{SLOW.group}", names)
    await api.create(SLOW, cr(SLOW, namespace, folder=str(tmp_path)))
    eventually(
        lambda: "slow/x" in person.rolecall("status", "sl").stdout,
        timeout_s=PATIENCE_S,
        ignoring=(AssertionError,),
    )
    (tmp_path / "go").touch()
