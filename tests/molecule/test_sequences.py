"""The sequences of molecule from end to end: this repository's, and that of a project made just now.

Each brings a cluster of its own. Both run at the same time, since most of a sequence waits for one
Ansible after the other.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Binaries
from tests.molecule.sequence import ROOT, MoleculeSequence

ROLECALL = str(Path(sys.executable).with_name("rolecall"))
# A role with a finalizer, a playbook with a role, and a playbook alone.
KINDS = {
    "Memcached": ["--finalizer"],
    "Redis": ["--generate-role", "--generate-playbook"],
    "Varnish": ["--generate-playbook"],
}


@dataclass(frozen=True)
class Sequences:
    """Both, begun."""

    own: MoleculeSequence
    made: MoleculeSequence


@pytest.fixture(scope="module")
def sequences(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequences]:
    """Both begin with the first test."""
    assert binaries
    mark = secrets.token_hex(3)
    project = made_project(tmp_path_factory.mktemp("made"), f"cache-{mark}")
    with ExitStack() as ending:
        local = ["molecule", "test", "-s", "local"]
        own = MoleculeSequence(ROOT, local, cluster=f"molecule-{mark}")
        ending.callback(own.clean_up)
        # `rolecall test` takes two minutes of its users, and one here.
        command = ["make", "test", "BUDGET=1m"]
        made = MoleculeSequence(project, command, cluster=f"molecule-cache-{mark}")
        ending.callback(made.clean_up)
        yield Sequences(own, made)


def made_project(folder: Path, name: str) -> Path:
    """A project with a kind of each flavour, as its users get it."""
    commands = [["init", "--domain", "example.com", "--project-name", name]]
    for kind, flags in KINDS.items():
        names = ["--group", "cache", "--version", "v1alpha1", "--kind", kind]
        commands.append(["create", "api", *names, *flags])
    for command in commands:
        subprocess.run([ROLECALL, *command], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.nightly
def test_project_that_was_made_just_now_passes_its_own_checks_and_tests(
    sequences: Sequences,
) -> None:
    assert sequences.made.wait() == 0
    said = sequences.made.said
    assert "idempotence: Executed: Successful" in said
    for kind in KINDS:
        assert f"{kind} | and comes back with the message" in said


@pytest.mark.nightly
def test_every_role_here_converges_is_idempotent_and_keeps_its_world(sequences: Sequences) -> None:
    assert sequences.own.wait() == 0
    assert "idempotence: Executed: Successful" in sequences.own.said
