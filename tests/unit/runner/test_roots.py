"""Whose folder is it: engines of several clusters on one machine, or on one volume."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from rolecall.runner import claimed_beside_crs, claimed_root, cluster_of, forget
from rolecall.runner.folders import CannotStartError, make_private, private_dir
from rolecall.runner.roots import alone_with, mark
from rolecall.settings import RunnerSettings
from tests.unit.runner.cases import APP, run_request

HOLDER = """
import sys
from functools import partial
from pathlib import Path
from rolecall.runner import claimed_root
with claimed_root(Path(sys.argv[1]), sys.argv[2]) as place:
    print(place, flush=True)
    sys.stdin.read()
"""


def holder(root: Path, cluster: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(root), cluster],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def place_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def test_one_engine_has_the_documented_folder(tmp_path: Path) -> None:
    for cluster in ("first", "second", "first"):
        with claimed_root(tmp_path / "runner", cluster) as place:
            assert place == tmp_path / "runner"
            assert place.stat().st_mode & 0o077 == 0


def test_engines_of_one_cluster_share_it_and_one_of_another_does_not(tmp_path: Path) -> None:
    with (
        claimed_root(tmp_path, "first") as one,
        claimed_root(tmp_path, "second") as other,
        claimed_root(tmp_path, "first") as replica,
        claimed_root(tmp_path, "second") as others_replica,
    ):
        assert one == replica == tmp_path
        assert other == others_replica == tmp_path / ".clusters" / "second"


def test_folder_is_free_once_its_engine_was_killed_and_not_before(tmp_path: Path) -> None:
    with holder(tmp_path, "first") as engine:
        assert place_of(engine) == tmp_path
        with claimed_root(tmp_path, "second") as place:
            assert place != tmp_path
        engine.send_signal(signal.SIGKILL)
        engine.wait()
        with claimed_root(tmp_path, "second") as place:
            assert place == tmp_path


def test_many_that_start_at_once_agree(tmp_path: Path) -> None:
    engines = [(name, holder(tmp_path, name)) for name in ("a", "b", "c", "a", "b", "c")]
    try:
        places = [(name, place_of(engine)) for name, engine in engines]
    finally:
        for _, engine in engines:
            engine.kill()
            engine.communicate()
    assert len({place for _, place in places}) == 3
    assert len(set(places)) == 3


def test_folder_that_cannot_be_claimed_is_reported_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "runner").write_text("not a folder")
    with claimed_root(tmp_path / "runner", "first") as place:
        assert place == tmp_path / "runner"
    assert caplog.records[0].getMessage() == "the artifacts folder could not be locked"


def test_two_processes_never_run_one_cr_in_one_folder(tmp_path: Path) -> None:
    settings = RunnerSettings(root=tmp_path, cluster="first")
    with alone_with(run_request(), settings):
        with pytest.raises(CannotStartError, match="another process runs a play for `demo/shop`"):
            alone_with(run_request(), settings).__enter__()
        forget(tmp_path, APP, "demo", "shop", "first")  # in use, so it stays
        assert cluster_of(private_dir(tmp_path, APP, "demo", "shop")) == "first"
    with alone_with(run_request(), settings):
        pass


def test_folder_of_another_clusters_cr_is_not_forgotten(tmp_path: Path) -> None:
    folder = private_dir(tmp_path, APP, "demo", "shop")
    make_private(tmp_path, folder)
    mark(folder, "other")
    forget(tmp_path, APP, "demo", "shop", "ours")
    assert folder.exists()
    mark(folder, "ours")
    forget(tmp_path, APP, "demo", "shop", "ours")
    assert not folder.exists()
    assert list(tmp_path.iterdir()) == []


def test_plays_beside_crs_of_two_engines_never_share_a_folder(tmp_path: Path) -> None:
    """Two replicas on one volume answer at the same time, each in folders of its own."""
    claimed = partial(claimed_beside_crs, tmp_path, ".others")
    with claimed() as first, claimed() as second:
        assert first != second
        assert {first.parent, second.parent} == {tmp_path / ".others"}
        assert first.stat().st_mode & 0o777 == 0o700
    with claimed() as again:
        assert again == first
