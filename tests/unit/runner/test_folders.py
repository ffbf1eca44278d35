from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from rolecall.gvk import Gvk
from rolecall.runner import forget
from rolecall.runner.folders import CannotStartError, make_private, private_dir, write_private
from tests.unit.runner.cases import APP


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("gvk", "namespace", "name", "expected"),
    [
        (APP, "demo", "shop", "demo.example.com/v1/App/demo/shop"),
        (APP, "", "shop", "demo.example.com/v1/App/shop"),
        (Gvk("", "v1", "Secret"), "demo", "shop", "v1/Secret/demo/shop"),
        (Gvk("r", "v1", "ClusterRole"), "", "system:x", "r/v1/ClusterRole/system:x"),
    ],
)
def test_the_path_is_the_go_operators(gvk: Gvk, namespace: str, name: str, expected: str) -> None:
    assert private_dir(Path("/r"), gvk, namespace, name) == Path("/r") / expected


@pytest.mark.parametrize(
    ("namespace", "name"), [("demo", ".."), ("..", "x"), ("a", "b/c"), ("a", ""), ("a", "x\0")]
)
def test_a_name_that_would_lead_elsewhere_is_refused(namespace: str, name: str) -> None:
    with pytest.raises(CannotStartError):
        private_dir(Path("/r"), APP, namespace, name)


def test_folders_are_private_also_where_they_were_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True, mode=0o777)
    (root / "a").chmod(0o755)
    make_private(root, root / "a" / "b" / "c")
    assert [mode(path) for path in (root, root / "a", root / "a/b", root / "a/b/c")] == [0o700] * 4


def test_a_link_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotStartError, match="does not belong to the user"):
        make_private(tmp_path / "root", tmp_path / "root" / "a" / "b")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give folders away")
def test_folder_that_another_program_made_before_us_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    os.chown(root, 12345, 12345)
    with pytest.raises(CannotStartError):
        make_private(root, root / "a")


def test_a_file_is_private_and_does_not_write_through_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "file").symlink_to(target)
    write_private(tmp_path / "file", "new")
    assert target.read_text() == "mine"
    assert (tmp_path / "file").read_text() == "new"
    assert mode(tmp_path / "file") == 0o600


def test_a_forgotten_cr_leaves_nothing_not_even_empty_parents(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_private(tmp_path, private_dir(tmp_path, APP, "demo", name) / "artifacts" / "1")
    forget(tmp_path, APP, "demo", "one")
    assert [path.name for path in (tmp_path / "demo.example.com/v1/App/demo").iterdir()] == ["two"]
    forget(tmp_path, APP, "demo", "two")
    assert list(tmp_path.iterdir()) == []
    forget(tmp_path, APP, "demo", "two")  # twice is fine
