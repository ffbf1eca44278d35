"""The project at another revision: its files as they were, and nothing left in the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rolecall.errors import InputError
from rolecall_dev.proving.samples import extracted, full_revision

_WHO = ("-c", "user.name=stranger", "-c", "user.email=stranger@example.com")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *_WHO, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """In a folder of a repository, with two revisions: `first`, and one more."""
    folder = tmp_path / "repository" / "operator"
    folder.mkdir(parents=True)
    git(tmp_path, "init", "--quiet", str(tmp_path / "repository"))
    for text in ("first", "second"):
        (folder / "watches.yaml").write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--no-verify", "-m", text)
        if text == "first":
            git(folder, "tag", "first")
    return folder


def test_files_are_as_they_were_and_the_folder_goes(project: Path) -> None:
    with extracted(project, full_revision(project, "first")) as tree:
        assert (tree / "watches.yaml").read_text() == "first"
        assert (project / "watches.yaml").read_text() == "second"
    assert not tree.exists()
    assert len(git(project, "worktree", "list").splitlines()) == 1


def test_installed_collections_are_those_of_today(project: Path) -> None:
    (project / ".collections").mkdir()
    (project / ".collections" / "marker").touch()
    with extracted(project, "first") as tree:
        assert (tree / ".collections" / "marker").exists()
    assert (project / ".collections" / "marker").exists()


def test_revision_that_is_not_there_is_an_input_error(project: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a git revision"):
        full_revision(project, "v9")
    with pytest.raises(InputError, match="is not a git revision"):
        full_revision(tmp_path, "first")
