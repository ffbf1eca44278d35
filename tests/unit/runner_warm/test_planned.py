"""What of a play that only plans runs, and what does not: unknown means acting."""

from __future__ import annotations

import pytest

from rolecall_warm.hooks.cluster_commands import CommandKind, judge_command
from rolecall_warm.hooks.planned import (
    Doing,
    decide_action,
    decide_module,
    elsewhere,
    waits,
    why_no_lookup,
    without_waiting,
)
from tests.unit.runner_warm.acting import (
    ACTING_ACTIONS,
    ACTING_LOOKUPS,
    ACTING_MODULES,
    HARMLESS_REDIRECTIONS,
    HELM_LEADS,
    LEADS,
    VARIABLES,
    acting_lines,
    acting_words,
)

HELM, K8S = "kubernetes.core.helm", "kubernetes.core.k8s"
COMMAND = "ansible.builtin.command"


def shell(line: str) -> CommandKind:
    return judge_command({"_raw_params": line, "_uses_shell": True}).kind


@pytest.mark.parametrize(
    "line",
    [
        "kubectl get pods",
        "kubectl -n shop --request-timeout=3s get cm config",
        "kubectl get -n shop cm/config -o jsonpath='{.data.a}' --ignore-not-found",
        "kubectl get pods -ojson -l=app=x -A",
        "/usr/bin/kubectl apply -f x.yml",
        "kubectl apply -f - --server-side --dry-run=client",
        "kubectl get ns a || kubectl create ns a",
        "kubectl create secret generic x --from-literal=a=b",
        "kubectl delete cm x --ignore-not-found; true",
        "kubectl delete cm x --wait=false",
        """kubectl patch cm x --type merge -p '{"data": {"a": "b > c; rm -rf /"}}'""",
        "kubectl apply \\\n  -f x.yml\n",
        "kubectl rollout restart deploy/x && echo done",
        "oc get route",
        "helm upgrade --install web ./chart -n shop --set a=b -f values.yaml",
        "helm -n shop uninstall web",
        "helm ls -A -o json",
    ],
)
def test_line_that_speaks_with_the_cluster_alone_runs(line: str) -> None:
    assert shell(line) is CommandKind.OF_CLUSTER


def test_line_that_may_do_anything_else_is_unknown_and_says_why() -> None:
    lines = list(acting_lines())
    judged = {line: judge_command({"_raw_params": line, "_uses_shell": True}) for line in lines}
    assert len(judged) > 700
    assert [line for line, one in judged.items() if one.kind is not CommandKind.OTHER] == []
    assert [line for line, one in judged.items() if not one.why] == []


def test_command_without_a_shell_is_judged_in_the_same_way() -> None:
    lines = list(acting_words())
    assert len(lines) > 300
    wrong = [
        line
        for line in lines
        if judge_command({"_raw_params": line}).kind is not CommandKind.OTHER
        or judge_command({"argv": line.split()}).kind is not CommandKind.OTHER
    ]
    assert wrong == []


def test_line_is_judged_as_without_redirections_that_act_on_nothing() -> None:
    lines = [
        "kubectl get ns a || kubectl create ns a",
        "kubectl delete cm 'a > b' --ignore-not-found; true",
        "kubectl -n a wait --for=condition=Ready pod/x",
        "helm upgrade --install web ./chart -n shop --set a=b",
        "kubectl exec x -- rm y",
        "rm x",
    ]
    assert shell(">/dev/null") is CommandKind.OTHER
    judged = 0
    for line in lines:
        words = line.split(" ")
        for redirection in (*HARMLESS_REDIRECTIONS, ">/dev/null 2>&1", "2>/dev/null </dev/null"):
            for at in range(len(words) + 1):
                if "'" in " ".join(words[:at]) and " ".join(words[:at]).count("'") % 2:
                    continue  # within quotes it is text
                redirected = " ".join([*words[:at], redirection, *words[at:]])
                assert shell(redirected) is shell(line), redirected
                judged += 1
            for end in (";true", "&&true", "||true", "\n"):
                assert shell(f"{line} {redirection}{end}") is shell(f"{line}{end}")
    assert judged > 300


def test_redirection_without_a_shell_is_a_word_of_the_program() -> None:
    assert judge_command({"argv": ["kubectl", "get", "--as", "2>/dev/null"]}).kind is not (
        CommandKind.OF_CLUSTER
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("kubectl apply -f x > /x", "a redirection"),
        ("kubectl get x 2>/dev/null | jq .", "a pipe"),
        ("kubectl apply -f - <<EOF\nkind: x\nEOF", "a here-document"),
        ("kubectl get pods | jq .", "a pipe"),
        ("kubectl $OPTS apply", "a `$`"),
        ("kubectl tree deploy x", "`kubectl tree`"),
        (
            "helm upgrade web ./chart --post-renderer x",
            "the option `--post-renderer` of `helm upgrade`",
        ),
        ("helm upgrade web ./chart --atomic", "it waits (`--atomic`)"),
        ("oc login x", "`oc login`"),
        (
            "kubectl apply -f x.yml && kubectl wait pod/x --for=delete",
            "it waits between other commands",
        ),
    ],
)
def test_reason_names_what_is_unknown(line: str, why: str) -> None:
    assert judge_command({"_raw_params": line, "_uses_shell": True}).why == why


@pytest.mark.parametrize(
    "line",
    [
        "kubectl -n a wait --for=condition=Ready pod/x",
        "kubectl rollout status deploy/x",
        "kubectl wait pod/x --for=delete || true",
    ],
)
def test_line_that_waits_does_not_wait(line: str) -> None:
    assert shell(line) is CommandKind.WAITING


def test_command_is_taken_apart_as_its_module_does() -> None:
    fine, other = CommandKind.OF_CLUSTER, CommandKind.OTHER
    assert judge_command({"argv": ["kubectl", "get", "a|b"]}).kind is fine
    assert judge_command({"_raw_params": "kubectl get pods"}).kind is fine
    assert judge_command({"cmd": "touch x"}).kind is other
    for option in ("creates", "removes", "executable"):
        assert judge_command({"cmd": "kubectl get x", option: "/y"}).kind is other


def test_module_of_the_api_runs_unless_it_is_led_elsewhere() -> None:
    for name in (K8S, HELM):
        assert decide_module(name, {"chart_ref": "./chart"}, {"FOO": "x"}).doing is Doing.RUN
        assert decide_module(name, dict.fromkeys(LEADS), {}).doing is Doing.RUN
        for argument in LEADS:
            decision = decide_module(name, {argument: "https://other"}, {})
            assert (decision.doing, decision.kind) == (Doing.SKIP, "unknown"), argument
            assert argument in decision.what
        for variable in VARIABLES:
            assert decide_module(name, {}, {variable: "x"}).doing is Doing.SKIP, variable
    assert decide_module(K8S, {"src": "https://other/x.yml"}, {}).doing is Doing.SKIP


@pytest.mark.parametrize("variable", [*VARIABLES, "FOO", "KUBECTL_EXTERNAL_DIFF", "HOME"])
def test_command_with_a_variable_of_its_own_is_unknown(variable: str) -> None:
    decision = decide_module(COMMAND, {"cmd": "kubectl get x"}, {variable: "/x"})
    assert (decision.doing, decision.kind) == (Doing.CHECK, "unknown")
    assert decide_module(COMMAND, {"cmd": "kubectl get x"}, {"LANG": "C"}).doing is Doing.RUN


@pytest.mark.parametrize(("argument", "value"), HELM_LEADS)
def test_helm_that_runs_a_program_or_downloads_is_unknown(argument: str, value: object) -> None:
    decision = decide_module(HELM, {"chart_ref": "./chart", argument: value}, {})
    assert (decision.doing, decision.kind) == (Doing.SKIP, "unknown")


@pytest.mark.parametrize("name", ACTING_MODULES)
def test_module_that_may_act_is_not_run_and_is_unknown(name: str) -> None:
    decision = decide_module(name, {}, {}, "shown")
    assert (decision.doing, decision.kind) == (Doing.SKIP, "unknown")
    assert (name or "shown") in decision.what


@pytest.mark.parametrize(
    "name", ["assemble", "blockinfile", "copy", "file", "lineinfile", "replace"]
)
def test_module_that_changes_files_says_in_check_mode_whether_it_would(name: str) -> None:
    decision = decide_module(f"ansible.builtin.{name}", {}, {})
    assert (decision.doing, decision.kind) == (Doing.CHECK, "unknown")


def test_reading_is_nothing_to_note_unless_it_runs_programs() -> None:
    decision = decide_module("ansible.builtin.stat", {}, {})
    assert (decision.doing, decision.kind) == (Doing.CHECK, "")
    assert decide_module("ansible.builtin.setup", {"fact_path": "/x"}, {}).doing is Doing.SKIP
    # Of a role's library, whatever it is called.
    assert decide_module("", {}, {}, "stat").doing is Doing.SKIP


@pytest.mark.parametrize(("action", "collection", "is_genuine"), ACTING_ACTIONS)
def test_action_that_may_act_is_not_run_and_is_unknown(
    action: str, collection: str, is_genuine: bool
) -> None:
    decision = decide_action(action, collection, is_genuine=is_genuine)
    assert (decision.doing, decision.kind) == (Doing.SKIP, "unknown")


def test_action_that_computes_or_leads_to_its_module_runs_and_nothing_waits() -> None:
    for action in ("set_fact", "include", "command", "normal", "gather_facts"):
        assert decide_action(action, "ansible.builtin", is_genuine=True).doing is Doing.RUN
    assert decide_action("k8s", "kubernetes.core", is_genuine=True).doing is Doing.RUN
    for action in ("copy", "template", "assemble"):
        assert decide_action(action, "ansible.builtin", is_genuine=True).doing is Doing.CHECK
    for action in ("pause", "wait_for_connection"):
        decision = decide_action(action, "ansible.builtin", is_genuine=True)
        assert (decision.doing, decision.kind) == (Doing.SKIP, "wait")


@pytest.mark.parametrize("connection", ["", "ssh", "kubernetes.core.kubectl", "docker"])
@pytest.mark.parametrize("host", ["", "localhost", "127.0.0.1", "::1", "operator", "other"])
@pytest.mark.parametrize("is_become", [False, True])
def test_nothing_runs_that_is_not_local_to_the_play(
    connection: str, host: str, is_become: bool
) -> None:
    away = elsewhere(connection=connection, host=host, play_host="operator", is_become=is_become)
    assert bool(away) is (bool(connection) or host == "other" or is_become)
    for action in ("command", "normal", "copy", "template", "k8s", "raw", "anything"):
        collection = "kubernetes.core" if action == "k8s" else "ansible.builtin"
        decision = decide_action(action, collection, is_genuine=True, elsewhere=away)
        if away:
            assert (decision.doing, decision.kind) == (Doing.SKIP, "unknown")
            assert away in decision.what
    computing = decide_action("set_fact", "ansible.builtin", is_genuine=True, elsewhere=away)
    assert computing.doing is Doing.RUN


@pytest.mark.parametrize("name", ACTING_LOOKUPS)
def test_lookup_that_may_act_is_not_run(name: str) -> None:
    assert why_no_lookup(name, {}, "shown")


def test_lookup_that_reads_runs_unless_it_asks_another_cluster() -> None:
    for name in ("dict", "env", "file", "first_found", "template", "vars"):
        assert why_no_lookup(f"ansible.builtin.{name}", {}) == ""
    assert why_no_lookup(K8S, {"kind": "Pod"}) == ""
    for argument in LEADS:
        assert argument in why_no_lookup(K8S, {argument: "x"})


def test_what_a_module_would_wait_for_is_noted_and_not_waited_for() -> None:
    condition = {"wait": True, "wait_condition": {"type": "Ready"}, "kind": "Pod", "name": "x"}
    assert waits(K8S, condition) == "Pod/x to have the condition Ready=True"
    assert waits(K8S, {"wait": "no"}) == ""
    assert waits(K8S, {}) == ""
    assert waits(HELM, {"name": "web", "atomic": True}) == "web to be ready"
    assert waits(HELM, {"name": "web", "atomic": False}) == ""
    assert waits("kubernetes.core.k8s_scale", {"name": "x", "kind": "Deployment"}) == (
        "Deployment/x to be ready"
    )
    assert without_waiting(K8S, condition)["wait"] is False
    assert without_waiting(HELM, {"atomic": True}) == {"wait": False, "atomic": False}
