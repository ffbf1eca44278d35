"""Cgroups of both versions, on trees of plain files that look like them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rolecall_dev.localcluster.real.cgroups import Cgroups

V1_TREES = ("cpu,cpuacct", "cpuset", "memory", "pids", "freezer", "unified")


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    for tree in V1_TREES:
        (tmp_path / tree).mkdir()
    (tmp_path / "cpu").symlink_to("cpu,cpuacct")
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-1\n")
    (tmp_path / "unified" / "cgroup.controllers").write_text("")
    return tmp_path


@pytest.fixture
def version_2(tmp_path: Path) -> Path:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    return tmp_path


def test_version_is_reported_by_where_the_controllers_are(version_1: Path, tmp_path: Path) -> None:
    assert Cgroups(version_1).version == 1
    assert Cgroups(tmp_path / "memory").version == 0


def test_hybrid_machine_has_its_controllers_in_version_1(version_1: Path) -> None:
    assert Cgroups(version_1).missing() == []


def test_version_2_is_asked_for_its_controllers(version_2: Path) -> None:
    assert Cgroups(version_2).version == 2
    assert Cgroups(version_2).missing() == []
    (version_2 / "cgroup.controllers").write_text("cpu io\n")
    assert Cgroups(version_2).missing() == ["cpuset", "memory", "pids"]


def test_version_1_gets_a_folder_in_every_tree_once(version_1: Path) -> None:
    Cgroups(version_1).make("top", "node-1")
    made = {path.relative_to(version_1).as_posix() for path in version_1.rglob("node-1")}
    assert made == {f"{tree}/top/node-1" for tree in V1_TREES}


def test_version_2_hands_on_what_it_has_and_leaves_what_is_enabled(version_2: Path) -> None:
    asked: list[str] = []

    class Reported(Cgroups):
        def _hand_on(self, folder: Path) -> None:
            asked.append(folder.name)
            if folder == self.root:
                super()._hand_on(folder)

    Reported(version_2).make("top", "node-1")
    assert asked == [version_2.name, "top"]
    # A plain file keeps the last write only; the kernel adds each.
    assert (version_2 / "cgroup.subtree_control").read_text() == "+pids"


@pytest.mark.parametrize(
    ("version", "file", "one"),
    [("version_1", "cpu,cpuacct/top/cpu.shares", 1024), ("version_2", "top/cpu.weight", 100)],
)
def test_pods_do_not_starve_beside_busy_processes_of_the_machine(
    request: pytest.FixtureRequest, version: str, file: str, one: int
) -> None:
    root: Path = request.getfixturevalue(version)
    (root / file).parent.mkdir()
    (root / file).write_text(f"{one}\n")  # as the kernel does, with the weight of one process

    class Reported(Cgroups):
        def _hand_on(self, folder: Path) -> None:
            """Of no interest here."""

    Reported(root).make("top", "node-1")
    assert int((root / file).read_text()) >= 10 * one


def test_emptied_folders_are_removed_however_deep(version_1: Path) -> None:
    cgroups = Cgroups(version_1)
    cgroups.make("top", "node-1")
    (version_1 / "memory" / "top" / "node-1" / "kubepods" / "pod1").mkdir(parents=True)
    assert cgroups.remove("top")
    assert not list(version_1.rglob("top"))


def test_folder_that_is_in_use_is_reported_as_not_removed(version_1: Path) -> None:
    cgroups = Cgroups(version_1)
    cgroups.make("top", "node-1")
    (version_1 / "pids" / "top" / "node-1" / "tasks").touch()  # as rmdir of a busy one fails
    assert not cgroups.remove("top")


def test_freezing_speaks_the_words_of_each_version(version_1: Path) -> None:
    cgroups = Cgroups(version_1)
    cgroups.make("top", "node-1")
    cgroups.freeze("top", "node-1", frozen=True)
    state = version_1 / "freezer" / "top" / "node-1" / "freezer.state"
    assert state.read_text() == "FROZEN"
    cgroups.freeze("top", "node-1", frozen=False)
    assert state.read_text() == "THAWED"
