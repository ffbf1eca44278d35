"""Which changed files a person is told of."""

from __future__ import annotations

from pathlib import Path

from rolecall.cli.dev_files import FileStamps


def test_files_that_change_come_or_go_are_told_once(tmp_path: Path) -> None:
    tasks = tmp_path / "roles" / "web" / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text("a")
    (tasks / "old.yml").write_text("a")
    stamps = FileStamps(tmp_path)
    assert stamps.changed() == []
    (tasks / "main.yml").write_text("ab")
    (tasks / "new.yml").write_text("a")
    (tasks / "old.yml").unlink()
    names = ["main.yml", "new.yml", "old.yml"]
    assert stamps.changed() == [f"roles/web/tasks/{name}" for name in names]
    assert stamps.changed() == []


def test_what_nobody_edits_is_not_told(tmp_path: Path) -> None:
    stamps = FileStamps(tmp_path)
    for folder in (".git", "collections", "artifacts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.yml").write_text("a")
    (tmp_path / ".main.yml.swp").write_text("a")
    assert stamps.changed() == []
