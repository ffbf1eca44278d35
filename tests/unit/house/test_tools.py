"""The tools of this folder: what they refuse, and what they leave when they do."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools import install_collections, setup

from tests.unit.house.documents import ROOT


def put_collection(folder: Path) -> dict[str, str]:
    """A tiny collection with its hashes, as Galaxy makes them; returns what pins it."""
    inside = folder / "ansible_collections" / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "README.md").write_text("hello")
    files = {
        "files": [{"name": "README.md", "chksum_sha256": hashlib.sha256(b"hello").hexdigest()}]
    }
    (inside / "FILES.json").write_text(json.dumps(files))
    listed = install_collections.sha256(inside / "FILES.json")
    manifest = {"file_manifest_file": {"chksum_sha256": listed}}
    (inside / "MANIFEST.json").write_text(json.dumps(manifest))
    return {"a.b:1.0.0": install_collections.sha256(inside / "MANIFEST.json")}


def test_collection_that_is_as_pinned_is_accepted(tmp_path: Path) -> None:
    install_collections.check(tmp_path, "a.b", "1.0.0", put_collection(tmp_path))


@pytest.mark.parametrize("file", ["MANIFEST.json", "FILES.json", "README.md", "added.py"])
def test_collection_with_any_other_file_is_refused(tmp_path: Path, file: str) -> None:
    pins = put_collection(tmp_path)
    (tmp_path / "ansible_collections" / "a" / "b" / file).write_text('{"evil": true}')
    with pytest.raises(install_collections.InstallError):
        install_collections.check(tmp_path, "a.b", "1.0.0", pins)


def test_collection_without_a_pin_is_refused(tmp_path: Path) -> None:
    with pytest.raises(install_collections.InstallError, match="has no hash"):
        install_collections.check(tmp_path, "a.b", "2.0.0", put_collection(tmp_path))


def test_every_required_collection_is_pinned() -> None:
    lock = (ROOT / "lock" / "collections.toml").read_text()
    for name, version in install_collections.wanted_collections().items():
        assert f'"{name}:{version}"' in lock


def test_old_python_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 10))
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(setup.SetupError, match=r"3\.8 is too old") as caught:
        setup.use_a_fitting_python()
    assert "hint: install Python 3.11 or newer" in str(caught.value)


def test_every_step_of_set_up_follows_from_files_that_exist() -> None:
    assert all(key for _, key, _, _ in setup.steps())


def test_full_disk_stops_set_up_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "LEAST_FREE_GB", 1e9)
    with pytest.raises(setup.SetupError, match="GB of disk are free"):
        setup.check_disk()


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("noise\nERROR: no such package", "ERROR: no such package"),
        ("Retrying after Connection refused\nERROR: no such package", "Connection refused"),
    ],
)
def test_failed_step_says_its_cause_and_the_way_out(words: str, cause: str) -> None:
    command = [sys.executable, "-c", f"print({words!r}); raise SystemExit(1)"]
    with pytest.raises(setup.SetupError) as caught:
        setup.download(command)
    assert f"packages could not be installed: {cause}\n" in str(caught.value)
    assert "hint: check the network" in str(caught.value)


def test_unknown_check_is_named() -> None:
    result = subprocess.run(
        [sys.executable, "tools/check.py", "spelling"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "`spelling` is not one of format, lint" in result.stderr
