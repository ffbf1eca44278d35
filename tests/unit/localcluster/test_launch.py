"""A start that fails: programs that are shell scripts, and what is left of them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rolecall.errors import ClusterError, InputError
from rolecall.localcluster import (
    Binaries,
    Layout,
    MissingProgramsError,
    Wanted,
    bring_up,
    processes,
)
from rolecall.localcluster.layout import Ports, Record
from rolecall.localcluster.programs import NEEDED
from tests.fixtures.eventually import eventually

Programs = Callable[[str], Binaries]


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """All programs wait forever, but the API server does what the test says."""

    def make(apiserver: str) -> Binaries:
        paths = {}
        for name in NEEDED:
            script = apiserver if name == "kube-apiserver" else "exec sleep 600"
            paths[name] = tmp_path / "bin" / name
            paths[name].parent.mkdir(exist_ok=True)
            paths[name].write_text(f"#!/bin/sh\n{script}\n")
            paths[name].chmod(0o755)
        return Binaries(paths)

    return make


@pytest.fixture
def wanted(tmp_path: Path) -> Wanted:
    return Wanted(name="it", root=tmp_path / "clusters")


def assert_nothing_is_left(wanted: Wanted) -> None:
    layout = Layout.named(wanted.name, wanted.root)
    assert not layout.folder.exists()
    assert processes.find(layout.folder) == []


def test_component_that_ends_early_is_quoted(programs: Programs, wanted: Wanted) -> None:
    with pytest.raises(ClusterError) as caught:
        bring_up(wanted, programs("echo 'Error: unknown flag: --colour' >&2; exit 7"))
    assert "`kube-apiserver` ended with code 7" in caught.value.message
    assert "unknown flag: --colour" in caught.value.message
    assert_nothing_is_left(wanted)


def test_other_ports_are_tried_when_a_faster_program_took_them(
    programs: Programs, wanted: Wanted, tmp_path: Path
) -> None:
    script = f'echo "$@" >> {tmp_path}/tried; echo "listen: address already in use"; exit 1'
    with pytest.raises(ClusterError, match="took the chosen ports 3 times"):
        bring_up(wanted, programs(script))
    tries = (tmp_path / "tried").read_text().splitlines()
    ports = {word for line in tries for word in line.split() if word.startswith("--secure-port")}
    assert len(tries) == len(ports) == 3
    assert_nothing_is_left(wanted)


def test_api_server_that_is_never_ready_is_given_up(
    programs: Programs, wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecall.localcluster.launch._READY_S", 0.2)
    with pytest.raises(ClusterError, match=r"not ready within .*\n  thinking"):
        bring_up(wanted, programs("echo thinking; exec sleep 600"))
    assert_nothing_is_left(wanted)


def test_missing_programs_stop_the_start_before_it_begins(wanted: Wanted) -> None:
    with pytest.raises(MissingProgramsError):
        bring_up(wanted, Binaries({}))
    assert_nothing_is_left(wanted)


@pytest.mark.parametrize("nodes", [-1, 10_001])
def test_number_of_nodes_must_be_sensible(programs: Programs, wanted: Wanted, nodes: int) -> None:
    with pytest.raises(InputError, match=r"nodes `-?\d+`"):
        bring_up(Wanted(name="it", root=wanted.root, nodes=nodes), programs(""))
    assert_nothing_is_left(wanted)


def test_cluster_of_other_programs_is_not_mixed_with_ours(
    programs: Programs, wanted: Wanted
) -> None:
    layout = Layout.named(wanted.name, wanted.root)
    layout.folder.mkdir(parents=True)
    began = datetime(2026, 1, 1, tzinfo=UTC)
    layout.write_record(Record(Ports(1, 2, 3, 1, 2), began, "v1.0.0", 1, {"etcd": "/old/etcd"}))
    with pytest.raises(
        InputError, match=r"made by other programs \(Kubernetes v1\.0\.0\)"
    ) as caught:
        bring_up(wanted, programs(""))
    assert "rolecall cluster down --name it" in caught.value.hint
    assert layout.record.exists()


def test_what_an_interrupted_start_left_is_removed(programs: Programs, wanted: Wanted) -> None:
    layout = Layout.named(wanted.name, wanted.root)
    layout.folder.mkdir(parents=True)
    orphan = processes.start(processes.Command("etcd", ["/bin/sleep", "600"], layout.folder))
    eventually(lambda: processes.find(layout.folder))
    said: list[str] = []
    with pytest.raises(ClusterError):
        bring_up(wanted, programs("exit 1"), said.append)
    assert said == ["removing what an interrupted `up` left"]
    assert not Path(f"/proc/{orphan}").exists()
    assert_nothing_is_left(wanted)
