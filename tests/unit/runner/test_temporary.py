from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rolecall.runner import create_runner
from rolecall.runner.temporary import (
    COMMAND_PREFIX,
    ENGINE_PREFIX,
    HOST_PREFIX,
    RUN_PREFIX,
    LockedFolder,
    remove_abandoned,
)
from rolecall.settings import RunnerSettings
from rolecall_base.variables import SCRATCH_VARIABLE

MAKER = """
import sys, time
from rolecall.runner.temporary import LockedFolder
print(LockedFolder(sys.argv[1], sys.argv[2]).path, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("prefix", [HOST_PREFIX, RUN_PREFIX, ENGINE_PREFIX, COMMAND_PREFIX])
def test_folder_of_a_killed_maker_is_removed_and_not_before(tmp_path: Path, prefix: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MAKER, prefix, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as maker:
        assert maker.stdout is not None
        folder = Path(maker.stdout.readline().strip())
        (folder / "inside").mkdir()
        assert remove_abandoned([str(tmp_path)]) == []
        maker.send_signal(signal.SIGKILL)
    assert remove_abandoned([str(tmp_path)]) == [folder]
    assert not folder.exists()


def test_folder_that_was_let_go_is_anybodys(tmp_path: Path) -> None:
    held = LockedFolder(HOST_PREFIX, str(tmp_path))
    held.let_go()
    assert remove_abandoned([str(tmp_path), str(tmp_path)]) == [held.path]


def test_folder_in_which_a_background_job_works_stays(tmp_path: Path) -> None:
    held = LockedFolder(RUN_PREFIX, str(tmp_path))
    held.let_go()
    environment = {**os.environ, SCRATCH_VARIABLE: str(held.path)}
    with subprocess.Popen(["sleep", "600"], env=environment) as job:
        assert remove_abandoned([str(tmp_path)]) == []
        job.kill()
    assert remove_abandoned([str(tmp_path)]) == [held.path]


def test_links_and_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / f"{RUN_PREFIX}link").symlink_to(kept)
    (tmp_path / f"{RUN_PREFIX}file").touch()
    (tmp_path / "rolecall-other").mkdir()
    assert remove_abandoned([str(tmp_path), "/no/such/folder"]) == []
    assert len(list(tmp_path.iterdir())) == 4


def test_sweep_never_takes_a_folder_from_its_maker(tmp_path: Path) -> None:
    is_over = threading.Event()

    def sweep() -> None:
        while not is_over.is_set():
            remove_abandoned([str(tmp_path)])

    sweeping = threading.Thread(target=sweep)
    sweeping.start()
    try:
        made = [LockedFolder(HOST_PREFIX, str(tmp_path)) for _ in range(200)]
    finally:
        is_over.set()
        sweeping.join()
    assert all(held.path.is_dir() for held in made)
    for held in made:
        held.let_go()


async def test_engine_that_starts_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    left = LockedFolder(HOST_PREFIX, str(tmp_path))
    left.let_go()
    runner = create_runner(
        RunnerSettings(root=tmp_path / "root", environment={"TMPDIR": str(tmp_path)})
    )
    await runner.warm_up([])
    await runner.close()
    assert not left.path.exists()
