"""What a plan answers, what it refuses, and what it does not do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from rolecall.clock import SystemClock
from rolecall.plan import Certainty, PlannedChange, Planner
from rolecall.runner.stock import StockRunner
from rolecall.settings import RunnerSettings
from tests.apiserver.plan.comparison import describe, only
from tests.apiserver.plan.harness import (
    CASE,
    CONFIG_MAP,
    PlanBench,
    config_map,
    k8s,
)

TYPED_CLIENT = Path(__file__).with_name("typed_client.py")


def shell(line: str, **more: Any) -> dict[str, Any]:
    return {"ansible.builtin.shell": line, **more}


@pytest.mark.nightly
async def test_kubectl_in_a_shell_is_planned_as_it_runs(bench: PlanBench) -> None:
    namespace = bench.namespace
    await bench.cluster_apply(config_map("old", namespace, a="1"))
    manifest = (
        f'{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "applied",'
        f' "namespace": "{namespace}"}}, "data": {{"a": "1"}}}}'
    )
    held = await bench.planned(
        [
            shell("kubectl apply -f -", args={"stdin": manifest}),
            shell(f"kubectl -n {namespace} create configmap made --from-literal=b=2"),
            shell(f"kubectl -n {namespace} delete configmap old"),
            shell(f"kubectl -n {namespace} label configmap made x=y"),
            shell(f"kubectl -n {namespace} get configmaps -o name", register="names"),
            shell(f"kubectl -n {namespace} get configmaps", register="table"),
            shell(f"kubectl -n {namespace} get configmap old", register="gone", ignore_errors=True),
            k8s(
                config_map(
                    "seen",
                    namespace,
                    names="{{ names.stdout_lines | join(' ') }}",
                    is_in_table="{{ ('made' in table.stdout) | string }}",
                    gone="{{ gone.stderr }}",
                )
            ),
        ]
    )
    seen = [each for each in held.plan.objects if each.name == "seen"]
    assert seen, describe(held.plan)
    assert (seen[0].after or {})["data"] == {
        "names": "configmap/applied configmap/kube-root-ca.crt configmap/made",
        "is_in_table": "True",
        "gone": 'Error from server (NotFound): configmaps "old" not found',
    }
    assert held.plan.is_sure, describe(held.plan)
    await held.check()


@pytest.mark.nightly
async def test_typed_client_may_replace_what_it_made_and_what_is_there(bench: PlanBench) -> None:
    """As helm keeps its releases: in protobuf, first pending, then done."""
    script = bench.programs / "helm"
    script.write_text(f"#!{sys.executable}\n{TYPED_CLIENT.read_text()}")
    script.chmod(0o755)
    await bench.client.create(CONFIG_MAP, config_map("old", bench.namespace, state="deployed"))
    where = f"helm status {bench.namespace}"

    held = await bench.planned(
        [
            shell(f"{where} POST new pending"),
            shell(f"{where} PUT new deployed"),
            shell(f"{where} PUT old superseded"),
            shell(f"{where} PUT absent deployed", register="absent", ignore_errors=True),
            k8s(config_map("seen", bench.namespace, absent="{{ absent.stdout }}")),
        ]
    )

    assert held.plan.is_sure, describe(held.plan)
    reported = {
        each.name: (each.change.value, (each.after or {})["data"]) for each in held.plan.objects
    }
    assert reported == {
        "new": ("create", {"state": "deployed"}),
        "old": ("change", {"state": "superseded"}),
        "seen": ("create", {"absent": "404"}),
    }
    await held.check()


async def test_task_that_acts_outside_of_the_api_is_not_run_and_is_unknown(
    bench: PlanBench,
) -> None:
    marker = bench.shop.folder / "acted"
    held = await bench.planned(
        [
            shell(f"touch {marker}-shell"),
            {"ansible.builtin.command": f"touch {marker}-command"},
            {"ansible.builtin.copy": {"content": "x", "dest": f"{marker}-copy"}},
            {"ansible.builtin.raw": f"touch {marker}-raw"},
            {"ansible.builtin.pause": {"seconds": 600}},
            shell(f"touch {marker}-job", **{"async": 60, "poll": 0}),
            k8s(config_map("made", bench.namespace)),
        ]
    )
    assert list(bench.shop.folder.glob("acted*")) == []
    reported = [(note.kind, note.at.place.rpartition("/")[2]) for note in held.plan.notes]
    assert [kind for kind, _ in reported] == ["unknown"] * 4 + ["wait", "unknown"]
    assert all(place.startswith("main.yml:") for _, place in reported)
    assert not held.plan.is_sure
    assert only(held.plan).certainty is Certainty.EXACT


@pytest.mark.nightly
async def test_object_that_follows_what_was_left_out_is_approximate(bench: PlanBench) -> None:
    held = await bench.planned(
        [
            shell("date", register="today"),
            k8s(config_map("made", bench.namespace, at="{{ today.stdout | default('') }}")),
        ]
    )
    planned = only(held.plan)
    assert planned.certainty is Certainty.APPROXIMATE
    assert "main.yml:1" in planned.why


@pytest.mark.nightly
async def test_role_that_waits_for_ever_is_planned_at_once(bench: PlanBench) -> None:
    never = {
        "kubernetes.core.k8s_info": {"kind": "ConfigMap", "name": "x", "namespace": "default"},
        "register": "found",
        "until": "found.resources | length > 0",
        "retries": 1000,
        "delay": 60,
    }
    waited = k8s(config_map("made", bench.namespace), wait=True, wait_timeout=600)
    rollout = shell(f"kubectl -n {bench.namespace} wait --for=condition=Ready pod/x")
    held = await bench.planned([never, waited, rollout])
    assert held.plan.seconds < 60
    assert [note.kind for note in held.plan.notes] == ["wait"] * 3, describe(held.plan)
    assert "found.resources | length > 0" in held.plan.notes[0].what
    assert only(held.plan).name == "made"


async def test_role_that_fails_is_unknown_from_there_on(bench: PlanBench) -> None:
    held = await bench.planned(
        [
            k8s(config_map("made", bench.namespace)),
            {"name": "Break", "ansible.builtin.fail": {"msg": "no more"}},
            k8s(config_map("never", bench.namespace)),
        ]
    )
    assert [each.name for each in held.plan.objects] == ["made"]
    assert "main.yml:" in held.plan.failure and "no more" in held.plan.failure
    assert not held.plan.is_sure


@pytest.mark.nightly
async def test_refused_request_makes_what_follows_unknown(bench: PlanBench) -> None:
    namespace = bench.namespace
    held = await bench.planned(
        [
            k8s(config_map("before", namespace)),
            shell(
                f"kubectl -n {namespace} get cm --field-selector='metadata.name!=x'",
                failed_when=False,
            ),
            k8s(config_map("after", namespace)),
        ]
    )
    certain = {each.name: each.certainty for each in held.plan.objects}
    assert certain == {"before": Certainty.EXACT, "after": Certainty.UNKNOWN}
    (note,) = [note for note in held.plan.notes if note.kind == "unknown"]
    assert "field selector" in note.what and note.at.place.endswith("main.yml:9")


async def test_secret_is_compared_and_never_shown(bench: PlanBench) -> None:
    namespace = bench.namespace
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": namespace},
        "stringData": {"password": "tomorrow-hunter3"},
    }
    await bench.cluster_apply({**secret, "stringData": {"password": "yesterday-hunter2"}})
    held = await bench.planned(
        [k8s(secret), k8s(config_map("copy", namespace, text="it is tomorrow-hunter3"))]
    )
    shown = str([each.differences for each in held.plan.objects])
    assert "hunter" not in shown and "dG9tb3Jyb3ct" not in shown
    assert [each.change for each in held.plan.objects] == [
        PlannedChange.CHANGE,
        PlannedChange.CREATE,
    ]
    await held.check()


@pytest.mark.nightly
async def test_events_and_status_of_the_cr_are_no_part_of_a_plan(bench: PlanBench) -> None:
    cr = await bench.cr()
    about = {"api_version": cr["apiVersion"], "kind": cr["kind"], "name": "one"}
    held = await bench.planned(
        [
            {
                "operator_sdk.util.k8s_status": {
                    **about,
                    "namespace": bench.namespace,
                    "status": {"phase": "planned"},
                }
            },
            {
                "operator_sdk.util.k8s_event": {
                    "state": "present",
                    "name": "reported",
                    "namespace": bench.namespace,
                    "message": "x",
                    "reason": "Y",
                    "type": "Normal",
                    "reportingComponent": "here",
                    "involvedObject": {
                        "apiVersion": cr["apiVersion"],
                        "kind": cr["kind"],
                        "name": "one",
                        "namespace": bench.namespace,
                    },
                }
            },
        ]
    )
    assert held.plan.objects == ()
    assert not held.plan.failure
    await held.check()


async def test_cr_that_is_not_there_yet_is_planned_as_it_would_be(bench: PlanBench) -> None:
    cr = await bench.cr("supposed", size=3)
    await bench.client.delete(CASE, bench.namespace, "supposed")
    read = {
        "kubernetes.core.k8s_info": {
            "api_version": cr["apiVersion"],
            "kind": cr["kind"],
            "name": "supposed",
            "namespace": bench.namespace,
        },
        "register": "me",
    }
    held = await bench.planned(
        [
            read,
            k8s(config_map("made", bench.namespace, n="{{ me.resources[0].spec.size | string }}")),
        ],
        cr=cr,
        is_supposed=True,
    )
    made = only(held.plan).after or {}
    assert made["data"] == {"n": "3"}
    assert made["metadata"]["ownerReferences"][0]["uid"] == cr["metadata"]["uid"]
    assert not await bench.exists(CONFIG_MAP, "made")


async def test_plan_of_a_stock_run_is_refused_in_one_line(bench: PlanBench, tmp_path: Path) -> None:
    stock = StockRunner(RunnerSettings(root=tmp_path / "stock"))
    bench.planner = Planner(stock, bench.proxy.issue_access_to_world, bench.client, SystemClock())
    held = await bench.planned([k8s(config_map("made", bench.namespace))])
    assert held.plan.failure.startswith("a plan needs a warm run")
    assert held.plan.objects == ()
