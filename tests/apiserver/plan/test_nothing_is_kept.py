"""The API server's own word: its audit log holds no write of a plan that was not a dry run."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from rolecall.json_object import Json
from rolecall_dev.localcluster import Cluster
from tests.apiserver.plan.harness import config_map, k8s, plan_bench
from tests.fixtures.eventually import eventually

_POLICY: Json = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [{"level": "Request"}],
}
_WRITES = ("create", "update", "patch", "delete", "deletecollection")


@pytest.mark.nightly
async def test_audit_log_of_a_plan_has_dry_runs_alone(own_cluster: Cluster, tmp_path: Path) -> None:
    log = audited(own_cluster, tmp_path)
    namespace = "audited"
    own_cluster.kubectl("create", "namespace", namespace)
    own_cluster.kubectl("-n", namespace, "create", "configmap", "old", "--from-literal=a=1")
    own_cluster.kubectl("-n", namespace, "create", "configmap", "swept", "--from-literal=a=1")
    scripted = f"kubectl -n {namespace}"
    tasks = [
        k8s(config_map("made", namespace, a="1")),
        k8s(config_map("made", namespace, b="2")),
        k8s(config_map("old", namespace), state="absent"),
        {"ansible.builtin.shell": f"{scripted} create configmap by-kubectl --from-literal=a=1"},
        {"ansible.builtin.shell": f"{scripted} delete configmap swept"},
        {"ansible.builtin.shell": f"{scripted} delete configmaps --all"},
        {"ansible.builtin.shell": f"{scripted} delete configmaps -l a=b"},
    ]
    async with plan_bench(own_cluster, namespace, tmp_path) as bench:
        cr = await bench.cr()
        mark(own_cluster, "begin")
        held = await bench.planned(tasks, cr=cr)
        mark(own_cluster, "end")
    assert not held.plan.failure, held.plan.failure
    assert len(held.plan.objects) >= 2
    written = between_marks(log)
    tried = [row for row in written if is_trial(row)]
    kept = [row for row in written if not is_trial(row)]
    assert not kept, json.dumps(kept[0])
    assert {row["verb"] for row in tried} >= {"create", "delete"}


def audited(cluster: Cluster, folder: Path) -> Path:
    """Have the API server write its audit log; returns the file."""
    policy, log = folder / "policy.json", folder / "audit.log"
    policy.write_text(json.dumps(_POLICY))
    cluster.apiserver.stop()
    cluster.apiserver.start(
        more={
            "audit-policy-file": str(policy),
            "audit-log-path": str(log),
            "audit-log-mode": "blocking",
        }
    )
    return log


def mark(cluster: Cluster, text: str) -> None:
    """A request that the log shows."""
    cluster.kubectl("get", "--raw", f"/version?mark={text}")


def between_marks(log: Path) -> list[Json]:
    """Writes of the administrator, whose login the plan has; components have their own."""

    def rows() -> list[Json]:
        return [json.loads(line) for line in log.read_text().splitlines()]

    found = eventually(rows, lambda rows: any("mark=end" in row["requestURI"] for row in rows))
    places = [number for number, row in enumerate(found) if "mark=" in row["requestURI"]]
    within = [row for row in found[places[0] + 1 : places[-1]] if "responseStatus" in row]
    own = found[places[0]]["user"]["username"]
    return [row for row in within if row["verb"] in _WRITES and row["user"]["username"] == own]


def is_trial(row: Json) -> bool:
    """Whether the API server took it for a dry run; a delete with a body says so there."""
    said = row.get("requestObject") or {}
    if row["verb"].startswith("delete"):
        return list(said.get("dryRun") or ()) == ["All"]
    return parse_qs(urlsplit(row["requestURI"]).query).get("dryRun") == ["All"]
