"""Which changed files are reported to the user."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from rolecall.cli.dev_files import (
    FileStamps,
    how_to_install,
    is_crd,
    is_read_by_runs,
    log_changed,
)


def test_files_that_change_come_or_go_are_reported_once(tmp_path: Path) -> None:
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


def test_files_that_users_do_not_edit_are_not_reported(tmp_path: Path) -> None:
    stamps = FileStamps(tmp_path)
    for folder in (".git", "collections", "artifacts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.yml").write_text("a")
    (tmp_path / ".main.yml.swp").write_text("a")
    assert stamps.changed() == []


def test_changed_crd_asks_for_make_install(tmp_path: Path) -> None:
    crd = tmp_path / "config" / "crd" / "bases" / "sites.yaml"
    crd.parent.mkdir(parents=True)
    crd.write_text("---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n")
    assert is_crd(crd)
    assert how_to_install(tmp_path, "x.yaml") == "`kubectl apply -f x.yaml`"
    (tmp_path / "Makefile").write_text("install: kustomize\n\t@true\n")
    assert how_to_install(tmp_path, "x.yaml") == "`make install`"


def test_sample_that_names_a_crd_in_its_text_is_not_one(tmp_path: Path) -> None:
    sample = tmp_path / "sample.yaml"
    sample.write_text("kind: Site\nspec:\n  text: of kind CustomResourceDefinition\n")
    assert not is_crd(sample)


@pytest.mark.parametrize(
    "file",
    [
        "config/samples/demo_v1_site.yaml",
        "config/crd/bases/sites.yaml",
        "molecule/default/verify.yml",
        "tests/test_site.py",
        "watches.yaml",
        "README.md",
        "notes.txt",
        "Makefile",
        "requirements.yml",
        "watches.schema.json",
    ],
)
def test_changed_sample_is_not_announced_for_the_next_run(file: str) -> None:
    assert not is_read_by_runs(file, "watches.yaml")


@pytest.mark.parametrize(
    "file",
    ["roles/site/tasks/main.yml", "playbooks/site.yml", "site.yml", "group_vars/all.yml"],
)
def test_changed_role_is_announced_for_the_next_run(file: str) -> None:
    assert is_read_by_runs(file, "watches.yaml")


def test_crd_that_changes_under_dev_is_logged_with_make_install_and_its_sample_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "Makefile").write_text("install: collections\n")
    bases, samples = tmp_path / "config" / "crd", tmp_path / "config" / "samples"
    bases.mkdir(parents=True)
    samples.mkdir()
    stamps = FileStamps(tmp_path)
    (bases / "sites.yaml").write_text("kind: CustomResourceDefinition\n")
    (samples / "site.yaml").write_text("kind: Site\n")
    with caplog.at_level(logging.INFO):
        log_changed(tmp_path, "watches.yaml", stamps.changed())
    reported = [(each.getMessage(), each.__dict__["fields"]) for each in caplog.records]
    assert reported == [("CRD changed: `make install`", {"file": "config/crd/sites.yaml"})]
