"""`rolecall cluster`, as people use it: up, again, two at once, killed in between, down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rolecall_dev.localcluster import Binaries, Layout, processes, take_down
from tests.fixtures.eventually import eventually


class Shell:
    """Runs the command line with clusters in a folder of its own."""

    def __init__(self, state: Path) -> None:
        self.clusters = state / "clusters"
        self._environment = {**os.environ, "ROLECALL_STATE": str(state)}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """In the background."""
        return subprocess.Popen(
            [str(Path(sys.executable).parent / "rolecall"), "cluster", *arguments],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        """To the end; what it printed to both streams."""
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        return out + err

    def status(self, name: str = "default", code: int = 0) -> Any:
        """As programs read it."""
        return json.loads(self.run("status", "--name", name, "--json", code=code))


@pytest.fixture
def shell(binaries: Binaries, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path / "state")
    yield shell
    for name in ("default", "one", "two"):
        take_down(Layout.named(name, shell.clusters))


def test_kubectl_renders_files_though_no_cluster_is_up(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("namePrefix: a-\nresources: [one.yaml]\n")
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
    (tmp_path / "one.yaml").write_text(json.dumps(one))
    assert "name: a-one" in shell.run("kubectl", "kustomize", str(tmp_path))
    assert "cluster `default` was not found" in shell.run("kubectl", "get", "nodes", code=2)


@pytest.mark.nightly
def test_cluster_goes_up_once_and_down_without_a_trace(shell: Shell, tmp_path: Path) -> None:
    copy = tmp_path / "kubeconfig"
    printed = shell.run("up", "--nodes", "2", "--kubeconfig", str(copy))
    assert f"export KUBECONFIG={copy}" in printed
    before = shell.status()
    assert before["state"] == "ready"
    assert all(component["memory_bytes"] > 1e6 for component in before["components"])
    assert len(shell.run("kubectl", "get", "nodes", "-o", "name").split()) == 2

    shell.run("up", "--nodes", "1")
    after = shell.status()
    assert [one["pid"] for one in after["components"]] == [
        one["pid"] for one in before["components"]
    ]
    assert shell.run("kubectl", "get", "nodes", "-o", "name").split() == ["node/node-1"]

    assert "Starting" in shell.run("logs", "kube-scheduler")
    assert "is not one of" in shell.run("logs", "kubelet", code=2)

    folder = shell.clusters / "default"
    assert "is gone" in shell.run("down")
    assert processes.find(folder) == []
    assert not copy.exists()
    assert not shell.clusters.exists()
    assert "there was no cluster" in shell.run("down")


@pytest.mark.nightly
def test_two_clusters_run_side_by_side(shell: Shell) -> None:
    starting = [shell.start("up", "--name", name) for name in ("one", "two")]
    for process in starting:
        assert process.communicate(timeout=60) and process.returncode == 0
    shell.run("kubectl", "--name", "one", "create", "namespace", "only-here")
    assert "only-here" in shell.run(
        "kubectl", "--name", "one", "-n", "default", "get", "namespaces"
    )
    assert "only-here" not in shell.run("kubectl", "--name", "two", "get", "namespaces")
    shell.run("down", "--name", "one")
    assert shell.status("two")["state"] == "ready"
    assert [line.split()[0] for line in shell.run("list").splitlines()] == ["NAME", "two"]


@pytest.mark.nightly
def test_what_a_killed_up_left_is_recognised_and_cleaned(shell: Shell) -> None:
    folder = shell.clusters / "default"
    with shell.start("up") as process:
        eventually(lambda: {one.component for one in processes.find(folder)} >= {"etcd"})
        process.send_signal(signal.SIGKILL)
    orphans = {one.pid for one in processes.find(folder)}
    assert orphans
    assert shell.status(code=3)["state"] == "unfinished"
    assert "an interrupted `up` left" in shell.run("up")
    assert shell.status()["state"] == "ready"
    assert not orphans & {one.pid for one in processes.find(folder)}


def test_interrupted_up_leaves_nothing(shell: Shell) -> None:
    folder = shell.clusters / "default"
    with shell.start("up") as process:
        etcd = eventually(
            lambda: [one.pid for one in processes.find(folder) if one.component == "etcd"]
        )[0]
        # Without etcd no cluster gets ready: `up` is at it still when the signal comes.
        os.kill(etcd, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        os.kill(etcd, signal.SIGCONT)
        assert process.wait(timeout=60) == 130
    assert processes.find(folder) == []
    assert not folder.exists()


@pytest.mark.nightly
def test_up_starts_what_died_on_the_data_it_had(shell: Shell) -> None:
    shell.run("up")
    shell.run("kubectl", "create", "namespace", "keep-me")
    for running in processes.find(shell.clusters / "default"):
        os.kill(running.pid, signal.SIGKILL)
    eventually(lambda: not processes.find(shell.clusters / "default"))
    assert shell.status(code=3)["state"] == "stopped"
    assert "starting `etcd` again" in shell.run("up")
    assert "keep-me" in shell.run("kubectl", "get", "namespaces")


def test_kubeconfig_of_the_user_is_not_replaced(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("mine")
    printed = shell.run("up", "--kubeconfig", str(tmp_path / "config"), code=2)
    assert "was not written by" in printed
    assert not (shell.clusters / "default").exists()


@pytest.mark.parametrize("verb", ["status", "kubeconfig"])
def test_cluster_that_is_not_there_is_named(shell: Shell, verb: str) -> None:
    assert "cluster `default` was not found" in shell.run(verb, code=2)
