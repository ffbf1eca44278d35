"""What single looks see, and the way out that they name."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from rolecall.extensions.console.flags import PageFlags
from rolecall.extensions.versions.flags import VersionFlags
from rolecall.listening import PortHolder
from rolecall.settings import ElectionSettings, MetricsSettings, ProxySettings, RunnerSettings
from rolecall_dev.doctor import LOOKS, Diagnosis, DiagnosisState, Surroundings, examine, machine
from tests.unit.cli.fake_engine import ENGINE, fake_engine
from tests.unit.doctor.conftest import ServeTime

Made = Callable[..., Surroundings]


async def look(name: str, surroundings: Surroundings) -> list[Diagnosis]:
    only = [one for one in LOOKS if one.name == name]
    async for _, rows in examine(surroundings, only):
        return list(rows)
    raise AssertionError(name)


async def test_port_that_is_taken_names_who_has_it_and_the_flag(surroundings: Made) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (seen,) = await look("ports", surroundings(proxy=ProxySettings(port=port)))
    assert seen.state is DiagnosisState.TO_DO
    assert f"{port} (proxy) is busy, held by process {os.getpid()}" in seen.what
    assert "--proxy-port" in seen.way_out


async def test_port_of_webhooks_counts_where_something_is_to_be_converted(
    surroundings: Made, project: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        flags = VersionFlags(bind=f":{taken.getsockname()[1]}")
        made = surroundings(of_extensions=(flags,))
        (before,) = await look("ports", made)
        (project / "conversions.yaml").touch()
        (after,) = await look("ports", made)
    assert before.state is DiagnosisState.OK
    assert "(webhooks) is busy, held by process" in after.what
    assert "--webhook-bind-address" in after.way_out


async def test_port_of_the_page_counts(surroundings: Made) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        flags = PageFlags(bind=f"127.0.0.1:{taken.getsockname()[1]}")
        (seen,) = await look("ports", surroundings(of_extensions=(flags,)))
    assert "(page) is busy, held by process" in seen.what
    assert "--page-bind-address" in seen.way_out


async def test_ports_that_the_operator_of_this_folder_holds_are_fine(
    surroundings: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENGINE, "pid", os.getpid())
    with fake_engine() as engine, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        runner = RunnerSettings(root=engine.root)
        made = surroundings(proxy=ProxySettings(port=port), runner=runner)
        (seen,) = await look("ports", made)
    reported = f"{port} (proxy): held by the operator that runs here (process {os.getpid()})"
    assert (seen.state, seen.what) == (DiagnosisState.OK, reported)


async def test_ports_of_an_operator_of_another_folder_are_taken(
    surroundings: Made, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENGINE, "pid", os.getpid())
    (project / "engine").mkdir()
    monkeypatch.chdir(project / "engine")
    with fake_engine() as engine, socket.create_server(("127.0.0.1", 0)) as taken:
        proxy = ProxySettings(port=taken.getsockname()[1])
        made = surroundings(proxy=proxy, runner=RunnerSettings(root=engine.root))
        monkeypatch.setattr(Path, "cwd", lambda: project)
        (seen,) = await look("ports", made)
    assert seen.state is DiagnosisState.TO_DO


async def test_free_ports_are_one_line(surroundings: Made) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    metrics = MetricsSettings(bind="0", probe_bind=f"127.0.0.1:{port}", role_metrics_port=0)
    (seen,) = await look("ports", surroundings(metrics=metrics))
    assert (seen.state, seen.what) == (DiagnosisState.OK, f"{port} (probes) are free")


async def test_collection_that_is_missing_is_reported_with_the_command(
    surroundings: Made, project: Path
) -> None:
    (project / "requirements.yml").write_text("collections:\n- name: no.such\n  version: 1.2.3\n")
    (seen,) = await look("collections", surroundings())
    assert seen.state is DiagnosisState.TO_DO
    assert "requirements.yml:2" in seen.what
    assert "`no.such` was not found" in seen.what
    assert "ansible-galaxy collection install" in seen.way_out


@pytest.mark.parametrize(("hours", "reported"), [(2, "behind"), (-2, "ahead of")])
async def test_clock_that_is_off_is_reported_by_how_much(
    surroundings: Made, serve_time: ServeTime, hours: int, reported: str
) -> None:
    async with serve_time(timedelta(hours=hours)) as environment:
        (seen,) = await look("clock", surroundings(environment))
    assert seen.state is DiagnosisState.TO_DO
    assert reported in seen.what
    assert any(f"{seconds} s {reported}" in seen.what for seconds in range(7195, 7206))


async def test_clock_that_agrees_is_fine(surroundings: Made, serve_time: ServeTime) -> None:
    async with serve_time() as environment:
        (seen,) = await look("clock", surroundings(environment))
    assert seen.state is DiagnosisState.OK


async def test_artifacts_folder_that_others_may_write_is_refused(
    surroundings: Made, project: Path
) -> None:
    (project / "open").mkdir()
    (project / "open").chmod(0o777)
    (seen,) = await look("artifacts", surroundings(runner=RunnerSettings(root=project / "open")))
    assert seen.state is DiagnosisState.TO_DO
    assert "mode 0777" in seen.what
    assert "--artifacts-dir" in seen.way_out


async def test_artifacts_folder_that_is_a_file_is_refused(
    surroundings: Made, project: Path
) -> None:
    (project / "file").touch()
    runner = RunnerSettings(root=project / "file" / "below")
    (seen,) = await look("artifacts", surroundings(runner=runner))
    assert seen.state is DiagnosisState.TO_DO
    assert "is not a folder" in seen.what


async def test_stock_runs_are_fine_where_they_were_asked_for(surroundings: Made) -> None:
    (seen,) = await look("runs", surroundings(runner=RunnerSettings(way="stock")))
    assert seen.state is DiagnosisState.OK


async def test_unrequested_stock_runs_have_their_reason(
    surroundings: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    (seen,) = await look("runs", surroundings())
    assert seen.state is DiagnosisState.TO_DO
    assert "warm runs need Linux" in seen.what


async def test_no_election_is_reported_as_such(surroundings: Made) -> None:
    (seen,) = await look("leader", surroundings())
    assert "--leader-elect" in seen.what


async def test_leader_is_not_asked_for_without_a_cluster(surroundings: Made) -> None:
    election = ElectionSettings(is_on=True, id="x", namespace="y")
    (seen,) = await look("leader", surroundings(election=election))
    assert seen.state is DiagnosisState.NOT_LOOKED


async def test_port_of_another_folders_operator_is_busy_and_names_the_folder(
    surroundings: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = PortHolder(71, "python /venv/bin/rolecall run --dev", str(tmp_path))
    monkeypatch.setattr(machine, "holder_of_port", lambda _: holder)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (seen,) = await look("ports", surroundings(proxy=ProxySettings(port=port)))
    held = f"{port} (proxy) is busy, held by the operator of {tmp_path} (process 71)"
    assert (seen.state, seen.what) == (DiagnosisState.TO_DO, held)
    assert "`rolecall run --dev` takes free ports" in seen.way_out
