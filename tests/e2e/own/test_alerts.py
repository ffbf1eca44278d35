"""What Prometheus reads of a running engine about our kinds, and what alerts ask etcd for."""

from __future__ import annotations

import asyncio
import re
import ssl
import urllib.request

import pytest

from rolecall.kube import Client
from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import EngineProcess
from tests.e2e.own.cases import CASES
from tests.e2e.own.world import OPERATION, create, create_sample, make, wait, wait_reason
from tests.unit.bundle.alerts import ETCD, KINDS, OPERATOR, firing, rules

_METRIC = re.compile(r"\b(?:rolecall|leader_election|rest_client|etcd)_\w+(?=[{)\[ ])")
_KIND = re.compile(r'^rolecall_resource_condition\{.*kind="(\w+)".*type="Ready"', re.MULTILINE)


@pytest.mark.nightly
async def test_engine_exports_what_alerts_ask_for_and_calls_for_those_that_are_not_ready(
    api: Client, engine: EngineProcess, namespace: str
) -> None:
    await asyncio.gather(*(create_sample(api, case, namespace) for case in CASES))
    spec = {"machine": "machine-sample", "type": "Snapshot"}
    await create(api, [make(OPERATION, namespace, "snap", spec)])
    await wait_reason(api, OPERATION, namespace, "snap", "SnapshotsNotServed")

    asked = {name for path in (KINDS, OPERATOR) for rule in rules(path) for name in named(rule)}
    assert len(asked) >= 4
    called = {("ResourceNotReady", case.name) for case in CASES if case.reason}
    called.add(("MachineOperationFailed", "snap"))

    async def is_exported() -> bool:
        """Once its run has ended; the role reports before."""
        text = engine.ask("metrics", "/metrics")[1]
        assert asked <= set(re.findall(r"^(\w+)[{ ]", text, re.MULTILINE))
        assert set(_KIND.findall(text)) >= {case.gvk.kind for case in CASES} | {OPERATION.kind}
        assert firing(text, namespace=namespace) == called
        return True

    await wait(is_exported)


def named(rule: dict[str, str]) -> set[str]:
    """Metrics that a rule asks for; `absent()` is for one that may be missing."""
    return set() if "absent(" in rule["expr"] else set(_METRIC.findall(rule["expr"]))


@pytest.mark.nightly
def test_etcd_measures_what_alerts_of_an_etcdcluster_ask_for(cluster: Cluster) -> None:
    pki = cluster.layout.certificates
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.check_hostname = False
    context.load_cert_chain(pki / "etcd.crt", pki / "etcd.key")
    url = f"https://127.0.0.1:{cluster.record.ports.etcd}/metrics"
    with urllib.request.urlopen(url, context=context, timeout=30) as answer:
        measured = set(re.findall(r"^(\w+)[{ ]", answer.read().decode(), re.MULTILINE))
    asked = set(re.findall(r"\betcd_\w+(?=\{)", ETCD.read_text()))
    assert len(asked) >= 4
    assert asked - measured == set()
