"""Programs are found by the marks in their environment, and by nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Layout, processes, take_down
from rolecall_dev.localcluster.owner import claim, is_abandoned, start_guard
from rolecall_dev.localcluster.processes import Command
from rolecall_dev.localcluster.takedown import sweep
from tests.fixtures.eventually import eventually


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A cluster's folder; whatever was started in it ends with the test."""
    folder = tmp_path / "clusters" / "it"
    folder.mkdir(parents=True)
    yield folder
    processes.end_all(folder)


def start(folder: Path, component: str = "etcd", script: str = "exec sleep 600") -> int:
    return processes.start(Command(component, ["/bin/sh", "-c", script], folder))


def test_program_is_found_by_folder_and_component(folder: Path) -> None:
    pid = start(folder)
    found = eventually(lambda: processes.find(folder))
    assert [(one.component, one.pid) for one in found] == [("etcd", pid)]
    assert found[0].memory_bytes > 0
    assert processes.find(folder.parent) == []


def test_output_is_appended_to_the_log_of_the_component(folder: Path) -> None:
    for word in ("one", "two"):
        pid = start(folder, script=f"echo {word}")
        assert os.waitpid(pid, 0) == (pid, 0)
    assert (folder / "logs" / "etcd.log").read_text() == "one\ntwo\n"


def test_environment_of_the_shell_is_not_passed_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    pid = start(folder, script="env")
    eventually(lambda: processes.exit_code(pid) == 0)
    assert "hush" not in (folder / "logs" / "etcd.log").read_text()


def test_end_of_all_leaves_no_process_and_no_zombie(folder: Path) -> None:
    pids = [start(folder, name) for name in ("etcd", "kwok")]
    eventually(lambda: len(processes.find(folder)) == 2)
    processes.end_all(folder)
    assert processes.find(folder) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_polite_end_wakes_a_frozen_program_first(folder: Path) -> None:
    start(folder, script="trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done")
    running = eventually(lambda: processes.find(folder))[0]
    log = folder / "logs" / "etcd.log"
    eventually(log.read_text)
    processes.send(running, signal.SIGSTOP)
    eventually(lambda: running.is_frozen)
    processes.end(running, grace_s=5)
    assert log.read_text() == "ready\nbye\n"


def test_signal_never_reaches_who_got_the_number_later(folder: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as stranger:
        imposter = processes.Running("etcd", stranger.pid, folder)
        processes.end(imposter)
        processes.send(imposter, signal.SIGKILL)
        assert stranger.poll() is None
        stranger.kill()


def test_cluster_without_an_owner_is_never_abandoned(folder: Path) -> None:
    assert not is_abandoned(folder)


def test_cluster_is_abandoned_when_its_owner_is_gone(folder: Path) -> None:
    lock = claim(folder)
    assert not is_abandoned(folder)
    start(folder)
    owner, birth = (folder / "owner").read_text().split()
    assert int(owner) == os.getpid()
    # Same number, born at another time: another process has it now, or it is of another container.
    (folder / "owner").write_text(f"{owner} {birth}9")
    assert not is_abandoned(folder)
    os.close(lock)
    assert is_abandoned(folder)
    assert sweep(folder.parent) == ["it"]
    assert not folder.exists()
    assert processes.find(folder) == []


def test_guard_takes_the_cluster_down_when_its_owner_dies(folder: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from rolecall_dev.localcluster.owner import start_guard;"
        "guard = start_guard(Path(sys.argv[1])); print('on', flush=True); sys.stdin.read()"
    )
    start(folder)
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        owner.kill()
    eventually(lambda: not folder.exists() and not processes.find(folder))


def test_taking_down_dismisses_the_guard(folder: Path) -> None:
    guard = start_guard(folder)
    eventually(lambda: processes.find(folder))
    assert take_down(Layout(folder))
    assert processes.find(folder) == []
    guard.communicate()


def test_taking_down_what_is_not_there_does_nothing(tmp_path: Path) -> None:
    assert not take_down(Layout(tmp_path / "nothing"))
    assert list(tmp_path.iterdir()) == []
