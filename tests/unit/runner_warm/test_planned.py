"""What of a play that only plans runs, and what does not: unknown means acting."""

from __future__ import annotations

import pytest

from rolecall.runner.warm.hooks.cluster_commands import CommandKind, kind_of_command
from rolecall.runner.warm.hooks.planned import Doing, decide_action, decide_module, waits


def shell(line: str) -> CommandKind:
    return kind_of_command({"_raw_params": line, "_uses_shell": True})


@pytest.mark.parametrize(
    "line",
    [
        "kubectl get pods",
        "kubectl -n shop --request-timeout=3s get cm config",
        "/usr/bin/kubectl apply -f x.yml",
        "kubectl get cm x -o json | jq .data",
        "kubectl get ns a || kubectl create ns a",
        "helm upgrade --install web ./chart",
        "kubectl delete cm x 2>/dev/null; true",
        'echo \'{"a": "b > c; rm -rf /"}\' | kubectl apply -f - >/dev/null 2>&1',
        "kubectl apply \\\n  -f x.yml",
    ],
)
def test_line_that_speaks_with_the_cluster_alone_runs(line: str) -> None:
    assert shell(line) is CommandKind.OF_CLUSTER


@pytest.mark.parametrize(
    "line",
    [
        "",
        "rm -rf /",
        "kubectl get pods && rm x",
        "kubectl get pods > /etc/passwd",
        "kubectl get pods & sleep 1",
        "kubectl get pods $(touch x)",
        'echo "$(touch x)" | kubectl apply -f -',
        "kubectl get pods `touch x`",
        "kubectl get pods\ntouch x",
        "KUBECONFIG=/x/config kubectl delete ns a",
        "kubectl --kubeconfig /x delete ns a",
        "kubectl --server=https://other delete ns a",
        "kubectl exec web -- rm x",
        "kubectl cp a b:/c",
        "kubectl -n shop exec web -- rm x",
        "kubectl --unknown shop exec web -- rm x",
        "kubectl -shttps://other get pods",
        "kubectl",
        "kubectl config set-context x",
        "helm pull x",
        "cat x | sh",
        "kubectl get 'unended",
        "(kubectl get pods)",
        "jq . file | tee other",
    ],
)
def test_line_that_may_do_anything_else_does_not_run(line: str) -> None:
    assert shell(line) is CommandKind.OTHER


@pytest.mark.parametrize(
    "line", ["kubectl -n a wait --for=condition=Ready pod/x", "kubectl rollout status deploy/x"]
)
def test_line_that_waits_does_not_wait(line: str) -> None:
    assert shell(line) is CommandKind.WAITING


def test_command_is_taken_apart_as_its_module_does() -> None:
    assert kind_of_command({"argv": ["kubectl", "get", "a|b"]}) is CommandKind.OF_CLUSTER
    assert kind_of_command({"_raw_params": "kubectl get pods"}) is CommandKind.OF_CLUSTER
    assert kind_of_command({"cmd": "touch x"}) is CommandKind.OTHER
    assert kind_of_command({"cmd": "kubectl get x", "creates": "/y"}) is CommandKind.OTHER


def test_module_of_the_api_runs_unless_it_is_led_elsewhere() -> None:
    name = "kubernetes.core.k8s"
    assert decide_module(name, {}, {}).doing is Doing.RUN
    assert decide_module(name, {"host": None}, {}).doing is Doing.RUN
    assert decide_module(name, {"host": "https://other"}, {}).doing is Doing.CHECK
    assert decide_module(name, {"kubeconfig": "/x"}, {}).doing is Doing.CHECK
    assert decide_module(name, {}, {"K8S_AUTH_HOST": "x"}).doing is Doing.CHECK
    assert decide_module(
        "ansible.builtin.command", {"cmd": "kubectl get x"}, {"KUBECONFIG": "/x"}
    ).doing is (Doing.CHECK)


@pytest.mark.parametrize(
    "name",
    [
        "kubernetes.core.k8s_exec",
        "kubernetes.core.k8s_cp",
        "kubernetes.core.k8s_drain",
        "k8s",  # of a role's library, whatever it is called
        "ansible.builtin.uri",
        "ansible.builtin.file",
        "community.general.anything",
    ],
)
def test_module_that_may_act_runs_in_check_mode_and_is_told(name: str) -> None:
    decision = decide_module(name, {}, {})
    assert (decision.doing, decision.kind) == (Doing.CHECK, "left out")


def test_reading_is_nothing_to_tell_of() -> None:
    decision = decide_module("ansible.builtin.stat", {}, {})
    assert (decision.doing, decision.kind) == (Doing.CHECK, "")


def test_program_that_is_no_module_of_ansible_is_not_run() -> None:
    assert decide_module("", {}, {}).doing is Doing.SKIP


def test_action_of_the_project_is_not_run_and_nothing_waits() -> None:
    own = decide_action("set_fact", "", is_genuine=False)
    assert (own.doing, own.kind) == (Doing.SKIP, "left out")
    assert decide_action("pause", "ansible.builtin", is_genuine=True).doing is Doing.SKIP
    assert decide_action("copy", "ansible.builtin", is_genuine=True).doing is Doing.CHECK
    assert decide_action("set_fact", "ansible.builtin", is_genuine=True).doing is Doing.RUN
    assert decide_action("k8s", "kubernetes.core", is_genuine=True).doing is Doing.RUN


def test_what_a_module_would_wait_for_is_told() -> None:
    condition = {"wait": True, "wait_condition": {"type": "Ready"}, "kind": "Pod", "name": "x"}
    assert waits("kubernetes.core.k8s", condition) == "Pod/x to have the condition Ready=True"
    assert waits("kubernetes.core.k8s", {"wait": "no"}) == ""
    assert waits("kubernetes.core.k8s", {}) == ""
    assert waits("kubernetes.core.k8s_scale", {"name": "x", "kind": "Deployment"}) == (
        "Deployment/x to be ready"
    )
