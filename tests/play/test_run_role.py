"""`rolecall run-role` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from rolecall.cli import main
from tests.play.plays import HERE

WATCHES = f"""\
- version: v1
  group: demo.example.com
  kind: App
  role: {HERE}/roles/quick
  vars: {{from_watch: "{{{{ 1 + 1 }}}}"}}
  finalizer:
    name: demo.example.com/finalizer
    role: {HERE}/roles/failing
- version: v1
  group: demo.example.com
  kind: Broken
  role: {HERE}/roles/broken_module
- version: v1
  group: demo.example.com
  kind: Kept
  role: {HERE}/roles/puts_back
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "watches.yaml").write_text(WATCHES)
    for kind in ("App", "Broken", "Kept"):
        cr = {
            "apiVersion": "demo.example.com/v1",
            "kind": kind,
            "metadata": {"name": "shop"},
            "spec": {"sizeGb": 3, "folder": str(tmp_path)},
        }
        (tmp_path / f"{kind.lower()}.yaml").write_text(yaml.safe_dump(cr))
    context = {"name": "c", "context": {"namespace": "mine", "cluster": "c"}}
    nowhere = {"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}
    kubeconfig = {"current-context": "c", "contexts": [context], "clusters": [nowhere]}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setenv("ANSIBLE_GATHERING", "explicit")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_play_is_printed_as_it_comes_and_summed_up(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run-role", "--cr", "app.yaml", "--artifacts-dir", "kept"]
    assert main(arguments) == 0
    printed = capfd.readouterr()
    assert "TASK [quick : say where everything is]" in printed.out
    assert f"{project}/kubeconfig" in printed.out
    assert "no owner reference" in printed.err
    assert "App mine/shop: succeeded in" in printed.err
    assert "(ok=1 changed=0 skipped=0)" in printed.err
    assert list(project.glob("kept/demo.example.com/v1/App/mine/shop/artifacts/*/stdout"))


def test_a_failed_finalizer_names_the_task_and_exits_with_1(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run-role", "--cr", "app.yaml", "--finalizer", "--check"]) == 1
    said = capfd.readouterr().err
    assert "task `create claim | apply` failed: storage class `fast` does not exist" in said
    assert "owner reference" not in said  # a check makes no objects


def test_a_broken_play_exits_with_2(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run-role", "--cr", "broken.yaml"]) == 2
    assert "couldn't resolve module/action" in capfd.readouterr().err


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_the_vars_are_printed_and_nothing_runs(
    project: Path, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    (project / "kubeconfig").unlink()  # not needed for that
    assert main(["run-role", "--cr", "app.yaml", "-n", "demo", f"--print-vars={form}"]) == 0
    printed = capfd.readouterr().out
    found = json.loads(printed) if form == "json" else yaml.safe_load(printed)
    assert found["size_gb"] == 3
    assert found["ansible_operator_meta"] == {"namespace": "demo", "name": "shop"}
    assert found["from_watch"] == "{{ 1 + 1 }}"
    assert set(found["_demo_example_com_app"]["metadata"]) >= {"uid", "generation", "name"}


def test_a_finalizer_run_sees_a_cr_that_is_being_deleted(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run-role", "--cr", "app.yaml", "--finalizer", "--print-vars"]) == 0
    metadata = yaml.safe_load(capfd.readouterr().out)["_demo_example_com_app"]["metadata"]
    assert metadata["finalizers"] == ["demo.example.com/finalizer"]
    assert metadata["deletionTimestamp"]


def test_without_a_kubeconfig_the_way_out_is_reported(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "kubeconfig").unlink()
    assert main(["run-role", "--cr", "app.yaml"]) == 2
    assert "hint: `rolecall cluster up`" in capfd.readouterr().err


def test_missing_finalizer_is_reported(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run-role", "--cr", "broken.yaml", "--finalizer"]) == 2
    assert "Broken has no finalizer" in capfd.readouterr().err


def test_speed_is_explained_task_by_task(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run-role", "--cr", "app.yaml", "--explain-speed"]) == 0
    printed = capfd.readouterr().out
    (row,) = (line for line in printed.splitlines() if "quick/tasks/main.yml" in line)
    milliseconds, way, task, *_ = (cell.strip() for cell in row.strip("│").split("│"))
    assert float(milliseconds) > 0
    assert (way, task) == ("inline", "quick : say where everything is")
    assert "inline: in the run's own process" in printed


@pytest.mark.nightly
@pytest.mark.parametrize("flags", [[], ["--diff"]])
def test_changed_lines_are_printed_with_diff_only(
    project: Path, capfd: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    assert main(["run-role", "--cr", "kept.yaml", "--check", *flags]) == 0
    assert ("+thing" in capfd.readouterr().out) == bool(flags)
    assert not (project / "thing").exists()
