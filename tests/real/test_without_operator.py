"""The roles as molecule runs them, where pods really run. Comes last: it removes the operator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall_dev.localcluster import default_cache, load_images, names_in, write_trial_images
from tests.molecule.sequence import ROOT, MoleculeSequence
from tests.real import images
from tests.real.operator import Operator

# What the samples and the side effects name. An image `bad` is meant not to be there.
_APPS = [
    f"registry.example.com/{name}:{tag}" for name in ("app", "machine") for tag in ("1.0", "2.0")
]


@pytest.fixture
def sequence(operator: Operator, tmp_path: Path) -> Iterator[MoleculeSequence]:
    app, *_, etcd = write_trial_images(default_cache())
    tag = names_in(etcd)[0].rpartition(":")[2]
    named = [
        images.renamed(app, _APPS, tmp_path / "app.tar"),
        images.renamed(etcd, [f"gcr.io/etcd-development/etcd:{tag}"], tmp_path / "etcd.tar"),
    ]
    load_images(operator.cluster, named)
    operator.make("undeploy")
    begun = MoleculeSequence(ROOT, ["molecule", "test"], kubeconfig=operator.cluster.kubeconfig)
    yield begun
    begun.clean_up()


def test_the_scenario_of_every_kind_passes_where_pods_really_run(
    sequence: MoleculeSequence,
) -> None:
    assert sequence.wait() == 0
    assert "idempotence] Executed: Successful" in sequence.said
