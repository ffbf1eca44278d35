"""The tools of this folder: what they refuse, and what they leave when they do."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools import install_collections, lock, ready, setup

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


def test_old_python_gets_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 10))
    monkeypatch.setattr(setup, "find_pythons", dict)
    with pytest.raises(setup.SetupError, match=r"3\.8 is too old") as caught:
        setup.use_a_fitting_python()
    assert "hint: install Python 3.11 or newer with venv, or name one" in str(caught.value)


def test_python_newer_than_any_that_was_tried_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    setup.use_a_fitting_python()
    setup.warn_of_an_untried_python()
    said = capsys.readouterr().out
    assert said.startswith(
        "setup: warning: Python 3.99 is newer than any that was tried (3.11 to 3"
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As much of a clone as it takes to choose a Python."""
    (tmp_path / "tools").mkdir()
    for name in ("setup.sh", "setup.py", "pythons.py", "__init__.py"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools" / name)
    return tmp_path


def set_up(clone: Path, asked: str, **environment: str) -> tuple[str, str]:
    done = subprocess.run(
        ["/bin/sh", "tools/setup.sh", asked],
        cwd=clone,
        env={"PATH": os.defpath, "HOME": str(clone), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    return done.stdout, done.stderr


def test_missing_python_is_reported_with_the_installed_ones(clone: Path) -> None:
    managed = clone / ".pyenv" / "versions" / "mine" / "bin"
    managed.mkdir(parents=True)
    (managed / "python3").symlink_to(Path(sys.executable).resolve())
    _, said = set_up(clone, "python3.99", PATH="/nowhere:" + os.defpath)
    first, hint = said.splitlines()
    assert first == "error: `python3.99` does not start, or is far too old"
    version = ".".join(map(str, sys.version_info[:2]))
    assert f"{version} (" in hint
    assert "make setup PYTHON=/path/to/it" in hint


def test_python_too_old_to_read_set_up_gives_way_to_one_that_fits(clone: Path) -> None:
    """As a `python3` of 3.6 does, which would say `future feature annotations is not defined`."""
    folder = clone / "bin"
    folder.mkdir()
    old = folder / "python3"
    old.write_text("#!/bin/sh\necho SyntaxError >&2; exit 1\n")
    old.chmod(0o755)
    mine = folder / f"python3.{sys.version_info[1]}"
    mine.symlink_to(Path(sys.executable).resolve())
    out, said = set_up(clone, "python3", PATH=f"{folder}:{os.defpath}")
    assert out.startswith(f"setup: `python3` does not start, or is far too old; taking {mine}")
    assert "SyntaxError" not in said
    assert "lock/dev.txt" in said  # went on, in a clone without any


def test_python_that_only_a_version_manager_knows_is_found_by_its_name(clone: Path) -> None:
    version = ".".join(map(str, sys.version_info[:2]))
    managed = clone / ".pyenv" / "versions" / version / "bin"
    managed.mkdir(parents=True)
    (managed / "python3").symlink_to(Path(sys.executable).resolve())
    (clone / "shims").mkdir()
    shim = clone / "shims" / f"python{version}"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    # Nothing else that set-up needs, and no Python of this machine.
    (shim.parent / "dirname").symlink_to(str(shutil.which("dirname")))
    out, _ = set_up(clone, f"python{version}", PATH=str(shim.parent))
    assert f"taking {managed}" in out


def test_environment_of_another_python_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "VENV", tmp_path)
    monkeypatch.setattr(setup, "PYTHON", tmp_path / "bin" / "python")
    (tmp_path / "bin").mkdir()
    (tmp_path / "old").touch()
    setup.PYTHON.write_text("#!/bin/sh\necho 3 9 /opt/python3.9\n")
    setup.PYTHON.chmod(0o755)
    made: list[list[str]] = []
    monkeypatch.setattr(setup, "run", lambda command, *_: made.append(command))
    setup.make_environment()
    assert made[0][1:] == ["-m", "venv", str(tmp_path)]
    assert not (tmp_path / "old").exists()


def test_environment_of_this_python_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "VENV", tmp_path)
    monkeypatch.setattr(setup, "PYTHON", Path(sys.executable))
    (tmp_path / "kept").touch()
    setup.make_environment()
    assert (tmp_path / "kept").exists()


def test_unknown_ansible_core_is_answered_with_the_known_ones() -> None:
    with pytest.raises(setup.SetupError, match=r"`2\.17` is not one of 2\.18, 2\.19, 2\.20, 2\.21"):
        setup.core_files("2.17")


@pytest.mark.parametrize(
    ("core", "python", "other"), [("2.21", (3, 11), "3.12"), ("2.18", (3, 14), "3.13")]
)
def test_ansible_core_of_other_pythons_is_refused(
    core: str, python: tuple[int, int], other: str
) -> None:
    with pytest.raises(setup.SetupError, match=f"ansible-core {core} is for Python 3") as caught:
        setup.core_files(core, python)
    assert f"`make setup PYTHON=python{other}`" in str(caught.value)


def test_ansible_core_stays_until_another_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(setup, "CHOSEN_CORE", tmp_path / "ansible-core")
    monkeypatch.setenv("ANSIBLE_CORE", "2.18")
    assert setup.chosen_core() == "2.18"
    monkeypatch.setenv("ANSIBLE_CORE", "")
    assert setup.chosen_core() == ""
    setup.CHOSEN_CORE.write_text("2.18")
    assert setup.chosen_core() == "2.18"
    monkeypatch.setenv("ANSIBLE_CORE", "default")
    assert setup.chosen_core() == ""


def test_lock_of_an_ansible_core_has_only_what_differs() -> None:
    everything = (ROOT / "lock" / "dev.txt").read_text()
    in_images = {entry["name"] for entry in lock.ENTRY.finditer(runtime_lock())}
    for release, pythons in setup.known_cores():
        text = (setup.CORES / f"{release}.txt").read_text()
        assert f"\nansible-core=={release}." in text
        assert len(pythons) >= 3
        for entry in lock.ENTRY.finditer(text):
            assert entry[0] not in everything
            assert entry["name"] in in_images  # the image installs it, too


def runtime_lock() -> str:
    return (ROOT / "lock" / "runtime.txt").read_text()


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


def test_shells_that_cannot_be_installed_are_named_for_the_tests_and_for_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bash").write_text("")
    (tmp_path / "bash").chmod(0o700)
    machine = ready.make_ready(["tests/unit/cli/test_completion.py"])
    assert machine.environment == {"WITHOUT_SHELLS": "zsh fish"}
    assert machine.lines() == ["not run: completion in zsh fish: `apt-get install zsh fish`"]
    assert not machine.excludes("tests/unit/cli/test_completion.py")


def test_machine_is_asked_only_for_what_the_tests_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ready.make_ready(["tests/unit/house/test_tools.py"]) == ready.Machine()
    machine = ready.make_ready(["tests/browser/test_live.py"])
    assert machine.environment == {"WITHOUT_BROWSER": "1"}
    assert machine.excludes("tests/browser/test_live.py")
