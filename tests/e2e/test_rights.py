"""The project under a ServiceAccount that may do what its `config/rbac` grants, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, PROJECT
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually, eventually_async

MEMCACHED = Gvk("cache.example.com", "v1alpha1", "Memcached")


def rules(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(
        (PROJECT / "config" / "rbac" / f"{name}.yaml").read_text()
    )["rules"]
    return found


@pytest.mark.usefixtures("memcached")
async def test_engine_needs_no_more_rights_than_the_scaffold_grants(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    kubeconfig = service_account_kubeconfig(rules("leader_election_role"), rules("role"))
    engine = start_engine(
        PROJECT,
        "--leader-elect",
        "--leader-election-id=memcached-operator",
        f"--leader-election-namespace={namespace}",
        kubeconfig=kubeconfig,
    ).wait_ready()
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))
    await eventually_async(
        lambda: api.get(MEMCACHED, namespace, "x"), is_successful, timeout_s=PATIENCE_S
    )
    await api.delete(CONFIG_MAP, namespace, "x-settings")
    await eventually_async(
        lambda: api.get(CONFIG_MAP, namespace, "x-settings"),
        timeout_s=PATIENCE_S,
        ignoring=(Exception,),
    )
    assert " error " not in engine.log


@pytest.mark.usefixtures("memcached")
async def test_role_that_may_not_create_config_maps_reports_the_rule_to_add(
    api: Client,
    namespace: str,
    start_engine: StartEngine,
    service_account_kubeconfig: ServiceAccountKubeconfig,
) -> None:
    granted = [
        {**rule, "verbs": [verb for verb in rule["verbs"] if verb != "create"]}
        if "configmaps" in rule["resources"]
        else rule
        for rule in rules("role")
    ]
    engine = start_engine(PROJECT, kubeconfig=service_account_kubeconfig(granted)).wait_ready()
    await api.create(MEMCACHED, cr(MEMCACHED, namespace, size=1))

    def failure(found: Json) -> str:
        conditions = found.get("status", {}).get("conditions", [])
        return "".join(it["message"] for it in conditions if it["type"] == "Failure")

    reported = await eventually_async(
        lambda: api.get(MEMCACHED, namespace, "x"), failure, timeout_s=PATIENCE_S
    )
    advice = (
        f"the operator may not create configmaps in namespace `{namespace}`: add"
        ' `- {apiGroups: [""], resources: [configmaps], verbs: [get, create, patch]}` to a role in'
        " config/rbac, or let `rolecall rbac` write it"
    )
    assert advice in failure(reported)
    # The log's line comes after the status has been written.
    quoted = advice.replace('"', '\\"')
    eventually(lambda: quoted in engine.log or advice in engine.log, timeout_s=PATIENCE_S)
