"""`rolecall run-role --until`: roles of several CRs, until none has anything left to do."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rolecall.cli import main
from tests.play.plays import HERE

KINDS = {"Keeper": "puts_back", "Taker": "takes_once", "Restless": "restless", "Broken": "failing"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    entries = []
    for kind, role in KINDS.items():
        gvk = {"group": "demo.example.com", "version": "v1", "kind": kind}
        entries.append({**gvk, "role": f"{HERE}/roles/{role}"})
        cr = {
            "apiVersion": "demo.example.com/v1",
            "kind": kind,
            "metadata": {"name": kind.lower(), "namespace": "mine"},
            "spec": {"folder": str(tmp_path)},
        }
        (tmp_path / f"{kind.lower()}.yaml").write_text(yaml.safe_dump(cr))
    (tmp_path / "watches.yaml").write_text(yaml.safe_dump(entries))
    (tmp_path / "kubeconfig").write_text("{}")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setenv("ANSIBLE_GATHERING", "explicit")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_role(*kinds: str, until: str, within: int = 60) -> int:
    files = [word for kind in kinds for word in ("--cr", f"{kind}.yaml")]
    return main(["run-role", *files, f"--until={until}", f"--within={within}"])


@pytest.mark.nightly
def test_all_run_again_while_one_undoes_what_another_did(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_role("keeper", "taker", until="settled") == 0
    said = capfd.readouterr().err
    assert "nothing is left to do after 4 turns and 7 runs; runs with a change: 3" in said
    assert said.count("no owner reference") == 1
    assert (project / "thing").exists()

    assert run_role("keeper", "taker", until="settled") == 0
    assert "after 1 turn and 2 runs; runs with a change: 0" in capfd.readouterr().err


@pytest.mark.nightly
def test_a_role_that_asks_to_be_run_again_is_unchanged_but_never_settled(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_role("keeper", "restless", until="unchanged") == 0
    assert run_role("keeper", "restless", until="settled", within=0) == 124
    assert "not done within 0 s: Restless mine/restless" in capfd.readouterr().err


def test_a_run_that_fails_ends_it_all(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_role("broken", "keeper", until="unchanged") == 1
    assert "storage class `fast` does not exist" in capfd.readouterr().err
    assert not (project / "thing").exists()


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--until=settled", "--check"], "would wait for ever"),
        (["--cr", "taker.yaml", "--print-vars"], "is about one CR; name one"),
    ],
)
def test_what_makes_no_sense_is_refused(
    project: Path, capfd: pytest.CaptureFixture[str], flags: list[str], says: str
) -> None:
    assert main(["run-role", "--cr", "keeper.yaml", *flags]) == 2
    assert says in capfd.readouterr().err
