"""Every command that touches a cluster says which, before anything else that it says of it."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rolecall.cli import commands, parser_for
from rolecall.kube import Credentials
from rolecall_dev import localcluster
from rolecall_dev.cli import demo as demo_command
from rolecall_dev.cli import test as test_command
from rolecall_dev.proving import ProofReport
from rolecall_dev.staging import TrialCluster
from tests.unit.cli.every_command import (
    BY_OTHER_COMMANDS,
    FROM_A_KUBECONFIG,
    OF_THEIR_OWN,
    WITHOUT_CLUSTER,
)
from tests.unit.cli.fake_engine import FakeEngine

pytestmark = pytest.mark.slow

SERVER = "https://127.0.0.1:1"
LINE = f"context elsewhere, {SERVER}"
KUBECONFIG = f"""\
apiVersion: v1
kind: Config
current-context: elsewhere
clusters: [{{name: c, cluster: {{server: "{SERVER}"}}}}]
users: [{{name: u, user: {{token: t}}}}]
contexts: [{{name: elsewhere, context: {{cluster: c, user: u}}}}]
"""
# They begin, end or describe a local cluster, and name it in what they say.
NAMING_VERBS = {"build", "up", "down", "status", "list", "kubeconfig", "logs"}


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return path


def test_no_command_is_left_out() -> None:
    known = {words[0] for words in FROM_A_KUBECONFIG} | OF_THEIR_OWN | BY_OTHER_COMMANDS
    assert known | WITHOUT_CLUSTER == set(commands())
    (verbs,) = (
        action.choices
        for outer in _subparsers(parser_for(["cluster"]))
        for action in outer["cluster"]._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    assert set(verbs) == NAMING_VERBS | {"kubectl", "load-image"}


ONE_OF_EACH = list({words[0]: words for words in FROM_A_KUBECONFIG}.values())


@pytest.mark.nightly
@pytest.mark.parametrize("words", ONE_OF_EACH, ids=" ".join)
def test_first_line_is_the_cluster_of_the_kubeconfig(
    words: list[str], kubeconfig: Path, tmp_path: Path
) -> None:
    (tmp_path / "roles" / "website" / "tasks").mkdir(parents=True)
    (tmp_path / "roles" / "website" / "tasks" / "main.yml").write_text("[]\n")
    if words != ["run"]:  # which shall end by itself
        watch = "- {group: example.com, version: v1, kind: Website, role: website}\n"
        (tmp_path / "watches.yaml").write_text(watch)
    variables = {
        "KUBECONFIG": str(kubeconfig),
        "ROLECALL_ARTIFACTS_DIR": str(tmp_path / "none"),
        "HOME": os.environ["HOME"],
        "PATH": os.environ["PATH"],
    }
    said = subprocess.run(
        [sys.executable, "-m", "rolecall", *words],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert LINE in said.stderr.splitlines()[0]
    assert LINE not in said.stdout


@pytest.mark.parametrize("word", ["status", "runs", "logs", "reconcile"])
def test_first_line_is_the_cluster_of_the_engine_that_runs_here(
    word: str, engine: FakeEngine
) -> None:
    said = engine.rolecall(word, *([] if word == "status" else ["website/shop"]))
    assert "cluster https://10.0.0.1:6443" in said.stderr.splitlines()[0]


@pytest.mark.parametrize("verb", ["kubectl", "load-image"])
def test_local_cluster_is_named_to_people(
    verb: str, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stand_in(monkeypatch, kubeconfig)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    parsed = parser_for(["cluster"]).parse_args(["cluster", verb])
    assert parsed.run(parsed) == 0
    said = capsys.readouterr()
    assert said.err == f"cluster: {LINE}\n"
    assert LINE not in said.out


def test_programs_that_read_stderr_get_the_words_of_kubectl_alone(
    kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stand_in(monkeypatch, kubeconfig)
    parsed = parser_for(["cluster"]).parse_args(["cluster", "kubectl"])
    assert parsed.run(parsed) == 0
    assert capsys.readouterr().err == ""


def test_demo_names_its_cluster_before_it_writes_there(
    kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def install_crds() -> None:
        raise KeyboardInterrupt

    running = SimpleNamespace(kubeconfig=kubeconfig, install_crds=install_crds)
    monkeypatch.setattr(demo_command, "find_project", lambda _: SimpleNamespace(samples=()))
    monkeypatch.setattr(demo_command, "RunningDemo", lambda *_: nullcontext(running))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    parsed = parser_for(["demo"]).parse_args(["demo"])
    assert parsed.run(parsed) == 0
    assert capsys.readouterr().out.startswith(f"cluster: {LINE}\n")


def _stand_in(monkeypatch: pytest.MonkeyPatch, kubeconfig: Path) -> None:
    record = SimpleNamespace(programs={"kubectl": "true"})
    cluster = SimpleNamespace(name="default", kubeconfig=kubeconfig, record=record, plan=object())
    monkeypatch.setattr(localcluster, "find_cluster", lambda _: cluster)
    monkeypatch.setattr(localcluster, "find_binaries", lambda: SimpleNamespace(paths={}))
    monkeypatch.setattr(localcluster, "load_images", lambda *_: None)


def _subparsers(parser: argparse.ArgumentParser) -> list[Any]:
    return [each.choices for each in parser._actions if each.choices and each.dest != "help"]


def test_test_names_its_cluster_before_it_writes_there(
    kubeconfig: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    credentials = Credentials.load({"KUBECONFIG": str(kubeconfig)})

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        yield SimpleNamespace(client=SimpleNamespace(credentials=credentials))

    async def prove(*_: object, **__: object) -> ProofReport:
        assert LINE in capsys.readouterr().err
        return ProofReport()

    monkeypatch.setattr(TrialCluster, "opened", opened)
    monkeypatch.setattr(test_command, "planned", lambda _: None)
    monkeypatch.setattr(test_command, "prove", prove)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    parsed = parser_for(["test"]).parse_args(["test"])
    assert parsed.run(parsed) == 0
