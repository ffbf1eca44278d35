"""The sequences of molecule from end to end: this repository's, and that of a project made just now.

`make test` runs two kinds on the cluster of the other tests; nightly ones bring a cluster of their own.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Binaries, Cluster
from tests.molecule.sequence import ROOT, MoleculeSequence

ROLECALL = str(Path(sys.executable).with_name("rolecall"))
# A role with a finalizer, a playbook with a role, and a playbook alone.
KINDS = {
    "Memcached": ["--finalizer"],
    "Redis": ["--generate-role", "--generate-playbook"],
    "Varnish": ["--generate-playbook"],
}


@pytest.fixture
def own(binaries: Binaries) -> Iterator[MoleculeSequence]:
    """That of this repository, begun."""
    assert binaries
    cluster = f"molecule-{secrets.token_hex(3)}"
    with ExitStack() as ending:
        own = MoleculeSequence(ROOT, ["molecule", "test", "-s", "local"], cluster=cluster)
        ending.callback(own.clean_up)
        yield own


@pytest.fixture
def of_two_kinds(cluster: Cluster) -> Iterator[MoleculeSequence]:
    """A role and a playbook by themselves, begun; `tests/e2e/own` has them under the operator."""
    steps = ("converge", "idempotence", "destroy")
    command = ["sh", "-c", " && ".join(f"molecule {step} -s default" for step in steps)]
    with ExitStack() as ending:
        two = MoleculeSequence(ROOT, command, kubeconfig=cluster.kubeconfig, kinds="mapping|podset")
        ending.callback(two.clean_up)
        yield two


@pytest.fixture
def made(binaries: Binaries, tmp_path: Path) -> Iterator[MoleculeSequence]:
    """That of a project with a kind of each flavour, begun."""
    assert binaries
    name = f"cache-{secrets.token_hex(3)}"
    project = made_project(tmp_path, name)
    with ExitStack() as ending:
        # `rolecall test` takes five minutes of its users, and one here, in which it reaches a part.
        command = ["make", "test", "BUDGET=1m", "REACHED=0"]
        made = MoleculeSequence(project, command, cluster=f"molecule-{name}")
        ending.callback(made.clean_up)
        yield made


def made_project(folder: Path, name: str) -> Path:
    """A project with a kind of each flavour, as its users get it."""
    commands = [["init", "--domain", "example.com", "--project-name", name]]
    for kind, flags in KINDS.items():
        names = ["--group", "cache", "--version", "v1alpha1", "--kind", kind]
        commands.append(["create", "api", *names, *flags])
    for command in commands:
        subprocess.run([ROLECALL, *command], cwd=folder, check=True, capture_output=True)
    # As its user changes it: the role makes an object of another name, and its tests stay as they are.
    template = folder / "roles" / "memcached" / "templates" / "message.yaml.j2"
    template.write_text(template.read_text().replace("}}-message", "}}-text"))
    return folder


@pytest.mark.nightly
def test_project_that_was_made_just_now_passes_its_own_checks_and_tests(
    made: MoleculeSequence,
) -> None:
    assert made.wait() == 0
    said = made.said
    assert "idempotence: Executed: Successful" in said
    for kind in KINDS:
        assert f"{kind} | require that all of it is back" in said


@pytest.mark.nightly
def test_every_role_here_converges_is_idempotent_and_keeps_its_world(own: MoleculeSequence) -> None:
    assert own.wait() == 0
    assert "idempotence: Executed: Successful" in own.said


def test_a_role_and_a_playbook_converge_and_are_idempotent(of_two_kinds: MoleculeSequence) -> None:
    assert of_two_kinds.wait() == 0
    assert "idempotence: Executed: Successful" in of_two_kinds.said
