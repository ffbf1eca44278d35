"""The guides as a user pastes them: every command, in the guide's order, in an empty folder."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rolecall_dev.localcluster import Binaries
from tests.e2e.guide_commands import GUIDES, NO_GUIDES, Guide
from tests.e2e.guides import PATIENCE_S, PORTS, ROOT, Terminal, commands, stop
from tests.fixtures.eventually import eventually

# What a clone needs to be worked in.
_LEFT_OUT = ("tests", "docs", "bench", "dist", "build", "catalog")
_CONVERGE = "[{hosts: localhost, gather_facts: false, tasks: [{assert: {that: size == 1}}]}]"
_FINALIZER = '{"metadata":{"finalizers":["mycompany.com/last-backup"]}}'
_FAILING_TASK = """
- name: Look at the disk
  ansible.builtin.fail:
    msg: no such disk
"""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory, binaries: Binaries) -> Iterator[Path]:
    """State of clusters that these guides share; removed with them."""
    scratch = tmp_path_factory.mktemp("guides")
    yield scratch
    Terminal(scratch, scratch, binaries["kubectl"]).run("rolecall cluster down --all")


@pytest.fixture
def terminal(tmp_path: Path, scratch: Path, binaries: Binaries) -> Terminal:
    """In an empty folder."""
    return Terminal(tmp_path, scratch, binaries["kubectl"])


def clone(terminal: Terminal) -> None:
    """A folder like this one, set up."""
    for entry in ROOT.iterdir():
        if entry.name[0] == "." or entry.name in _LEFT_OUT:
            continue
        copy = shutil.copytree if entry.is_dir() else shutil.copy
        copy(entry, terminal.folder / entry.name)
    (terminal.folder / ".venv").mkdir()
    (terminal.folder / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    (terminal.folder / ".collections").symlink_to(ROOT / ".collections")
    # It was set up; doing so again would set up the folder in which the tests run.
    (terminal.folder / "tools" / "setup.sh").write_text("exit 0\n")


def use_cluster(terminal: Terminal) -> None:
    """That of the guides."""
    terminal.run("rolecall cluster up && export KUBECONFIG=$(rolecall cluster kubeconfig)")


def follow(terminal: Terminal, name: str) -> None:
    """Do what the guide says."""
    guide = GUIDES[name]
    with ExitStack() as engine:
        for command in commands(name):
            if command in guide.engines:
                engine.close()
                engine.callback(stop, terminal.start(command, PORTS))
            elif command in guide.follows:
                stop(terminal.start(command, text=guide.follows[command]))
            elif command in guide.records:
                engine.close()
                stop(terminal.start(command, guide.records[command]))
            elif command not in guide.not_run:
                run(terminal, guide, command)


def run(terminal: Terminal, guide: Guide, command: str) -> None:
    said = eventually(
        lambda: terminal.run(command, codes=guide.codes.get(command, (0,))),
        lambda said: re.search(guide.shows.get(command, ""), said),
        timeout_s=PATIENCE_S,
        ignoring=(AssertionError,) if command in guide.shows else (),
    )
    print(said)


def test_each_guide_is_followed_or_has_a_reason() -> None:
    guides = {file.stem for file in (ROOT / "docs" / "guides").glob("*.md")}
    assert guides == {*GUIDES, *NO_GUIDES}


@pytest.mark.parametrize("name", GUIDES)
def test_each_command_that_is_treated_apart_is_in_its_guide(name: str) -> None:
    assert GUIDES[name].named - set(commands(name)) == set()


@pytest.mark.nightly
def test_new_operator_leads_from_an_empty_folder_to_a_kind_that_is_ready(
    terminal: Terminal,
) -> None:
    follow(terminal, "new-operator")
    terminal.run("rolecall cluster down --name memcached-operator")


@pytest.mark.nightly
def test_local_cluster_comes_and_goes(terminal: Terminal) -> None:
    clone(terminal)
    follow(terminal, "local-cluster")
    terminal.run("rolecall cluster down --all")


@pytest.mark.nightly
def test_role_can_be_tried(terminal: Terminal) -> None:
    clone(terminal)
    (terminal.folder / "converge.yml").write_text(_CONVERGE)
    follow(terminal, "try-a-role")


@pytest.mark.nightly
def test_plan_is_made_and_nothing_is_written(terminal: Terminal) -> None:
    clone(terminal)
    use_cluster(terminal)
    terminal.run("make install")
    # What the guide to `run-role` made in this cluster, where that was followed before.
    sample = "demovolume/demovolume-sample persistentvolumeclaim/demovolume-sample"
    terminal.run(f"kubectl delete --ignore-not-found {sample}")
    follow(terminal, "preview-and-drift")
    left = terminal.run("kubectl get demovolumes,persistentvolumeclaims --all-namespaces -o name")
    assert "/demovolume-sample" not in left, left


@pytest.mark.nightly
def test_operator_at_work_can_be_looked_at(terminal: Terminal) -> None:
    use_cluster(terminal)
    terminal.run("rolecall init --domain example.com --project-name website")
    terminal.run("rolecall create api --group web --version v1 --kind Website")
    tasks = terminal.folder / "roles" / "website" / "tasks" / "main.yml"
    tasks.write_text(tasks.read_text() + _FAILING_TASK)
    # Applied, not created: a second try finds what the first one made.
    made = "kubectl create namespace shops --dry-run=client -o yaml | kubectl apply -f -"
    terminal.run(f"{made} && kubectl apply -k config/crd")
    terminal.run(
        "sed 's/website-sample/shop/' config/samples/web_v1_website.yaml"
        " | kubectl apply -n shops -f -"
    )
    follow(terminal, "operate")


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["migrate", "deploy"])
def test_commands_end_well_in_the_folder_of_an_operator(terminal: Terminal, name: str) -> None:
    clone(terminal)
    use_cluster(terminal)
    follow(terminal, name)


@pytest.mark.nightly
def test_bundle_and_catalog_are_made_and_an_operator_leaves(terminal: Terminal) -> None:
    clone(terminal)
    use_cluster(terminal)
    terminal.run("make install && kubectl create namespace shop")
    terminal.run(
        "sed 's/name: etcd-sample/name: db/' config/samples/etcdcluster.yaml"
        " | kubectl apply -n shop -f -"
    )
    terminal.run(f"kubectl patch etcdcluster db -n shop --type=merge -p '{_FINALIZER}'")
    follow(terminal, "olm")
