"""What a play finds around it: inventory, interpreter, collection, command line, vault."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rolecall.clock import SystemClock
from rolecall.runner import Ending
from rolecall.runner.follow import RunStop, follow
from rolecall.runner.limits import TimeLimits
from rolecall.runner.stock.process import SupervisedProcess
from rolecall.watches import Play
from rolecall_base.variables import SCRATCH_VARIABLE
from tests.play.plays import HERE, Workspace, play

CLOCK = SystemClock()
PLAYBOOK = """\
- hosts: all
  gather_facts: false
  tasks:
    - name: interpreter
      ansible.builtin.debug:
        msg: "{{ inventory_hostname }} {{ ansible_python_interpreter }}"
    - name: a module
      ansible.builtin.command: echo ran
      when: inventory_hostname == 'here'
"""
INVENTORY = """\
localhost
here ansible_connection=local
own ansible_connection=local ansible_python_interpreter=/own/python
far ansible_host=192.0.2.1
[grouped]
by_group ansible_connection=local
[grouped:vars]
ansible_python_interpreter=/group/python
"""


def test_a_role_finds_kubeconfig_python_and_folder(workspace: Workspace) -> None:
    played = play(workspace, "quick")
    (message,) = played.messages("say where everything is")
    folder = workspace.root / "demo.example.com/v1/App/demo/shop"
    assert message == f"{sys.executable} {workspace.folder}/kubeconfig {folder}/project"


def test_local_hosts_of_a_custom_inventory_get_the_engines_python(workspace: Workspace) -> None:
    (workspace.folder / "hosts").write_text(INVENTORY)
    (workspace.folder / "play.yml").write_text(PLAYBOOK)
    (workspace.folder / "ansible.cfg").write_text(
        "[defaults]\ninterpreter_python=/configured/python\n"
    )
    workspace.settings["environment"] = {"ANSIBLE_CONFIG": str(workspace.folder / "ansible.cfg")}
    workspace.settings["inventory"] = workspace.folder / "hosts"
    played = play(workspace, Play(workspace.folder / "play.yml", is_role=False), verbosity=0)
    assert played.result.succeeded, played.stdout
    found = dict(message.split(" ") for message in played.messages("interpreter"))
    engines = str(Path(sys.executable).parent)
    assert found.pop("far") == "/configured/python"
    assert found.pop("own") == "/own/python"
    assert found.pop("by_group") == "/group/python"
    assert {name: str(Path(python).parent) for name, python in found.items()} == {
        "localhost": engines,
        "here": engines,
    }


def test_a_role_with_a_full_name_finds_its_collections_modules(workspace: Workspace) -> None:
    path = HERE / "collections/ansible_collections/acme/tools/roles/web"
    played = play(workspace, Play(path, is_role=True, fqcn="acme.tools.web"))
    assert played.messages("show") == ["hello from the collection"], played.stdout


def test_a_vault_password_and_tags_arrive_by_ansible_args(workspace: Workspace) -> None:
    (workspace.folder / "vault password").write_text("open sesame")
    workspace.settings["ansible_args"] = (
        f"--vault-password-file '{workspace.folder}/vault password' --tags wanted"
    )
    played = play(workspace, Play(HERE / "playbooks" / "vaulted.yml", is_role=False))
    assert played.messages("tagged") == ["opened"], played.stdout
    assert played.result.succeeded


def test_unknown_arguments_of_ansible_are_reported(workspace: Workspace) -> None:
    workspace.settings["ansible_args"] = "--nosuch"
    result = play(workspace, "quick").result
    assert result.ending is Ending.NO_RECAP
    assert result.reason_text == "unrecognized arguments: --nosuch"


@contextlib.contextmanager
def most_descriptors() -> Iterator[None]:
    """As many descriptors as this machine lets a process have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = int(Path("/proc/sys/fs/nr_open").read_text())
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_starting_does_not_close_descriptors_one_by_one(tmp_path: Path) -> None:
    # CPU time, so that a busy machine cannot be mistaken for a busy start.
    def cpu_s() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        env = {SCRATCH_VARIABLE: str(tmp_path / "scratch")}
        with (
            contextlib.closing(RunStop()) as stop,
            SupervisedProcess(["/bin/true"], env, tmp_path, CLOCK) as process,
        ):
            ended = follow(process, TimeLimits(), stop, lambda _: None, CLOCK)
        assert ended.rc == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    usual_s = min(cpu_s() for _ in range(5))
    with most_descriptors():
        assert min(cpu_s() for _ in range(5)) < usual_s + 0.1


def test_the_folder_of_a_cr_is_reused_and_holds_what_people_look_for(workspace: Workspace) -> None:
    workspace.settings["ansible_args"] = "--version"
    for _ in range(2):
        artifacts = play(workspace, "quick", keep=1).result.artifacts
        assert artifacts is not None
        folder = artifacts.parents[1]
        assert sorted(path.name for path in folder.iterdir()) == [
            "artifacts",
            "env",
            "inventory",
            "project",
        ]
        assert sorted(path.name for path in artifacts.parent.iterdir()) == [
            artifacts.name,
            "latest",
        ]


@pytest.mark.parametrize("way", ["stock", None])
def test_a_watch_may_ask_for_the_stock_way(workspace: Workspace, way: str | None) -> None:
    workspace.settings["ansible_args"] = "--version"
    assert play(workspace, "quick", runner=way).result.way == "stock"
