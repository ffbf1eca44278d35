"""The same words on an operator in a cluster: whose pod is asked, and what comes back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.kube import Channel
from tests.fixtures.command_line import rolecall_here
from tests.unit.remote_engine.fake_cluster import FakeCluster, fake_cluster, lease, pod

EXIT_3 = {
    "status": "Failure",
    "reason": "NonZeroExitCode",
    "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[FakeCluster]:
    with fake_cluster(tmp_path) as found:
        found.objects["pods"] = [pod("web-1"), pod("web-2")]
        found.objects["leases"] = [lease("web-2")]
        yield found


def environ(cluster: FakeCluster, **more: str) -> dict[str, str]:
    empty = cluster.kubeconfig.parent / "no-runs"
    own = {"KUBECONFIG": str(cluster.kubeconfig), "ROLECALL_ARTIFACTS_DIR": str(empty)}
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return kept | own | {"TERM": "xterm"} | more


def rolecall(cluster: FakeCluster, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return rolecall_here(words, environ(cluster, **more))


def test_pod_that_leads_runs_the_same_command(cluster: FakeCluster) -> None:
    cluster.says = [(Channel.STDOUT, b"NAMESPACE\n"), (Channel.STDERR, b"beware\n")]
    said = rolecall(cluster, "status", "website/shop", "-n", "default", NO_COLOR="1")
    (asked,) = cluster.commands
    assert asked[0] == "web-2"
    assert asked[1][0] == "env"
    assert {"NO_COLOR=1", "ROLECALL_RELAYED=no terminal"} <= set(asked[1])
    assert asked[1][-5:] == ["rolecall", "status", "website/shop", "-n", "default"]
    assert (said.stdout, said.returncode) == ("NAMESPACE\n", 0)
    first, second, third = said.stderr.splitlines()
    assert first.startswith("cluster: ")
    assert second.startswith("engine of pod ops/web-2 leads")
    assert third == "beware"


@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
def test_exit_code_is_that_of_the_pod(cluster: FakeCluster, protocol: str) -> None:
    cluster.protocols = (protocol,)
    cluster.ending = EXIT_3
    assert rolecall(cluster, "status").returncode == 3


def test_pods_folder_of_runs_is_passed_on_and_the_choice_of_operator_is_not(
    cluster: FakeCluster,
) -> None:
    cluster.objects["pods"] = [pod("web-2", args=["--artifacts-dir=/runs"])]
    rolecall(cluster, "runs", "website/shop", "--operator", "ops/web")
    words = cluster.commands[0][1]
    assert "ROLECALL_ARTIFACTS_DIR=/runs" in words
    assert words[-3:] == ["rolecall", "runs", "website/shop"]


def test_several_operators_are_named(cluster: FakeCluster) -> None:
    cluster.objects["pods"].append(pod("db-1", "other", "db"))
    said = rolecall(cluster, "status")
    assert said.returncode == 2
    assert "`ops/web`, `other/db`" in said.stderr
    assert "--operator" in said.stderr
    assert rolecall(cluster, "status", "--operator", "other/db").returncode == 0
    assert cluster.commands[0][0] == "db-1"


def test_blame_asks_the_operator_that_is_named(cluster: FakeCluster) -> None:
    cluster.objects["pods"].append(pod("db-1", "other", "db"))
    site = {"apiVersion": "example.com/v1", "kind": "Website", "spec": {"size": 1}}
    cluster.objects["websites"] = [{**site, "metadata": {"name": "shop", "namespace": "ops"}}]
    rolecall(cluster, "blame", "website", "shop", "--operator", "other/db")
    ((asked, words),) = cluster.commands
    assert asked == "db-1"
    assert "blame" in words
    assert "--operator" not in words
    question = json.loads(words[words.index("--writes-of") + 1])
    assert question["target"]["name"] == "shop"


def test_operator_without_the_label_is_found_by_its_deployment(cluster: FakeCluster) -> None:
    cluster.objects["pods"] = [pod("old-1", label="")]
    deployment = {
        "metadata": {"name": "old", "namespace": "ops", "uid": "uid-old"},
        "spec": {"selector": {"matchLabels": {"app": "old"}}},
    }
    cluster.objects["deployments"] = [deployment]
    assert rolecall(cluster, "status", "--operator", "ops/old").returncode == 0
    assert cluster.commands[0][0] == "old-1"
    said = rolecall(cluster, "status", "--operator", "ops/new")
    assert (said.returncode, "no operator `new`" in said.stderr) == (3, True)


def test_missing_right_is_reported_as_the_rule_to_add(cluster: FakeCluster) -> None:
    cluster.forbidden = {"exec"}
    said = rolecall(cluster, "status")
    assert said.returncode == 3
    assert "resources: [pods/exec], verbs: [create, get]" in said.stderr
    assert "Traceback" not in said.stderr


def test_without_leases_some_ready_pod_is_asked_and_that_is_said(cluster: FakeCluster) -> None:
    cluster.forbidden = {"leases"}
    said = rolecall(cluster, "status")
    assert cluster.commands[0][0] == "web-1"
    assert "may not list the Leases" in said.stderr


def test_pods_of_one_namespace_are_enough(cluster: FakeCluster) -> None:
    cluster.forbidden = {"/pods"}
    assert rolecall(cluster, "status").returncode == 0


def test_no_operator_in_the_cluster_leaves_what_runs_left_here(cluster: FakeCluster) -> None:
    cluster.objects["pods"] = []
    said = rolecall(cluster, "status")
    assert (said.returncode, said.stdout) == (0, "no CR\n")
    assert "no operator answers" in said.stderr


def test_interrupt_ends_the_command_in_the_pod(cluster: FakeCluster) -> None:
    cluster.says = [(Channel.STDOUT, b"first\n")]
    cluster.ending = None
    command = [sys.executable, "-m", "rolecall", "logs", "-f", "website/shop"]
    with subprocess.Popen(
        command, env=environ(cluster), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "first\n"
        process.send_signal(2)
        assert "Traceback" not in process.stderr.read()
        assert process.wait() == 130
    assert cluster.ended.wait(60)


def test_command_in_a_pod_ends_when_its_caller_goes() -> None:
    code = (
        "from rolecall.cli.terminal import end_with_caller as e; e(); import signal; signal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.poll() is None
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) in (-2, 1)


def test_pod_of_others_is_not_asked(cluster: FakeCluster) -> None:
    for each in cluster.objects["pods"]:
        each["metadata"]["ownerReferences"] = []
    said = rolecall(cluster, "status")
    assert (said.returncode, "is not verified" in said.stderr, cluster.commands) == (3, True, [])


def test_who_may_not_read_whose_a_pod_is_gets_a_warning(cluster: FakeCluster) -> None:
    cluster.forbidden = {"get deployments"}
    said = rolecall(cluster, "status")
    assert (said.returncode, "do not trust its output" in said.stderr) == (0, True)


@pytest.mark.parametrize("channel", [Channel.STDOUT, Channel.STDERR])
def test_bytes_of_a_pod_do_not_steer_the_terminal(cluster: FakeCluster, channel: Channel) -> None:
    red = b"\x1b[0;31mred\x1b[0m \xe2\x80\xa6\n"
    hostile = [
        b"\x1b]0;title\x07",
        b"\x1b[6n",
        b"\x9b6n",
        b"\x1b",
        b"[5m\x1b",
        b"P+q\x1b\\",
        b"a\rb",
    ]
    cluster.says = [(channel, each) for each in (red, *hostile, "\u202e\u009b".encode(), red)]
    said = rolecall(cluster, "status")
    text = said.stdout if channel is Channel.STDOUT else said.stderr
    assert text.count("\x1b[0;31mred\x1b[0m …\n") == 2
    rest = text.replace("\x1b[0;31m", "").replace("\x1b[0m", "").replace("\x1b[5m", "")
    assert all(each in "\n\t" or each.isprintable() for each in rest), rest
    assert "\\u001b]0;title\\u0007" in rest and "a\\u000db" in rest


def test_stop_passes_the_name_of_the_user_to_the_pod(cluster: FakeCluster) -> None:
    """In the pod, the user is the operator's."""
    said = rolecall(cluster, "stop", "website/shop", "--run=47", USER="jane")
    assert said.returncode == 0, said.stderr
    words = cluster.commands[0][1]
    assert words[-5:] == ["rolecall", "stop", "website/shop", "--run=47", "--by=jane"]
