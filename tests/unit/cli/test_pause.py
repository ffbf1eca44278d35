"""What `rolecall pause` says before it reaches a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.fake_engine import FakeEngine


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_without_kubeconfig_the_cluster_of_the_engine_here_is_named(
    verb: str, engine: FakeEngine, tmp_path: Path
) -> None:
    said = engine.rolecall(verb, "website/shop", KUBECONFIG="", HOME=str(tmp_path))
    assert said.returncode == 3
    error, hint = said.stderr.splitlines()
    assert error.startswith("error: no cluster was found: KUBECONFIG is not set")
    assert hint == (
        "hint: set KUBECONFIG to the file of a cluster; engines run here:"
        f" `{engine.root}` on https://10.0.0.1:6443"
    )


def test_without_kubeconfig_and_engine_the_hint_is_the_general_one(
    ended_engine: FakeEngine, tmp_path: Path
) -> None:
    said = ended_engine.rolecall("pause", "website/shop", KUBECONFIG="", HOME=str(tmp_path))
    assert said.stderr.splitlines()[-1] == "hint: set KUBECONFIG to the file of a cluster"
