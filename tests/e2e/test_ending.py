"""How the process ends: drains, exit codes, nothing left running."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import BEHAVIOURS, PATIENCE_S, EngineProcess
from tests.e2e.kinds import condition, cr, is_successful, kind
from tests.fixtures.crds import crd_for, install
from tests.fixtures.eventually import eventually

SLOW = kind("Slow")
AT_ONCE_S = 10.0
# What ends stock runs is tried in tests/play/test_ended.py, too.
WAYS = [pytest.param("stock", marks=pytest.mark.nightly), "warm"]


@pytest.fixture
async def in_flight(api: Client, namespace: str, tmp_path: Path) -> Path:
    """The folder of a run that goes on until `go` appears in it."""
    await install(api, crd_for(SLOW))
    folder = tmp_path / "slow"
    folder.mkdir()
    await api.create(SLOW, cr(SLOW, namespace, folder=str(folder)))
    return folder


def began(folder: Path) -> None:
    eventually((folder / "began").exists, timeout_s=PATIENCE_S)


def plays_of(folder: Path) -> list[str]:
    """Processes that work for this run; a play's folder is in its arguments or environment."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal() or int(process.name) == os.getpid():
            continue
        try:
            words = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words:
            found.append(process.name)
    return found


async def test_run_in_flight_may_end_before_the_process_does(
    api: Client, namespace: str, start_engine: StartEngine, in_flight: Path
) -> None:
    engine = start_engine(BEHAVIOURS)
    began(in_flight)
    engine.send(signal.SIGTERM)
    eventually(lambda: engine.process.poll() is None)
    (in_flight / "go").touch()
    assert engine.wait() == 0
    assert is_successful(await api.get(SLOW, namespace, "x"))
    assert "exiting" in engine.log


@pytest.mark.parametrize("way", WAYS)
async def test_run_that_takes_longer_than_the_grace_time_is_ended_and_reported(
    api: Client, namespace: str, start_engine: StartEngine, in_flight: Path, way: str
) -> None:
    engine = start_engine(BEHAVIOURS, f"--runner={way}", "--graceful-shutdown-timeout=1s")
    began(in_flight)
    assert plays_of(engine.artifacts)
    assert engine.stop() == 0
    running = condition(await api.get(SLOW, namespace, "x"), "Running")
    assert (running["status"], running["reason"]) == ("False", "Cancelled")
    assert plays_of(engine.artifacts) == []


@pytest.mark.parametrize("way", WAYS)
async def test_plays_of_a_killed_engine_die_with_it(
    start_engine: StartEngine, in_flight: Path, way: str
) -> None:
    engine = start_engine(BEHAVIOURS, f"--runner={way}")
    began(in_flight)
    engine.process.kill()
    eventually(lambda: not plays_of(engine.artifacts))


def kubeconfigs_in(folder: Path) -> set[Path]:
    return set(folder.glob("rolecall-engine-*/kubeconfig*"))


@pytest.mark.nightly
async def test_credentials_of_runs_of_a_killed_engine_go_when_the_next_one_starts(
    start_engine: StartEngine, in_flight: Path, tmp_path: Path
) -> None:
    temporary = {"TMPDIR": str(tmp_path)}
    engine = start_engine(BEHAVIOURS, environment=temporary)
    began(in_flight)
    engine.process.kill()
    left = kubeconfigs_in(tmp_path)
    assert left
    start_engine(BEHAVIOURS, environment=temporary).wait_ready()
    assert left & kubeconfigs_in(tmp_path) == set()
    (in_flight / "go").touch()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_idle_engine_ends_at_once_with_zero(
    start_engine: StartEngine, number: signal.Signals
) -> None:
    # What it would have for plays is more than the test waits.
    engine = start_engine(BEHAVIOURS, "--graceful-shutdown-timeout=1h").wait_ready()
    began = time.monotonic()
    engine.send(number)
    assert engine.wait() == 0
    assert time.monotonic() - began < AT_ONCE_S
    assert "Traceback" not in engine.log


def said_and_ended(engine: EngineProcess) -> tuple[int, str]:
    return engine.wait(), engine.log


async def test_all_problems_of_watches_are_reported_and_the_exit_code_is_2(
    start_engine: StartEngine, tmp_path: Path
) -> None:
    (tmp_path / "watches.yaml").write_text(
        "- {version: v1, group: a.example.com, kind: A, role: nowhere}\n"
        "- {version: v1, group: a.example.com, kind: B, playbook: gone.yml}\n"
    )
    code, said = said_and_ended(start_engine(tmp_path))
    assert code == 2
    assert "watches.yaml:1: " in said
    assert "watches.yaml:2: " in said
    assert "Traceback" not in said


async def test_bad_flag_ends_it_with_two(start_engine: StartEngine) -> None:
    code, said = said_and_ended(start_engine(BEHAVIOURS, "--proxy-prot=1"))
    assert code == 2
    assert said.startswith("error: flag `--proxy-prot` is not known\nhint: did you mean")


async def test_port_that_is_taken_ends_it_with_two(start_engine: StartEngine) -> None:
    port = start_engine(BEHAVIOURS).ports["proxy"]
    code, said = said_and_ended(start_engine(BEHAVIOURS, f"--proxy-port={port}"))
    assert code == 2
    assert f"port {port} (--proxy-port): busy, held by the operator of {BEHAVIOURS}" in said


async def test_cluster_that_cannot_be_found_ends_it_with_three(
    cluster: Cluster, start_engine: StartEngine, tmp_path: Path
) -> None:
    code, said = said_and_ended(start_engine(BEHAVIOURS, kubeconfig=tmp_path / "none"))
    assert code == 3
    assert str(tmp_path / "none") in said
