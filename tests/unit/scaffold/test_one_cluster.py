"""All targets of a new project, and of this one, work on one and the same cluster."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

OURS = Path(__file__).parents[3]
TARGETS = ("install", "run", "deploy", "uninstall", "undeploy")


def planned(folder: Path, target: str, kubeconfig: str) -> str:
    """What `make` would do."""
    environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    if kubeconfig:
        environment["KUBECONFIG"] = kubeconfig
    command = ["make", "--dry-run", "--no-print-directory", target]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("target", TARGETS)
def test_targets_use_the_cluster_of_kubeconfig_where_it_is_set(project: Path, target: str) -> None:
    for folder in (project, OURS):
        plan = planned(folder, target, "/somewhere/config")
        assert "kubectl --current " in plan
        assert "kubectl --name" not in plan
        assert "cluster up" not in plan


@pytest.mark.parametrize("target", TARGETS)
def test_targets_use_the_local_cluster_where_it_is_not(project: Path, target: str) -> None:
    for folder in (project, OURS):
        plan = planned(folder, target, "")
        assert "kubectl --name" in plan
        assert "--current" not in plan
