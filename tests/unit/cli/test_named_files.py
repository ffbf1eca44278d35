"""Options that name a file or a thing reach what the command reads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from rolecall.cli import main
from rolecall_dev import localcluster
from rolecall_dev.cli import cluster as cluster_command
from rolecall_dev.proving import CHECKS

SHOP = "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: corner}\nspec: {size: 3}\n"
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere, user: stranger}}]
clusters: [{name: nowhere, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: stranger, user: {}}]
"""
RULES = """\
- group: example.com
  kind: Shop
  steps:
    - {older: v1, newer: v2, rules: [{rename: spec.size, to: spec.%s}]}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    return tmp_path


def test_convert_takes_the_rules_of_the_file_that_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "conversions.yaml").write_text(RULES % "wrong")
    (folder / "other.yaml").write_text(RULES % "right")
    (folder / "shop.yaml").write_text(SHOP)
    words = ["convert", "--file", "shop.yaml", "--to", "v2", "--conversions", "other.yaml"]
    assert main(words) == 0
    assert yaml.safe_load(capsys.readouterr().out)["spec"] == {"right": 3}


def test_test_lists_each_check_with_its_summary_and_tests_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["test", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = [(name, text.strip()) for name, _, text in (line.partition(" ") for line in lines)]
    assert found == [(check.name, check.summary) for check in CHECKS.values()]


@pytest.mark.parametrize("words", [["plan", "--all"], ["webhooks"], ["doctor"]])
def test_watches_are_read_from_the_file_that_is_named(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--watches-file", "other/watches.yaml"]) != 0
    said = "".join(capsys.readouterr())
    assert "other/watches.yaml" in said


@pytest.mark.parametrize(
    ("words", "archives"),
    [
        (["own.tar"], [Path("own.tar")]),
        (["--trial"], [Path("trial.tar")]),
        (["own.tar", "--trial"], [Path("own.tar"), Path("trial.tar")]),
    ],
)
def test_trial_images_are_written_and_loaded_with_the_archives_that_are_named(
    words: list[str], archives: list[Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Path] = []
    real = SimpleNamespace(plan="nodes", name="x", kubeconfig=folder / "kubeconfig")
    monkeypatch.setattr(cluster_command, "_cluster", lambda _name: real)
    monkeypatch.setattr(localcluster, "write_trial_images", lambda _cache: [Path("trial.tar")])
    monkeypatch.setattr(localcluster, "names_in", lambda archive: [f"image of {archive}"])
    monkeypatch.setattr(localcluster, "load_images", lambda _cluster, found: loaded.extend(found))
    assert main(["cluster", "load-image", *words]) == 0
    assert loaded == archives
