"""The project under a ServiceAccount that may do what its `config/rbac` grants, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from rolecall.gvk import Gvk
from rolecall.kube import Client
from tests.e2e.conftest import StartEngine
from tests.e2e.engine import PATIENCE_S, PROJECT
from tests.e2e.kinds import CONFIG_MAP, cr, is_successful
from tests.fixtures.cluster import ServiceAccountKubeconfig
from tests.fixtures.eventually import eventually_async

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
