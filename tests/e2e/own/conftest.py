"""One engine with our roles for all tests of this folder: kinds must not mind each other."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Cluster
from tests.e2e.engine import ROOT, EngineProcess


@pytest.fixture(scope="package")
def shared_engine(cluster: Cluster) -> Iterator[EngineProcess]:
    """It watches every namespace."""
    # An engine of another test may have written where it was reached.
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(ROOT / "crds"))
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
    scratch = Path(tempfile.mkdtemp(prefix="o"))
    engine = EngineProcess(
        ROOT, scratch / "engine", kubeconfig=cluster.kubeconfig, environment={"WATCH_NAMESPACE": ""}
    )
    try:
        yield engine.wait_ready()
    finally:
        engine.clean_up()
        shutil.rmtree(scratch)


@pytest.fixture
def engine(shared_engine: EngineProcess) -> Iterator[EngineProcess]:
    """The engine; what it said meanwhile is shown when the test fails."""
    before = len(shared_engine.log)
    yield shared_engine
    print(f"--- the engine said\n{shared_engine.log[before:]}")
