"""What `rolecall test` found of our own roles and was mended: the same cases again, each alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Cluster
from rolecall_dev.proving import Wish, prove
from rolecall_dev.proving.model import Case, Replay
from rolecall_dev.staging import TrialCluster
from tests.e2e.engine import ROOT


def failing(sample: str, fault: str, method: str, path: str) -> Replay:
    """One request of the sample's run fails once."""
    kind, _, file = sample.partition(" ")
    params = {"method": method, "path": path, "occurrence": 1, "fault": fault}
    return Replay(f"config/samples/{file}", Case("errors", kind, fault, params))


# `state: present` takes a 409 of a create for success, and registers an empty result.
_FOUND = {
    "mapping_is_not_announced_whose_service_another_client_made_meanwhile": failing(
        "Mapping/mapping-sample mapping.yaml",
        "409",
        "POST",
        "/api/v1/namespaces/<namespace>/services",
    ),
    "machine_has_no_good_run_whose_pod_met_a_conflict": failing(
        "Machine/machine-sample machine.yaml", "409", "POST", "/api/v1/namespaces/<namespace>/pods"
    ),
    "podset_has_no_good_run_whose_pod_met_a_conflict": failing(
        "PodSet/podset-sample podset.yaml", "409", "POST", "/api/v1/namespaces/<namespace>/pods"
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("symptom", _FOUND)
async def test_finding_does_not_come_back(cluster: Cluster, tmp_path: Path, symptom: str) -> None:
    async with TrialCluster.on(cluster) as trial_cluster:
        file = _FOUND[symptom].write(tmp_path, 1)
        report = await prove(Wish(ROOT, replay=file), trial_cluster=trial_cluster)
    await asyncio.get_running_loop().shutdown_default_executor()
    assert not report.undecided, report.undecided
    assert not report.findings, report.findings
    assert report.passed == [_FOUND[symptom].case.name]
    assert not any("did not come" in note for note in report.notes), report.notes
